#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=900 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test jetwattd without power samples: while a job uses the GPU, the module is unloaded, or no sensor
# responds.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 13

BUDGET=20
KO=/lib/modules/jetwatt/jetwatt.ko
printf 'budget = %sW\ndb = none\n' $BUDGET > "$T/conf"

gpu=$(ls -d /sys/class/devfreq/*gpu* | head -n 1)
lowest=$(tr ' ' '\n' < "$gpu/available_frequencies" | sort -n | sed -n '/./{p;q}')
is() { [ "$(status_of "$1")" = "$2" ]; }
works() { is doing learning || is doing holding; }
at_lowest() { [ "$(cat "$gpu/max_freq")" = "$lowest" ]; }
# gone: has jetwattd ended? If jetwattd has ended, $status is its exit status.
gone()
{
	kill -0 $daemon 2> /dev/null && return 1
	wait $daemon
	status=$?
	cp "$T/log" "$T/err"
}

knobs > "$T/before"
start
train > /dev/null 2>&1 &
train=$!
within 20 works
rmmod jetwatt
within 10 is doing blind && within 5 at_lowest && grep -q "samples have stopped" "$T/log"
result $? "module unloaded: jetwattd sets the lowest mode and logs it"
stays=0
for i in $(seq 15); do
	at_lowest && is doing blind && stays=$((stays + 1))
	sleep 1
done
echo "# in $stays of 15 checks the lowest mode"
[ $stays = 15 ]
result $? "module unloaded: the lowest mode stays while the job runs"
kill $train
wait $train
within 20 gone && exits 1 && says "no process uses the GPU"
result $? "module unloaded: when the job ends, jetwattd ends with status 1"
as_before "$T/before"
result $? "and the knobs are restored"

insmod $KO
start
train > /dev/null 2>&1 &
train=$!
within 20 works
rmmod jetwatt
within 10 is doing blind && within 5 at_lowest
insmod $KO
begun=$(now_ns)
within 30 grep -q "power samples are back" "$T/log" && within 60 works
result $? "module loaded again: jetwattd learns the job"
never_over
doing idle 20 && within 20 as_before "$T/before"
result $? "job ends: the knobs are restored"
end

# Samples stop although the module stays loaded, because no sensor chip responds.
start
train > /dev/null 2>&1 &
train=$!
within 20 works
echo 1000000000 > $FAULT/fail_i2c_nak
within 10 is doing blind && within 5 at_lowest && grep -q "have stopped: rail\|is gone" "$T/log"
result $? "sensors do not respond: jetwattd sets the lowest mode and logs it"
stays=0
for i in $(seq 30); do
	at_lowest && stays=$((stays + 1))
	sleep 1
done
echo "# in $stays of 30 checks the lowest mode"
[ $stays = 30 ] && within 5 is doing blind
result $? "sensors do not respond: the lowest mode stays"
echo 0 > $FAULT/fail_i2c_nak
begun=$(now_ns)
within 60 grep -q "power samples are back" "$T/log" && within 60 works
result $? "sensors respond again: jetwattd learns the job"
never_over
doing idle 20
end

printf 'budget = %sW\ndb = none\nblind = restore\n' $BUDGET > "$T/conf"
start
train > /dev/null 2>&1 &
train=$!
within 20 works
rmmod jetwatt
within 20 gone && exits 1 && says "samples have stopped"
result $? "blind = restore: jetwattd ends when the module is unloaded"
as_before "$T/before"
result $? "blind = restore: the knobs are restored while the job runs"
kill $train
wait $train
insmod $KO
finish
