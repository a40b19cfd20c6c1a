#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=180 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test record --trigger, which writes the samples before and after an event from the module's black
# box.
. "${0%/*}/common.inc"
plan 11
limit=

# arm WHAT SECONDS: start record with trigger WHAT, and wait until the module has SECONDS of samples
arm()
{
	jetwatt record -o "$T/box.jwt" --trigger "$1" --pre 2s --post 1s -p $train --json \
		> "$T/out" 2> "$T/err" &
	record=$!
	sleep "$2"
	kill -0 $record || echo "# record has ended before anything happened"
}

# whole: does the trace have the 2 s before and the 1 s after the event, no lost sample, and the
# job's waits?
whole()
{
	wait $record
	status=$?
	exits 0 && awk -v s="$(number elapsed_s "$T/out")" 'BEGIN { exit s < 2.5 || s > 4 }' &&
		[ "$(number lost "$T/out")" = 0 ] && [ "$(number waits "$T/out")" -gt 10 ] &&
		[ "$(number minibatches "$T/out")" -gt 10 ]
}

# band TEXT: does the report of the trace name cause TEXT?
band()
{
	jetwatt report --html "$T/box.html" "$T/box.jwt" > "$T/out" 2> "$T/err"
	grep -q "$1" "$T/box.html"
}

/bin/train > /dev/null 2>&1 &
train=$!
sleep 1
arm signal 4
kill -USR1 $record
whole
result $? "signal: 2 s before and 1 s after, nothing lost"
band "on request"
result $? "signal: the trace names the cause"

# Trigger an over-current alarm: set a limit below the rail's current through the hwmon driver.
for h in /sys/class/hwmon/hwmon*; do
	case $(readlink -f $h/device) in */1-0040) limit=$h/curr2_max;; esac
done
most=$(cat "$limit")
arm oc 4
echo $(($(cat "${limit%max}input") / 2)) > "$limit"
whole
result $? "oc: a current above the chip's limit"
echo "$most" > "$limit"
band over-current
result $? "oc: the trace names the cause"

arm thermal 4
echo 99500 > $heat
whole
result $? "thermal: a zone reaches its trip point, and the trace has the whole event"
echo 0 > $heat
band thermal
result $? "thermal: the trace names the cause"

# If another trigger than the selected one has filled the black box, record must empty the box and
# continue to wait.
sleep 2
arm oc 3
echo 99500 > $heat
sleep 3
echo 0 > $heat
kill -0 $record && sleep 2 && echo $(($(cat "${limit%max}input") / 2)) > "$limit" && whole &&
	band over-current
result $? "oc: overheating does not end the recording, an over-current does"
echo "$most" > "$limit"

run jetwatt record -o "$T/box.jwt" --trigger nothing
exits 2 && says "oc, thermal and signal"
result $? "an unknown trigger is refused, and the error lists the triggers"

run jetwatt record -o "$T/none.jwt" --trigger oc --for 3s
exits 2 && form && says "for cannot be combined with --trigger" && [ ! -e "$T/none.jwt" ]
result $? "--for is refused with --trigger"
run jetwatt record -o "$T/none.jwt" --post 3s -p 1
exits 2 && form && says "need --trigger" && [ ! -e "$T/none.jwt" ]
result $? "--post is refused without --trigger"

# The module reads the limits of a chip one after the other, and sees within 5 s that this one was raised.
sleep 5
jetwatt record -o "$T/none.jwt" --trigger oc > "$T/out" 2> "$T/err" &
record=$!
sleep 2
kill -TERM $record
wait $record
status=$?
exits 143
result $? "SIGTERM before an event: record ends with status 143"
kill $train
# Wait until the thermal governor limits no clock any more, because the next test needs full clocks.
for i in $(seq 100); do cold && break; sleep 0.2; done
finish
