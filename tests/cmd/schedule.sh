#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: icount alone timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# schedule: turns, answers in time, a job that runs on whatever becomes of us.
. "${0%/*}/common.inc"
plan 19

ifconfig lo up

# conf LINE...
conf()
{
	printf '%s\n' "$@" > "$T/conf"
}

# Wait until a file has more than N lines.
lines()
{
	for i in $(seq 600); do
		[ "$(wc -l < "$1")" -le "$2" ] || return 0
		sleep 0.1
	done
	echo "# $1 stays at $(wc -l < "$1") lines"
	return 1
}

run jetwatt schedule
exits 2 && form
result $? "nothing says what is to run"

run jetwatt schedule -c "$T/none"
exits 2 && form && says "No such file"
result $? "no file"

conf "train = train" "# a comment" "" "latncy = 100ms"
run jetwatt schedule -c "$T/conf"
exits 2 && form && says "line 4" "latncy" "fix: latency"
result $? "a name that is misspelt: its line, and what may have been meant"

conf "train = train" "infer = serve" "latency = 100W"
run jetwatt schedule -c "$T/conf"
exits 2 && form && says "line 3" "100W"
result $? "a latency in watts"

conf "train = /nonexistent" "infer = serve" "latency = 100ms" "arrival = 40Hz"
run jetwatt schedule -c "$T/conf"
exits 127 && ! pidof serve
result $? "training that cannot be run: the shell's status, and no server stays"

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
result $? "schedule returns the command's status when all its minibatches are done"

awk '$2 < 0 || $2 > 120000 { late++ } END { print "# " late + 0 " of " NR " requests late"
	exit !(NR == 200 && late <= 2) }' "$T/answers"
result $? "99 of 100 requests are answered in time"

awk -v n="$(number minibatches "$T/json")" -v late="$(number late "$T/json")" \
	-v turns="$(number turns "$T/json")" -v train="$(number energy_j "$T/json")" \
	'BEGIN { print "# " turns " turns, " late " of them late, " train " J"
		 exit !(turns > 20 && late <= turns / 5 && train > 1) }'
result $? "turns end at bounds"

awk -v hz="$(number arrival_hz "$T/json")" -v n="$(sed -n '/"infer"/,/}/s/.*"requests": \([0-9]*\).*/\1/p' "$T/json")" \
	-v kept="$(number kept_pct "$T/json")" \
	'BEGIN { print "# " hz " requests a second, " n " in all; " kept " % of the promise kept"
		 exit !(n == 200 && hz > 5 && hz < 60 && kept >= 90) }'
result $? "requests are counted, and what was promised is kept"

# served NAME MINIBATCHES ASK...: a run with the conf, and these clients; the server's and the
# job's figures are in $T/json, answers in $T/answers
served()
{
	: > "$T/steps"
	jetwatt schedule -c "$T/conf" --json -o "$T/json" > "$T/out" 2> "$T/err" &
	schedule=$!
	job serve > /dev/null
	lines "$T/steps" 40
	ask "$@" > "$T/answers"
	kill -TERM $schedule
	wait $schedule
	status=$?
}

# in_time REQUESTS MS: as many were answered, 99 of 100 of them in time
in_time()
{
	awk -v n="$1" -v ms="$2" '$2 < 0 || $2 > 1000 * ms { late++ }
		END { print "# " late + 0 " of " NR " requests late"; exit !(NR == n && late <= n / 100) }' "$T/answers"
}

# kept: of what was promised?
kept()
{
	awk -v kept="$(number kept_pct "$T/json")" 'BEGIN { print "# " kept " % of the promise kept"
		exit !(kept >= 90) }'
}

train="train = exec train --size 100 --progress 1 > $T/steps"
conf "$train" "infer = exec serve --batch 64 --base 60 --each 40 --tcp 1" "latency = 120ms"
served --tcp --rate 40000 --requests 200
in_time 200 120 && kept && [ "$(sed -n '/"infer"/,/}/s/.*"requests": \([0-9]*\).*/\1/p' "$T/json")" -ge 200 ]
result $? "requests by TCP are counted"

