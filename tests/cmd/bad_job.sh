#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=480 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Jobs that are not as one would wish: a clear outcome each, and nothing is left of
# the measurement.
. "${0%/*}/common.inc"
plan 14

CG=$T/cg
mkdir -p "$CG"
mount -t cgroup2 cgroup2 "$CG"
# watch PID: stat of a running job in the background, until it has seen some
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
result $? "forks, waits, and executes another program: all of it"
clean
result $? "nothing is left"

jetwatt stat --json -o "$T/json" -- train --seconds 60 > "$T/out" 2> "$T/err" &
stat=$!
sleep 4
[ "$(programs)" -gt "$before" ]
result $? "while it is measured there is a probe"
kill -KILL "$(pidof train)"
wait $stat
status=$?
exits 137 && [ "$(number minibatches "$T/json")" -gt 10 ]
result $? "killed with SIGKILL: its status, and what it did until then"
clean
result $? "nothing is left"

train --seconds 60 &
job=$!
watch $job
kill -KILL $job
wait $stat
status=$?
exits 0 && [ "$(number minibatches "$T/json")" -gt 10 ] && clean
result $? "-p: killed with SIGKILL: what it did until then"

# Its number is somebody else's before stat has had a chance to look.
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
result $? "the number of a job that is gone is used again: the other is not counted"

mkdir -p "$CG/job"
sh -c 'echo $$ > "$1/cgroup.procs"; exec train --minibatches 80' - "$CG/job" &
sleep 1
while ! rmdir "$CG/job" 2> /dev/null; do sleep 0.01; done &
remover=$!
run jetwatt stat --cgroup "$CG/job" --json -o "$T/json"
wait $remover
echo "# $(number waits "$T/json") waits"
exits 0 && [ "$(number waits "$T/json")" -gt 20 ] && [ ! -d "$CG/job" ]
result $? "--cgroup: removed as soon as it was empty"
clean
result $? "nothing is left"
run jetwatt stat --cgroup "$CG/job"
exits 1 && form && clean
result $? "--cgroup: gone before"

lib=/usr/lib/aarch64-linux-gnu/libcuda.so.1
cp $lib "$T/kept"
run jetwatt stat --json -o "$T/json" -- sh -c "cutrain --minibatches 60 & sleep 2; rm $lib; wait"
exits 0 && [ "$(number stream "$T/json")" = 60 ] && [ ! -e $lib ]
result $? "its library is deleted under the probe: no wait is missing"
clean
result $? "nothing is left"
cp "$T/kept" $lib

# As many as there are on a board that has gone mad; each is followed.
echo 40000 > /proc/sys/kernel/threads-max
echo 40000 > /proc/sys/kernel/pid_max
run jetwatt stat --json -o "$T/json" -- sh -c 'crowd 100 100 1 && train --minibatches 20'
echo "# $(number left_out "$T/json") left out of the usage"
exits 0 && [ "$(grep -c ready "$T/out")" = 1 ] && [ "$(number waits "$T/json")" = 20 ]
result $? "ten thousand tasks, and then a job"
clean && ! pidof crowd > /dev/null
result $? "nothing is left"

umount "$CG"
finish
