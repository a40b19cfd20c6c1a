#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd with a limit of the short window: the power of a job with minibatches of half a second
# rises and falls within each of them.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 4

BUDGET=25
CAP=27
SHORT=0.2
printf 'budget = %sW over 5s\ncap = %sW over %ss\ndb = none\n' $BUDGET $CAP $SHORT > "$T/conf"
start
begun=$(now_ns)
train --size 4000 > /dev/null 2>&1 &
train=$!
doing holding 120
result $? "the job is learned"
sleep 45
# jetwattd goes on learning while it holds a mode, so wait for a mode that uses most of the budget.
most() { draws=$(of_mode 6); at_most $((BUDGET * 7 / 10)) "$draws"; }
for _ in $(seq 24); do
	most && break
	sleep 5
done
jetwatt daemon status
over=$(breach "$begun" $CAP $SHORT)
echo "# over $CAP W over $SHORT s for $over s; the mode draws $draws W on average"
at_most "$over" 0.3
result $? "power over the short window above its limit for at most 0.1 s longer than the window"
at_most "$(breach "$begun" $BUDGET 5)" 5
result $? "mean power over the budget's window above the budget for at most a window"
[ "$(status_of cap_w)" = $CAP ] && most && grep -q "over the budget" "$T/log"
result $? "the limit is shown, a mode was left for its peaks, and the mode held uses most of the budget"
kill "$train"
wait "$train"
end
finish
