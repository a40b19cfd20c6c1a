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

how_often() { grep -c "learning the job again" "$T/log"; }
anew() { [ "$(how_often)" -gt "$1" ]; }
# measured N: has jetwattd measured at least N modes?
measured() { [ "$(status_of modes_measured)" -ge "$1" ]; }

# good_mode: is the time per minibatch in the applied mode within 10 % of that in the best mode?
good_mode()
{
	time=$(of_mode 5) best=$(best $BUDGET)
	near_best "$time" "$best"
}

# holds_good_mode SECONDS [STATE]: is a good mode held (or, with "any", applied) within SECONDS?
# Each request to jetwattd costs the job CPU time, so poll every two seconds.
holds_good_mode()
{
	from=$(now_ns) time='' good=1
	for i in $(seq $(($1 / 2))); do
		{ [ "${2-}" = any ] || [ "$(status_of doing)" = holding ]; } && good_mode && good=0 && break
		sleep 2
	done
	awk -v m="$(status_of modes_measured)" -v t="$time" -v b="$best" -v from="$from" -v now="$(now_ns)" 'BEGIN {
		printf "# %.1f s later, after %d modes: %s ms for a whole minibatch, the best is %s ms\n", (now - from) / 1e9, m, t, b
	}'
	return $good
}

# seen SECONDS PATIENCE: is the change of the job, made at the time of the call, detected within SECONDS?
# Wait for PATIENCE seconds at most.
seen()
{
	was=$(how_often) at=$(now_ns)
	within "$2" anew "$was"
	now=$(now_ns)
	cp "$T/log" "$T/err"
	awk -v a="$at" -v b="$now" 'BEGIN { printf "# seen %.1f s later\n", (b - a) / 1e9 }'
	anew "$was" && at_most "$((now - at))" "$1"000000000
}

knobs > "$T/before"
start
begun=$(now_ns)
# A change of the job between two measurements is detected only by later measurements.
found=0 all_good=0
for job in 1000:2 900:3 800:4; do
	size=${job%:*} after=${job#*:} had=$(status_of modes_measured)
	train --size "$size" --then $((size / 2)) > /dev/null 2>&1 &
	train=$!
	# Change the job once some of its modes have been measured: before that, there is nothing to detect.
	within 60 measured $((had + after))
	kill -USR1 $train
	seen 45 60
	found=$((found + !$?))
	holds_good_mode 60
	all_good=$((all_good + !$?))
	kill $train
	wait $train
	doing idle 20
done
[ $found = 3 ]
result $? "minibatch size halved while learning: detected for all three jobs"
[ $all_good = 3 ]
result $? "minibatch size halved while learning: each in a mode within 10 % of the best within a minute"

# The minibatch size of this job changes while jetwattd holds the chosen mode.
train --size 700 --then 350 > /dev/null 2>&1 &
train=$!
holds_good_mode 100
result $? "fourth job: its mode is within 10 % of the best"
doing holding 100
kill -USR1 $train
seen 40 60
result $? "minibatch size halved while holding: detected within 40 s"
modes=$(status_of modes_measured)
holds_good_mode 40 any && [ $(($(status_of modes_measured) - modes)) -le 8 ]
result $? "previous measurements are used: within 10 % of the best after at most 8 more modes"
never_over
doing idle 20 && as_before "$T/before"
result $? "job ends: the knobs are restored"
end
finish
