#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test jetwattd with two jobs on the GPU: a job that runs beside another job must count as a
# separate workload.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 6

# Let jetwattd measure few modes only, because this test does not check the quality of the chosen
# mode.
printf 'budget = 30W\nmost = 5\ndb = %s\n' "$T/profiles.db" > "$T/conf"

# is NAME VALUE: does field NAME of jetwattd's status have this VALUE?
is() { [ "$(status_of "$1")" = "$2" ]; }
isnt() { [ "$(status_of "$1")" != "$2" ]; }

knobs > "$T/before"
# Start the job in a separate session, because jetwattd takes the processes of one process group as
# one job.
setsid train > /dev/null 2>&1 &
first=$!
start && doing holding 60
alone=$(status_of workload) mode=$(status_of mode) measured=$(status_of modes_measured)
[ "$measured" -gt 0 ]
result $? "one job: it is learned"

begun=$(now_ns)
setsid train --size 500 > /dev/null 2>&1 &
second=$!
within 20 isnt workload "$alone" && doing holding 60 && is pid "$first" &&
	[ "$(status_of modes_measured)" -gt "$measured" ]
result $? "a second job starts: both together are another workload, which is learned"
over=$(breach "$begun" 30)
echo "# over 30 W for $over s"
at_most "$over" 1
result $? "mean power over one second above the budget for at most 1 s"
beside=$(status_of workload) measured=$(status_of modes_measured)
jetwatt list profiles --db "$T/profiles.db" > "$T/out" 2> "$T/err" && [ "$(grep -c train "$T/out")" = 2 ]
result $? "the database has both workloads"

kill $second
wait $second
within 20 is workload "$alone" && doing holding 10 && is mode "$mode" && is modes_measured "$measured"
result $? "the second job ends: the first one gets its mode back without learning"

setsid train --size 500 > /dev/null 2>&1 &
second=$!
within 20 is workload "$beside" && doing holding 10 && is modes_measured "$measured"
again=$?
kill $first $second
wait $first $second
end
[ $again = 0 ] && exits 0 && as_before "$T/before"
result $? "the second job returns: its workload is known; at the end the knobs are restored"
finish
