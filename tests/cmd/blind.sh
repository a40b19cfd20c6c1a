#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=900 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd without samples of power: the module is unloaded while a job works on the GPU.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 13

BUDGET=20
KO=/lib/modules/jetwatt/jetwatt.ko
printf 'budget = %sW\ndb = none\n' $BUDGET > "$T/conf"

gpu=$(ls -d /sys/class/devfreq/*gpu* | head -n 1)
lowest=$(tr ' ' '\n' < "$gpu/available_frequencies" | sort -n | sed -n '/./{p;q}')
is() { [ "$(told "$1")" = "$2" ]; }
works() { is doing learning || is doing holding; }
at_lowest() { [ "$(cat "$gpu/max_freq")" = "$lowest" ]; }
# gone: has jetwattd ended? Then $status is its exit status.
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
result $? "the module is unloaded: the lowest mode, and said"
stays=0
for i in $(seq 15); do
	at_lowest && is doing blind && stays=$((stays + 1))
	sleep 1
done
echo "# in $stays of 15 checks the lowest mode"
[ $stays = 15 ]
result $? "it stays while the job lives"
kill $train
wait $train
within 20 gone && exits 1 && says "no process uses the GPU"
result $? "the job ends: so does jetwattd, 1"
as_before "$T/before"
result $? "and the board is as it was"

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
result $? "the module is loaded again: the job is learned"
never_over
doing idle 20 && within 20 as_before "$T/before"
result $? "the job ends: the board is as it was"
end

# The module stays, but no sensor answers.
start
train > /dev/null 2>&1 &
train=$!
within 20 works
echo 1000000000 > $FAULT/fail_i2c_nak
within 10 is doing blind && within 5 at_lowest && grep -q "have stopped: rail\|is gone" "$T/log"
result $? "the sensors do not answer: the lowest mode, and said"
stays=0
for i in $(seq 30); do
	at_lowest && stays=$((stays + 1))
	sleep 1
done
echo "# in $stays of 30 checks the lowest mode"
[ $stays = 30 ] && within 5 is doing blind
result $? "it stays while they do not answer"
echo 0 > $FAULT/fail_i2c_nak
begun=$(now_ns)
within 60 grep -q "power samples are back" "$T/log" && within 60 works
result $? "they answer again: the job is learned"
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
result $? "blind = restore: jetwattd ends"
as_before "$T/before"
result $? "and the board is as it was, while the job lives"
kill $train
wait $train
insmod $KO
finish
