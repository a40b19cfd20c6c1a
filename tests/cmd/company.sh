#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd where two jobs share the GPU: a job beside another one is a workload of its own.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 6

# Few modes: this is not about how good they are.
printf 'budget = 30W\nmost = 5\ndb = %s\n' "$T/profiles.db" > "$T/conf"

# is NAME VALUE: of the status
is() { [ "$(told "$1")" = "$2" ]; }
isnt() { [ "$(told "$1")" != "$2" ]; }

knobs > "$T/before"
# A session of its own: what is of one process group is one job.
setsid train > /dev/null 2>&1 &
first=$!
start && doing holding 60
alone=$(told workload) mode=$(told mode) measured=$(told modes_measured)
[ "$measured" -gt 0 ]
result $? "one job: learned"

begun=$(now_ns)
setsid train --size 500 > /dev/null 2>&1 &
second=$!
within 20 isnt workload "$alone" && doing holding 60 && is pid "$first" &&
	[ "$(told modes_measured)" -gt "$measured" ]
result $? "another one beside it: that is another workload, learned as well"
over=$(breach "$begun" 30)
echo "# over 30 W for $over s"
at_most "$over" 1
result $? "never over the budget for a second"
beside=$(told workload) measured=$(told modes_measured)
jetwatt list profiles --db "$T/profiles.db" > "$T/out" 2> "$T/err" && [ "$(grep -c train "$T/out")" = 2 ]
result $? "the database has both"

kill $second
wait $second
within 20 is workload "$alone" && doing holding 10 && is mode "$mode" && is modes_measured "$measured"
result $? "it ends: the first one is back in its mode, nothing is learned again"

setsid train --size 500 > /dev/null 2>&1 &
second=$!
within 20 is workload "$beside" && doing holding 10 && is modes_measured "$measured"
again=$?
kill $first $second
wait $first $second
end
[ $again = 0 ] && exits 0 && as_before "$T/before"
result $? "it comes again: known, and at the end the board is as it was"
finish
