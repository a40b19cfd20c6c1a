#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kills jetwatt schedule KILLS times (default 1000) with SIGKILL, at random times and under load.
# Training must continue each time. Half of the kills are with the cgroup freezer, half without. Each
# guest makes EACH kills (default 50). GUESTS guests run at a time (default 1). SEED= selects other
# times. Then a program that only freezes jobs (tests/cmd/hold.c) is killed KILLS times with the
# freezer, and KILLS times without. For each guest of the first part that succeeds, prints this line
# and writes it to build/bench/schedule_kills:
#   HOW SEED KILLS KILLS-WHILE-FROZEN JOBS-THAT-DID-NOT-CONTINUE
cd "$(dirname "$0")/../.." || exit 1
out=build/bench/schedule_kills each=${EACH:-50} seed=${SEED:-1} left=${KILLS:-1000} bad=0
rm -rf $out $out.d
mkdir -p build/bench $out.d

# boot HOW SEED N
boot()
{
	tests/qemu/guest --icount --timeout 7200 --module governor_simpleondemand --module jetwatt-sim \
		--module ina3221 --module jetwatt --file tests/bench/schedule_guest.sh:/schedule \
		--out "$out.d/$2" -- /bin/sh /schedule kills "$3" "$1" "$2" > "$out.d/$2.log" 2>&1 &&
		echo "$1 $2 $(cat "$out.d/$2/kills")" | tee -a $out
}

while [ "$left" -gt 0 ]; do
	for ((i = 0; i < ${GUESTS:-1} && left > 0; i++, seed++, left -= each)); do
		boot "$([ $((seed % 2)) = 0 ] && echo freezer || echo signals)" $seed $((left < each ? left : each)) &
	done
	while [ -n "$(jobs -r)" ]; do wait -n || bad=1; done
done
awk '{ n += $3; held += $4; bad += $5 } END { print n + 0 " kills, " held + 0 " of them while training was frozen; training did not continue after " bad + 0 }' $out
tests/qemu/guest --icount --smp 2 --timeout 36000 --file build/arm64/tests/cmd/hold:/hold \
	-- /bin/sh -c "JETWATT_KILLS=${KILLS:-1000} exec /hold" && exit $bad
