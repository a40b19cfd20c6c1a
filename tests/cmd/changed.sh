#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test jetwattd with jobs that change: three while jetwattd still measures modes, one while jetwattd
# holds the chosen mode.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 7

BUDGET=30
printf 'budget = %sW\ndb = %s\n' $BUDGET "$T/profiles.db" > "$T/conf"

# changed: time (ns) at which $train began its minibatch number $1 + 1
changed() { awk -F, -v pid=$train -v n="$1" 'NR > 1 && $5 == pid && ++m == n + 1 { print $2 }' $TRUTH/minibatches; }
how_often() { grep -c "learning the job again" "$T/log"; }
anew() { [ "$(how_often)" -gt "$1" ]; }

# its_mode: is the time per minibatch within 10 % of that in the best mode?
its_mode()
{
	time=$(of_mode 5) best=$(best $BUDGET)
	echo "# $(told modes_measured) modes: $time ms of whole minibatches, the best there is $best"
	[ -n "$time" ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')"
}

# seen AFTER SECONDS PATIENCE: is the change after AFTER minibatches detected within SECONDS?
seen()
{
	was=$(how_often)
	within "$3" anew "$was"
	at=$(changed "$1") now=$(now_ns)
	cp "$T/log" "$T/err"
	awk -v a="${at:-0}" -v b="$now" 'BEGIN { printf "# seen %.1f s later\n", (b - a) / 1e9 }'
	anew "$was" && [ -n "$at" ] && at_most "$((now - at))" "$2"000000000
}

knobs > "$T/before"
start
begun=$(now_ns)
# A change of the job between two measurements is detected only by later measurements.
found=0 good=0
for job in 1000:50 900:60 800:40; do
	size=${job%:*} after=${job#*:}
	train --size "$size" --then $((size / 2)) --after "$after" > /dev/null 2>&1 &
	train=$!
	seen "$after" 45 60
	found=$((found + !$?))
	doing holding 100
	its_mode
	good=$((good + !$?))
	kill $train
	wait $train
	doing idle 20
done
[ $found = 3 ]
result $? "minibatch size halved while learning: detected for all three jobs"
[ $good = 3 ]
result $? "minibatch size halved while learning: all modes within 10 % of the best"

# The minibatch size of this job changes while jetwattd holds the chosen mode.
train --size 700 --then 350 --after 750 > /dev/null 2>&1 &
train=$!
doing holding 100
its_mode
result $? "fourth job: its mode is within 10 % of the best"
modes=$(told modes_measured)
seen 750 40 90
result $? "minibatch size halved while holding: detected within 40 s"
sleep 2
doing holding 100
its_mode && [ $(($(told modes_measured) - modes)) -le 8 ]
result $? "previous measurements are used: at most 8 more modes, result within 10 % of the best"
never_over
doing idle 20 && as_before "$T/before"
result $? "job ends: the knobs are restored"
end
finish
