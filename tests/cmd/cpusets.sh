#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=300 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test that cpusets of cgroup version 1 (JetPack 5) get back the CPUs that the kernel takes from them
# in modes with fewer cores.
. "${0%/*}/common.inc"
plan 8

knobs > "$T/before"
cores=-1574400-g318750000-e2133000000
record=/var/lib/jetwatt/cpusets
odd="a/c	\\ d"
mount=$T/cpuset
mkdir "$mount"
mount -t cgroup -o cpuset none "$mount"
mkdir "$mount/a" "$mount/a/b" "$mount/$odd" "$mount/own"
for i in a a/b "$odd" own; do
	echo 0 > "$mount/$i/cpuset.mems"
	echo 0-11 > "$mount/$i/cpuset.cpus"
done
echo 0-1 > "$mount/own/cpuset.cpus"
sleep 1000 &
echo $! > "$mount/a/b/cgroup.procs"

# lists LIST: have the cpusets of the containers these CPUs, and the process in one of them?
lists()
{
	for i in a a/b "$odd"; do
		[ "$(cat "$mount/$i/cpuset.cpus")" = "$1" ] && continue
		echo "# $i: $(cat "$mount/$i/cpuset.cpus"), not $1"
		return 1
	done
	[ "$(cat "$mount/own/cpuset.cpus")" = 0-1 ] &&
		grep -q "^Cpus_allowed_list:	$1$" /proc/$!/status
}

lists 0-11
result $? "the cpusets have all CPUs"

run jetwatt apply "c6$cores"
exits 0 && lists 0-5 && [ -e $record ]
result $? "apply: the kernel takes the CPUs away, and the lists are recorded"

run jetwatt apply "c8$cores"
exits 0 && lists 0-7
result $? "apply: a mode with more cores gives CPUs back"

run jetwatt restore
exits 0 && as_before "$T/before" && lists 0-11 && [ ! -e $record ]
result $? "restore gives all CPUs back"

# jetwatt notices this fault after the switch, when it reads the knobs back.
echo 1 > $FAULT/lie_emc
run jetwatt apply "c6$cores"
echo 0 > $FAULT/lie_emc
exits 1 && as_before "$T/before" && lists 0-11 && [ ! -e $record ]
result $? "a rolled back apply gives all CPUs back"

run jetwatt apply "c6$cores"
echo 0-2 > "$mount/$odd/cpuset.cpus"
run jetwatt restore
exits 0 && as_before "$T/before" && [ "$(cat "$mount/$odd/cpuset.cpus")" = 0-2 ] && [ ! -e $record ]
result $? "restore leaves a list alone that has been changed"
echo 0-11 > "$mount/$odd/cpuset.cpus"

run jetwatt apply "c6$cores"
kill $!
wait
rmdir "$mount/a/b"
run jetwatt restore
exits 0 && as_before "$T/before" && [ "$(cat "$mount/a/cpuset.cpus")" = 0-11 ] && [ ! -e $record ]
result $? "restore ignores a cpuset that is gone"

rmdir "$mount/$odd" "$mount/a" "$mount/own"
umount "$mount"
run jetwatt apply "c6$cores"
[ ! -e $record ] && run jetwatt restore
exits 0 && as_before "$T/before"
result $? "without cpusets of version 1, nothing is recorded"

finish
