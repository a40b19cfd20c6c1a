#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kills jetwattd, its guardian process or both ROUNDS times, and cuts the power CUTS times, at
# random times while jetwattd learns and holds a job on the simulated board, on which knobs refuse
# values and heat lowers a clock at random. Each time it checks that the database can be opened, no
# row of it is lost, and a mode that was held draws at most 2 % more than the budget. After a kill
# it also checks that the job continues and the knobs have their previous values (if both were
# killed, after jetwatt restore). Writes build/bench/kills.json. Exit status 1: a check failed.
# SEED= selects other times.
#
# A power cut is a reset of the guest, with jetwattd's state on a disk: data that the guest's kernel
# has not written yet is lost. The kernel modules for the disk with jetwattd's state are taken from
# the Debian package of the guest's kernel.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
rounds=${ROUNDS:-470} cuts=${CUTS:-30} seed=${SEED:-1}
out=build/bench/kills.out
rm -rf $out
mkdir -p $out

modules()
{
	local release deb
	release=$(cat build/kit/release)
	[ ! -e build/bench/modules/$release ] || return 0
	rm -rf build/bench/modules
	mkdir -p build/bench/modules/apt
	apt_lists "$PWD/build/bench/modules/apt" arm64
	(cd build/bench/modules && apt_in "$PWD/apt" arm64 apt-get download "linux-image-$release" >/dev/null)
	for deb in build/bench/modules/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar x -C build/bench/modules --wildcards --transform='s|.*/||' \
			'*/virtio_blk.ko*' '*/crc16.ko*' '*/crc32c_generic.ko*' '*/mbcache.ko*' '*/jbd2.ko*' '*/ext4.ko*'
	done
	rm -rf build/bench/modules/apt build/bench/modules/*.deb
	touch "build/bench/modules/$release"
}

guest()
{
	tests/qemu/guest --smp 4 --timeout 7200 "$@"
}

board=(--module governor_simpleondemand --module jetwatt-sim --module ina3221 --module jetwatt
       --file tests/cmd/common.inc:/common.inc --file tests/bench/kills_guest.sh:/guest.sh)
status=0
guest "${board[@]}" -- /bin/sh /guest.sh kill "$rounds" "$seed" | tee $out/kills || status=$?
[ $status = 0 ] || { echo "bench-kills: the guest ended with status $status" >&2; exit 1; }

if [ "$cuts" -gt 0 ]; then
	modules
	truncate -s 64M $out/disk
	mkfs.ext4 -q -F $out/disk
fi
for i in $(seq "$cuts") last; do
	[ "$cuts" -gt 0 ] || break
	guest "${board[@]}" --file build/bench/modules:/modules --disk $out/disk -- \
		/bin/sh /guest.sh cut $((seed * 1000 + ${i/last/0})) 2> $out/err | tee -a $out/cuts || true
done

awk -v rounds="$rounds" -v cuts="$cuts" '
	/^round/ {
		n++; who[$2]++; doing[$3]++
		back += $6 == "before"; mode += $6 == "mode"; left += $6 == "left"
		refused += $9 != "-"; met += $9 ~ /:kill/; hot += $10 != "-"; safe += $11 == "safe"
		unsafe += $11 == "unsafe"; stuck += $7 != "on"; shut += $8 != "opens"; lost += $5 < $4
		if ($6 != "before" && $2 != "both") alone++
	}
	/^opened/ { boots++; if ($2 == "not") shut++; else if (boots > 1 && $2 < rows) lost++ }
	/^cut/ {
		c++; rows = $3
		refused += $4 != "-"; met += $4 ~ /:kill/; hot += $5 != "-"; safe += $6 == "safe"
		unsafe += $6 == "unsafe"
	}
	END {
		printf "{\n \"kills\": %d, \"daemon\": %d, \"guardian\": %d, \"both\": %d, \"learning\": %d, \"holding\": %d, \"starting\": %d,\n", n, who["daemon"], who["guardian"], who["both"], doing["learning"], doing["holding"], doing["starting"]
		printf " \"as_before\": %d, \"taken_back_by_the_next\": %d, \"left\": %d, \"job_stuck\": %d,\n", back, mode, left, stuck
		printf " \"refusing_knob\": %d, \"refuses_the_guardian\": %d, \"hot\": %d, \"held_within_budget\": %d, \"held_above_budget\": %d,\n", refused, met, hot, safe, unsafe
		printf " \"cuts\": %d, \"database_shut\": %d, \"rows_lost\": %d\n}\n", c, shut, lost
		exit !(n == rounds && c >= cuts && !left && !alone && !stuck && !shut && !lost && !unsafe)
	}' $out/kills $([ ! -e $out/cuts ] || echo $out/cuts) > build/bench/kills.json || status=1
cat build/bench/kills.json
exit $status
