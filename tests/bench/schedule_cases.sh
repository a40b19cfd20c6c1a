#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests of jetwatt schedule in the guest: requests by TCP, a jump of the arrival rate, the minibatch
# size of the server, a power budget, no cgroups, and the division of the energy between the jobs.
# bench-schedule runs it before the loads.
. "${0%/*}/common.inc"
. "${0%/*}/schedule.inc"
plan 7


# served OPTION...: run jetwatt schedule with the configuration $T/conf, and the client "ask" with
# these options; the report goes to $T/json, the latencies to $T/answers
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

# in_time REQUESTS MS: were REQUESTS requests made, and 99 % of them answered within MS
# milliseconds?
in_time()
{
	awk -v n="$1" -v ms="$2" '$2 < 0 || $2 > 1000 * ms { late++ }
		END { print "# " late + 0 " of " NR " requests late"; exit !(NR == n && late <= n / 100) }' "$T/answers"
}

# kept: did training achieve at least 90 % of the planned number of minibatches?
kept()
{
	awk -v kept="$(number kept_pct "$T/json")" 'BEGIN { print "# " kept " % of the planned minibatches completed"
		exit !(kept >= 90) }'
}

train="train = exec train --size 100 --progress 1 > $T/steps"
conf "$train" "infer = exec serve --batch 64 --base 60 --each 40 --tcp 1" "latency = 120ms"
served --tcp --rate 40000 --requests 200
in_time 200 120 && kept && [ "$(sed -n '/"infer"/,/}/s/.*"requests": \([0-9]*\).*/\1/p' "$T/json")" -ge 200 ]
result $? "requests by TCP are counted"

awk -F, -v a="$(number begun_ns "$T/json")" -v b="$(number ended_ns "$T/json")" \
	-v mine="$(awk -F: '/energy_j/ { sum += $2 } END { print sum }' "$T/json")" \
	'function at(t) { return pe + (t - pt) / ($1 - pt) * ($2 - pe) }
	$1 + 0 { if (pt && pt <= a && a <= $1) e0 = at(a)
		 if (pt && pt <= b && b <= $1) e1 = at(b); pt = $1; pe = $2 }
	END { j = (e1 - e0) / 1e6; print "# " mine " J assigned to the jobs and the switches, of " j " J"
	      exit !(mine > 0.98 * j && mine < 1.02 * j) }' $TRUTH/energy
result $? "the energies of both jobs and of the switches add up to the total"

conf "$train" "infer = exec serve --batch 64 --base 60 --each 40" "latency = 120ms"
served --rate 15000 --then 90000 --requests 400
in_time 400 120 && kept
result $? "the latency limit holds when the arrival rate jumps to six times its value"

echo 1 > "$T/batch"
conf "$train" "infer = exec serve --batch 1 --batch-file $T/batch --base 60 --each 40" "latency = 150ms" \
	"minibatches = 5" "batch-file = $T/batch"
served --rate 80000 --requests 300
batch=$(cat "$T/batch")
echo "# minibatches of up to $batch"
in_time 300 150 && [ "$batch" -ge 5 ] && [ "$batch" -le 64 ] && [ "$(number minibatches "$T/json")" = 5 ]
result $? "the minibatch size is written to the server's batch file"

# Of three modes, the fastest is over the budget, and the slowest trains fewer minibatches.
cat > "$T/train.csv" << X
cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w
1,2201600,1300500000,3199000000,10,45
1,1344000,726750000,2133000000,20,25
1,1651200,522750000,3199000000,30,20
X
cat > "$T/infer.csv" << X
cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w
1,2201600,1300500000,3199000000,1,5,40
1,1344000,726750000,2133000000,1,15,20
1,1651200,522750000,3199000000,1,20,18
1,2201600,1300500000,3199000000,4,15,41
1,1344000,726750000,2133000000,4,20,22
1,1651200,522750000,3199000000,4,30,19
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
result $? "no mode within the power budget: no job is started, no mode is switched"

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
result $? "the best mode within the power budget is applied, and the previous mode is restored"

umount /sys/fs/cgroup
conf "$train" "infer = exec serve --batch 64 --base 60 --each 40" "latency = 120ms" "arrival = 40Hz"
served --rate 40000 --requests 200
says "requests are not counted" && in_time 200 120 && kept && ! pidof train serve > /dev/null
result $? "without cgroups, jobs are stopped by signals"
mount -t cgroup2 cgroup2 /sys/fs/cgroup

finish
