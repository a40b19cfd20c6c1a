#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd with a job whose minibatches take half a second, and longer in a low mode; and with a job
# whose waits are not visible. jetwattd must not leave either job in the lowest mode.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 8

BUDGET=20
printf 'budget = %sW\ndb = %s\n' $BUDGET "$T/profiles.db" > "$T/conf"

lowest() { awk -F, 'NR > 1 && (!b || $6 < b) { b = $6 } END { print b }' $TRUTH/modes; }
is() { [ "$(status_of "$1")" = "$2" ]; }

knobs > "$T/before"
start
begun=$(now_ns)
train --size 4000 > /dev/null 2>&1 &
train=$!
within 10 is doing learning
result $? "minibatches of half a second are recognised"
# near: the mode is within 10 % of the best. jetwattd holds a mode and goes on learning, so wait for it.
near()
{
	time=$(of_mode 5)
	took=$(awk -v a="$begun" -v b="$(now_ns)" 'BEGIN { printf "%.0f", (b - a) / 1e9 }')
	near_best "$time" "$best"
}
best=$(best $BUDGET)
doing holding 170
until near || [ "$took" -gt 150 ]; do
	sleep 5
	doing holding 60
done
echo "# after $took s and $(status_of modes_measured) modes: 4 times $time ms, the best there is $best"
near
result $? "the mode is within 10 % of the best"
at_most "$took" 150
result $? "and a good mode is found within 150 s"
never_over
doing idle 20 && as_before "$T/before"
result $? "the job ends: the knobs are restored"

begun=$(now_ns)
train --wait spin > /dev/null 2>&1 &
train=$!
within 10 grep -q "without a known job" "$T/log"
sleep 15
draws=$(of_mode 6)
echo "# of $(lowest) W in the lowest mode to $BUDGET: $draws W in $(status_of mode), $(status_of doing)"
[ "$(status_of doing)" = idle ] && [ -n "$draws" ] &&
	at_most "$(awk -v a="$(lowest)" -v b=$BUDGET 'BEGIN { print a + 0.4 * (b - a) }')" "$draws"
result $? "a job that spins on GPU memory: a mode well above the lowest one"
sleep 20
never_over
within 30 as_before "$T/before"
result $? "and the knobs are restored when it ends"
end
finish
