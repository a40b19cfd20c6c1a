#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records the traces for characterise.py on the simulated board, into /out. Each job is recorded
# after it has reached a steady state.
#
#   characterise_guest.sh [base|clocks|loader|storage|container]...   default: all parts
out=/out
sim=/sys/module/jetwatt_sim/parameters
maxn=c12-2201600-g1300500000-e3199000000

# record NAME SECONDS COMMAND...: start the job and record it for SECONDS in the middle of its run
record()
{
	name=$1 seconds=$2
	shift 2
	"$@" > /dev/null &
	started=$!
	sleep 2.5
	job=$(pidof train)
	if [ $usage = yes ]; then
		jetwatt stat -q --json -o $out/$name.usage.json -p "$job" --for "$seconds" &
		stat=$!
	fi
	jetwatt record -q -o $out/$name.jwt -p "$job" --for "$seconds" || exit 1
	[ $usage = no ] || wait $stat || exit 1
	kill "$job"
	wait $started
}

# disk MBPS: mount a data set of 200 MB on storage of this speed, with an empty page cache
disk()
{
	umount /mnt 2> /dev/null && wait "$server"
	/bin/storage /mnt 200 "$1" &
	server=$!
	while [ ! -e /mnt/data ]; do kill -0 $server || exit 1; sleep 0.1; done
}

base()
{
	sleep 3
	jetwatt stat -q --json -o $out/idle.json -- sleep 4 || exit 1
}

clocks()
{
	for w in resnet tiny; do
		echo $w > $sim/workload
		record $w 4 train
		for m in cores:c4-2201600-g1300500000-e3199000000 cpu:c12-1113600-g1300500000-e3199000000 \
			 gpu:c12-2201600-g624750000-e3199000000 emc:c12-2201600-g1300500000-e2133000000; do
			jetwatt apply -q "${m#*:}" || exit 1
			record $w-${m%%:*} 4 train
		done
		jetwatt apply -q $maxn || exit 1
	done
	echo resnet > $sim/workload
}

loader()
{
	echo 0 > $sim/workers
	record workers-0 4 train
	echo 4 > $sim/workers
}

# One worker reads the data: with four workers on a slow disk, four minibatches become ready at the
# same time, and look like one minibatch with four waits.
storage()
{
	usage=yes
	for mbps in 12 400; do
		disk $mbps
		record cold-$mbps 4 train --data /mnt/data --workers 1
		cat /mnt/data > /dev/null
		record warm-$mbps 4 train --data /mnt/data --workers 1
	done
	usage=no
}

container()
{
	mount -t cgroup2 cgroup2 /cg
	mkdir /cg/box
	record bare 8 train
	record again 8 train
	# shellcheck disable=SC2016
	record container 8 sh -c 'echo $$ > /cg/box/cgroup.procs
		exec unshare -m sh -c "mount -t tmpfs none /mnt && exec train"'
}

usage=no
mkdir -p /mnt /cg
jetwatt apply -q $maxn || exit 1
for part in ${*:-base clocks loader storage container}; do
	echo "$part"
	$part
done
