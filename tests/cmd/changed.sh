#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd and jobs that become others: three while they are learned, one while it is held.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 7

BUDGET=30
printf 'budget = %sW\ndb = %s\n' $BUDGET "$T/profiles.db" > "$T/conf"

# changed: when the plant's minibatch after the $1 first ones of $train began, in ns
changed() { awk -F, -v pid=$train -v n="$1" 'NR > 1 && $5 == pid && ++m == n + 1 { print $2 }' $TRUTH/minibatches; }
how_often() { grep -c "learning the job again" "$T/log"; }
anew() { [ "$(how_often)" -gt "$1" ]; }

# its_mode: within 10 % of the best?
its_mode()
{
	time=$(of_mode 5) best=$(best $BUDGET)
	echo "# $(told modes_measured) modes: $time ms of whole minibatches, the best there is $best"
	[ -n "$time" ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')"
}

# seen AFTER SECONDS PATIENCE: the change after so many minibatches, so soon
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
# Between two readings nobody sees it at once, but with some it is looked for.
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
result $? "half the minibatch size while it is learned: seen in all of three jobs"
[ $good = 3 ]
result $? "all of their modes are within 10 % of the best"

# This one is let be until it is held.
train --size 700 --then 350 --after 750 > /dev/null 2>&1 &
train=$!
doing holding 100
its_mode
result $? "another one: its mode is within 10 % of the best"
modes=$(told modes_measured)
seen 750 40 90
result $? "half the minibatch size while it is held: seen within 40 s"
sleep 2
doing holding 100
its_mode && [ $(($(told modes_measured) - modes)) -le 8 ]
result $? "what was learned before counts: at most 8 modes more, and the mode is within 10 %"
never_over
doing idle 20 && as_before "$T/before"
result $? "it ends: the board is as it was"
end
finish