conf "$train" "infer = exec serve --batch 64 --base 60 --each 40" "latency = 120ms"
served --rate 15000 --then 90000 --requests 400
in_time 400 120 && kept
result $? "six times as many requests from one moment to the next"

echo 1 > "$T/batch"
conf "$train" "infer = exec serve --batch 1 --batch-file $T/batch --base 60 --each 40" "latency = 150ms" \
	"minibatches = 5" "batch-file = $T/batch"
served --rate 80000 --requests 300
batch=$(cat "$T/batch")
echo "# minibatches of up to $batch"
in_time 300 150 && [ "$batch" -ge 5 ] && [ "$batch" -le 64 ] && [ "$(number minibatches "$T/json")" = 5 ]
result $? "the server is told how many requests to take at once"

# Of three modes the fastest is beyond the budget, and the slowest trains less.
cat > "$T/train.csv" << X
cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w
12,2201600,1300500000,3199000000,10,45
8,1344000,726750000,2133000000,20,25
4,1651200,522750000,3199000000,30,20
X
cat > "$T/infer.csv" << X
cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w
12,2201600,1300500000,3199000000,1,5,40
8,1344000,726750000,2133000000,1,15,20
4,1651200,522750000,3199000000,1,20,18
12,2201600,1300500000,3199000000,4,15,41
8,1344000,726750000,2133000000,4,20,22
4,1651200,522750000,3199000000,4,30,19
X
budget()
{
	conf "train = exec train --size 100 --progress 1 > $T/steps" "infer = exec serve --batch 64 --base 60 --each 40" \
		"latency = 300ms" "arrival = 40Hz" "power = $1" "train-modes = $T/train.csv" "infer-modes = $T/infer.csv"
}

budget 10W
knobs > "$T/before"
run jetwatt schedule -c "$T/conf"
exits 3 && form && ! pidof train serve > /dev/null && as_before "$T/before"
result $? "no mode within the power: nothing is started or switched"

budget 30W
: > "$T/steps"
jetwatt schedule -c "$T/conf" --json -o "$T/json" > "$T/out" 2> "$T/err" &
schedule=$!
job serve > /dev/null
lines "$T/steps" 40
ask --rate 40000 --requests 200 > "$T/answers"
knobs > "$T/during"
kill -TERM $schedule
wait $schedule
status=$?
exits 0 && in_time 200 300 && as_before "$T/before" && grep -q '/devfreq/.*/max_freq 726750000' "$T/during" &&
	[ "$(number switches "$T/json")" = 1 ] && [ "$(number batch "$T/json")" = 4 ]
result $? "the best mode within the power, and back to the one before"

umount /sys/fs/cgroup
conf "$train" "infer = exec serve --batch 64 --base 60 --each 40" "latency = 120ms" "arrival = 40Hz"
served --rate 40000 --requests 200
says "requests are not counted" && in_time 200 120 && kept && ! pidof train serve > /dev/null
result $? "without cgroups, by signals"
mount -t cgroup2 cgroup2 /sys/fs/cgroup

conf "train = exec train --size 300 --minibatches 60 --progress 1 > $T/steps" "infer = exec sleep 1" \
	"latency = 120ms"
run jetwatt schedule -c "$T/conf"
exits 0 && says "the server has ended" && [ "$(wc -l < "$T/steps")" = 61 ]
result $? "a server that ends: training goes on alone"

# held PID: is it?
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
result $? "killed at any moment: training runs on (held a moment after: $seen times)"

jetwatt schedule -c "$T/conf" > "$T/out" 2> "$T/err" &
schedule=$!
: > "$T/steps"
lines "$T/steps" 5
kill -TERM $schedule
wait $schedule
status=$?
exits 0 && shows training inference && ! pidof train serve > /dev/null && narrow
result $? "SIGTERM ends both programs, and the run is summed up"

finish
