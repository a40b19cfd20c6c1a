#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: icount alone timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test schedule: the time slices, the latency of requests, and that the job continues if jetwatt is
# killed.
. "${0%/*}/common.inc"
. "${0%/*}/schedule.inc"
plan 12


run jetwatt schedule
exits 2 && form
result $? "schedule without a configuration is refused"

run jetwatt schedule -c "$T/none"
exits 2 && form && says "No such file"
result $? "a missing configuration file is an error"

conf "train = train" "# a comment" "" "latncy = 100ms"
run jetwatt schedule -c "$T/conf"
exits 2 && form && says "line 4" "latncy" "fix: latency"
result $? "a misspelt key: the error has its line and a suggestion"

conf "train = train" "infer = serve" "latency = 100W"
run jetwatt schedule -c "$T/conf"
exits 2 && form && says "line 3" "100W"
result $? "a latency limit in watts is refused"

conf "train = /nonexistent" "infer = serve" "latency = 100ms" "arrival = 40Hz"
run jetwatt schedule -c "$T/conf"
exits 127 && ! pidof serve
result $? "a training command that cannot be executed: the shell's status, and the server is ended"

conf "train = train --size 300 --minibatches 250 --progress 1 > $T/steps" \
	"infer = serve --batch 64 --base 60 --each 40" "latency = 120ms"
jetwatt schedule -c "$T/conf" --json -o "$T/json" > "$T/out" 2> "$T/err" &
schedule=$!
job serve > /dev/null
lines "$T/steps" 40
ask --rate 40000 --requests 200 > "$T/answers"
wait $schedule
status=$?
exits 0 && [ "$(wc -l < "$T/steps")" = 251 ]
result $? "schedule returns the status of the training command when it ends"

awk '$2 < 0 || $2 > 120000 { late++ } END { print "# " late + 0 " of " NR " requests late"
	exit !(NR == 200 && late <= 2) }' "$T/answers"
result $? "99 % of the requests are answered within the latency"

awk -v n="$(number minibatches "$T/json")" -v late="$(number late "$T/json")" \
	-v turns="$(number turns "$T/json")" -v train="$(number energy_j "$T/json")" \
	'BEGIN { print "# " turns " turns, " late " of them late, " train " J"
		 exit !(turns > 20 && late <= turns / 5 && train > 1) }'
result $? "time slices end at minibatch bounds"

awk -v hz="$(number arrival_hz "$T/json")" -v n="$(sed -n '/"infer"/,/}/s/.*"requests": \([0-9]*\).*/\1/p' "$T/json")" \
	-v kept="$(number kept_pct "$T/json")" \
	'BEGIN { print "# " hz " requests per second, " n " requests; " kept " % of the planned minibatches completed"
		 exit !(n == 200 && hz > 5 && hz < 60 && kept >= 90) }'
result $? "requests are counted, and the achieved rates are those planned"

conf "train = exec train --size 300 --minibatches 60 --progress 1 > $T/steps" "infer = exec sleep 1" \
	"latency = 120ms"
run jetwatt schedule -c "$T/conf"
exits 0 && says "the server has ended" && [ "$(wc -l < "$T/steps")" = 61 ]
result $? "the server ends: training continues alone"

# held PID: is the process's cgroup frozen?
held()
{
	grep -q "frozen 1" "/sys/fs/cgroup$(sed 's/^0:://' "/proc/$1/cgroup")/cgroup.events"
}

conf "train = exec train --size 300 --progress 1 > $T/steps" "infer = exec serve --batch 64" \
	"latency = 120ms" "arrival = 40Hz"
bad=0
seen=0
for i in $(seq "${JETWATT_KILLS:-6}"); do
	: > "$T/steps"
	jetwatt schedule -c "$T/conf" > "$T/out" 2> "$T/err" &
	schedule=$!
	lines "$T/steps" 2 || bad=1
	usleep "$(awk -v s="$i" 'BEGIN { srand(s); print int(rand() * 1000000) }')"
	kill -KILL $schedule
	wait $schedule 2> /dev/null
	! held "$(pidof train)" 2> /dev/null || seen=$((seen + 1))
	lines "$T/steps" "$(($(wc -l < "$T/steps") + 3))" || bad=1
	kill -KILL $(pidof train serve)
	while pidof train serve > /dev/null; do sleep 0.1; done
done
[ $bad = 0 ]
result $? "killed at any moment: training continues (frozen at that moment: $seen times)"

jetwatt schedule -c "$T/conf" > "$T/out" 2> "$T/err" &
schedule=$!
: > "$T/steps"
lines "$T/steps" 5
kill -TERM $schedule
wait $schedule
status=$?
exits 0 && shows training inference && ! pidof train serve > /dev/null && narrow
result $? "SIGTERM ends both programs, and the summary is printed"

finish
