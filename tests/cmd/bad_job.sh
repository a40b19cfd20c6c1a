#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=480 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Measure jobs that misbehave: each must give a defined result, and the measurement must leave
# nothing behind.
. "${0%/*}/common.inc"
plan 14

CG=$T/cg
mkdir -p "$CG"
mount -t cgroup2 cgroup2 "$CG"
# watch PID: run stat for a running job in the background, and give it 6 s to see waits
watch()
{
	jetwatt stat --json -o "$T/json" -p "$1" > "$T/out" 2> "$T/err" &
	stat=$!
	sleep 6
}
before=$(programs)

run jetwatt stat --json -o "$T/json" -- sh -c 'train --minibatches 20 & wait; exec cutrain --minibatches 20'
echo "# $(number waits "$T/json") waits, $(number pollfd "$T/json") + $(number stream "$T/json")"
exits 0 && [ "$(number waits "$T/json")" = 40 ] && [ "$(number pollfd "$T/json")" = 20 ] &&
	[ "$(number stream "$T/json")" = 20 ]
result $? "a job that forks, waits and executes another program: all waits are counted"
clean
result $? "and no BPF program and no cgroup is left behind"

jetwatt stat --json -o "$T/json" -- train --seconds 60 > "$T/out" 2> "$T/err" &
stat=$!
sleep 4
[ "$(programs)" -gt "$before" ]
result $? "BPF programs are loaded during the measurement"
kill -KILL "$(pidof train)"
wait $stat
status=$?
exits 137 && [ "$(number minibatches "$T/json")" -gt 10 ]
result $? "job killed with SIGKILL: its status, and its minibatches until then"
clean
result $? "and no BPF program and no cgroup is left behind"

train --seconds 60 &
job=$!
watch $job
kill -KILL $job
wait $stat
status=$?
exits 0 && [ "$(number minibatches "$T/json")" -gt 10 ] && clean
result $? "stat -p of a job killed with SIGKILL: its minibatches until then"

# Another process gets the id of the job before stat has noticed the job's end.
train --minibatches 1000 --progress 1 > "$T/steps" &
job=$!
watch $job
kill -STOP $stat
kill -KILL $job
wait $job 2> /dev/null
echo $((job - 1)) > /proc/sys/kernel/ns_last_pid
train --minibatches 30 &
other=$!
wait $other
kill -CONT $stat
wait $stat
status=$?
steps=$(grep -c ^step "$T/steps")
waits=$(number waits "$T/json")
echo "# $waits waits of $steps minibatches; the other's number: $other, the job's: $job"
[ $other = $job ] && exits 0 && [ "$waits" -gt 10 ] && [ "$waits" -le $((steps + 1)) ] && clean
result $? "process id of an ended job is reused: the new process is not counted"

mkdir -p "$CG/job"
sh -c 'echo $$ > "$1/cgroup.procs"; exec train --minibatches 80' - "$CG/job" &
sleep 1
while ! rmdir "$CG/job" 2> /dev/null; do sleep 0.01; done &
remover=$!
run jetwatt stat --cgroup "$CG/job" --json -o "$T/json"
wait $remover
echo "# $(number waits "$T/json") waits"
exits 0 && [ "$(number waits "$T/json")" -gt 20 ] && [ ! -d "$CG/job" ]
result $? "stat --cgroup: removed as soon as it is empty"
clean
result $? "and no BPF program and no cgroup is left behind"
run jetwatt stat --cgroup "$CG/job"
exits 1 && form && clean
result $? "stat --cgroup: a cgroup that does not exist is an error"

lib=/usr/lib/aarch64-linux-gnu/libcuda.so.1
cp $lib "$T/kept"
run jetwatt stat --json -o "$T/json" -- sh -c "cutrain --minibatches 60 & sleep 2; rm $lib; wait"
exits 0 && [ "$(number stream "$T/json")" = 60 ] && [ ! -e $lib ]
result $? "libcuda is deleted while it is probed: no wait is missing"
clean
result $? "and no BPF program and no cgroup is left behind"
cp "$T/kept" $lib

# The job has a very large number of tasks (processes and threads); stat follows each of them.
echo 40000 > /proc/sys/kernel/threads-max
echo 40000 > /proc/sys/kernel/pid_max
run jetwatt stat --json -o "$T/json" -- sh -c 'crowd 100 100 1 && train --minibatches 20'
echo "# $(number left_out "$T/json") left out of the usage"
exits 0 && [ "$(grep -c ready "$T/out")" = 1 ] && [ "$(number waits "$T/json")" = 20 ]
result $? "a job of ten thousand tasks"
clean && ! pidof crowd > /dev/null
result $? "and no BPF program and no cgroup is left behind"

umount "$CG"
finish
