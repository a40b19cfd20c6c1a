#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# eval: what it promises to programs that read it, and what it must not take.
cd "$(dirname "$0")/../.." || exit 1
dir=build/check-eval n=0 failed=0
mkdir -p $dir

check()	# TEXT STATUS
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n $1"; else echo "not ok $n $1"; failed=1; fi
}

# 144 modes of a made-up job; $1: batch sizes, $2: how heavy it is.
made()
{
	awk -v sizes="$1" -v heavy="$2" 'BEGIN {
		k = split(sizes, size, " ")
		print "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w"
		for (s = 1; s <= k; s++) for (c = 2; c <= 12; c += 2) for (f = 4; f <= 22; f += 6) for (g = 3; g <= 13; g += 2) for (m = 1; m <= 2; m++)
			printf "%d,%d,%d,%d,%d,%.3f,%.3f\n", c, 1e5 * f, g * 1e8, m * 1.6e9, size[s],
				heavy * (size[s] * 30 / g + 40 / f) + 60 * size[s] / f / (c < 4 ? c : 4),
				8 + c * f / 50 + g * g / 9 + m
	}'
}

# same TEXT COMMAND...: twice the same, but for the time it took.
twice()
{
	local strip='del(.fit_ms, .predict_ms, .compute_ms, .compute_max_ms, .exhaust_ms, .reuse.compute_ms?, .reuse.compute_max_ms?, .reuse.exhaust_ms?)'
	"${@:2}" > $dir/a 2> $dir/err && "${@:2}" > $dir/b 2>> $dir/err &&
		[ "$(jq -S "$strip" $dir/a)" = "$(jq -S "$strip" $dir/b)" ]
	check "$1" $?
}

refused()	# TEXT WHY COMMAND...
{
	"${@:3}" > $dir/out 2> $dir/err
	[ $? != 0 ] && [ ! -s $dir/out ] && grep -q "$2" $dir/err
	check "$1" $?
}

made 16 3 > $dir/one.csv
made 16 1 > $dir/other.csv
made "1 16 64" 1 > $dir/served.csv
predict="build/jetwatt eval predict --repeats 2 --samples 12 --seed 3"
optimize="build/jetwatt eval optimize --repeats 2 --samples 12 --seed 3 --budgets 14:26:4"

search="build/jetwatt eval search --budgets 14:26:4 --modes 12 --json"
schedule="build/jetwatt eval schedule --queries 12 --seed 3 --json"

echo 1..25
twice "predict is the same from the same seed" $predict --corpus $dir/one.csv --json
keys='corpus coverage95_pct fit_ms method power_mape_pct predict_ms references repeats samples sampling seed time_mape_pct'
[ "$(jq -r 'keys | join(" ")' $dir/a)" = "$keys" ]
check "its keys are those of the contract" $?
jq -e '(.time_mape_pct, .power_mape_pct | .q1 <= .median and .median <= .q3) and .coverage95_pct.time <= 100
	and .method == "auto" and .sampling == "designed" and .samples == 12 and .seed == 3' $dir/a > /dev/null
check "and so are their values" $?
jq -e '.time_mape_pct.median < 6 and .power_mape_pct.median < 4' $dir/a > /dev/null
check "a dozen modes of a plain job are enough" $?
$predict --corpus $dir/one.csv --json --seed 4 > $dir/b && ! cmp -s <(jq .time_mape_pct $dir/a) <(jq .time_mape_pct $dir/b)
check "another seed, other modes" $?
$predict --corpus $dir/one.csv --json --reference $dir/other.csv > $dir/a &&
	jq -e ".references == [\"$dir/other.csv\"]" $dir/a > /dev/null
check "references are named" $?
$predict --corpus $dir/served.csv --sampling random --samples 60 --json > $dir/a && jq -e '.time_mape_pct.median < 10' $dir/a > /dev/null
check "batch size is a feature" $?
$predict --corpus $dir/one.csv > $dir/out && grep -q '^time  *[0-9.]* .* %$' $dir/out && grep -q '^power ' $dir/out && grep -q 'seen (designed)' $dir/out
check "a table without --json" $?
twice "optimize is the same from the same seed" $optimize --corpus $dir/one.csv --json
jq -e '[.penalty_pct.median, .penalty_clean_pct.mean, .area_w, .above_limit_pct, .above_limit_1w_pct, .unsolved,
	.modes_profiled, .verify, .risk] | all(. != null)' $dir/a > /dev/null
check "its keys are those of the contract" $?
for what in nan -5 0; do
	awk -F, -v OFS=, -v v=$what 'NR == 9 { $6 = v } 1' $dir/one.csv > $dir/bad.csv
	refused "a time of $what is no measurement" 'line 9' $predict --corpus $dir/bad.csv
done
refused "more samples than rows" 'none is left' $predict --corpus $dir/one.csv --samples 500
refused "a method that is none" 'did you mean auto' $predict --corpus $dir/one.csv --method auot
refused "powertrain without a reference" 'needs a reference' $predict --corpus $dir/one.csv --method powertrain
twice "search is the same twice" $search --corpus $dir/one.csv
jq -e '.violations == 0 and .unsolved == 0 and .excess_pct.mean < 3 and .excess_clean_pct.median != null and .excess_pct.p90 != null
	and .modes_profiled.max <= 12 and .measurements > 0 and .compute_ms > 0' $dir/a > /dev/null
check "a good mode from a dozen of them, and never one over the budget" $?
$search --infer $dir/served.csv --latency 100:300:100 --arrival 20:40:20 > $dir/a && jq -e '.queries == 24 and .violations == 0
	and .solved_pct == 100 and .latency_excess_pct.median < 2' $dir/a > /dev/null
check "inference within two limits" $?
twice "schedule is the same from the same seed" $schedule --train $dir/one.csv --infer $dir/served.csv --reuse
jq -e '.violations == 0 and .throughput_ratio.mean > 0.9 and .throughput_ratio.median <= 1 and .reuse.throughput_ratio.mean > 0.9
	and .reuse.modes_total < 12 * .queries and .reuse.queries < .queries' $dir/a > /dev/null
check "training beside inference, and what is kept helps" $?
for strategy in gmd als; do
	$schedule --strategy $strategy --modes 10 --infer $dir/served.csv --infer $dir/served.csv > $dir/a &&
		jq -e '.violations == 0 and .modes_profiled.max <= 10 and .latency_excess_pct.mean != null' $dir/a > /dev/null
	check "two inferences by $strategy" $?
done
refused "one workload too few" 'two workloads' $schedule --train $dir/one.csv
refused "a training file as inference" 'several batch sizes' $search --corpus $dir/served.csv
exit $failed
