#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the JSON output of jetwatt eval is as documented, and that invalid input is refused.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-eval
. tests/host/check.inc

# Print the rows of 288 modes of a simulated job. $1: batch sizes, $2: factor of the job's work.
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

# twice TEXT COMMAND...: check that two runs of COMMAND have the same output, except for the run
# time.
twice()
{
	local strip='del(.fit_ms, .predict_ms, .compute_ms, .compute_max_ms, .exhaust_ms, .reuse.compute_ms?, .reuse.compute_max_ms?, .reuse.exhaust_ms?)'
	"${@:2}" > $d/a 2> $d/err && "${@:2}" > $d/b 2>> $d/err &&
		[ "$(jq -S "$strip" $d/a)" = "$(jq -S "$strip" $d/b)" ]
	result "$1" $?
}

refused()	# TEXT WHY COMMAND...
{
	"${@:3}" > $d/out 2> $d/err
	[ $? != 0 ] && [ ! -s $d/out ] && grep -q "$2" $d/err
	result "$1" $?
}

made 16 3 > $d/one.csv
made 16 1 > $d/other.csv
made "1 16 64" 1 > $d/served.csv
awk -F, -v OFS=, 'NR > 1 { $3 *= 1.05 } 1' $d/other.csv > $d/foreign.csv
predict="build/jetwatt eval predict --repeats 2 --samples 12 --seed 3"
optimize="build/jetwatt eval optimize --repeats 2 --samples 12 --seed 3 --budgets 14:26:4"

search="build/jetwatt eval search --budgets 14:26:4 --modes 12 --json"
schedule="build/jetwatt eval schedule --queries 12 --seed 3 --json"

# All methods that make predictions, as the error message lists them
methods=$(build/jetwatt predict --profile $d/one.csv --method rnd 2>&1 | sed -n 's/.*--method //p' | sed 's/,//g; s/ or / /')
echo 1..$((40 + $(wc -w <<< $methods)))
twice "predict is deterministic with a seed" $predict --corpus $d/one.csv --json
keys='corpus coverage95_pct fit_ms method power_mape_pct predict_ms references repeats samples sampling seed time_mape_pct'
[ "$(jq -r 'keys | join(" ")' $d/a)" = "$keys" ]
result "predict --json has the documented keys" $?
jq -e '(.time_mape_pct, .power_mape_pct | .q1 <= .median and .median <= .q3) and .coverage95_pct.time <= 100
	and .method == "auto" and .sampling == "designed" and .samples == 12 and .seed == 3' $d/a > /dev/null
result "the values of the keys have their documented types" $?
jq -e '.time_mape_pct.median < 6 and .power_mape_pct.median < 4' $d/a > /dev/null
result "twelve modes of a simple job are enough" $?
$predict --corpus $d/one.csv --json --seed 4 > $d/b && ! cmp -s <(jq .time_mape_pct $d/a) <(jq .time_mape_pct $d/b)
result "another seed selects other modes" $?
$predict --corpus $d/one.csv --json --reference $d/other.csv > $d/a &&
	jq -e ".references == [\"$d/other.csv\"]" $d/a > /dev/null
result "the references are listed" $?
$search --corpus $d/one.csv > $d/a && $search --corpus $d/one.csv --reference $d/foreign.csv > $d/b 2> $d/err &&
	jq -se '.[1].references == [] and .[0].excess_pct == .[1].excess_pct' $d/a $d/b > /dev/null &&
	grep -q 'foreign.csv is left out: its GPU clocks' $d/err
result "a search leaves out a reference from another kind of board, with a notice" $?
awk -F, 'NR == 1 || $3 % 4e8 == 1e8' $d/other.csv > $d/third.csv
$search --corpus $d/one.csv --reference $d/third.csv > $d/b 2> $d/err && [ ! -s $d/err ] &&
	jq -e '.references | length == 1' $d/b > /dev/null
result "a reference with a third of the board's GPU clocks is used" $?
$predict --corpus $d/served.csv --sampling random --samples 60 --json > $d/a && jq -e '.time_mape_pct.median < 10' $d/a > /dev/null
result "batch size is a feature" $?
$predict --corpus $d/one.csv > $d/out && grep -q '^time  *[0-9.]* .* %$' $d/out && grep -q '^power ' $d/out && grep -q '^auto: fitted to 12 of 288 modes (designed)' $d/out
result "without --json, a table is printed" $?
twice "optimize is deterministic with a seed" $optimize --corpus $d/one.csv --json
jq -e '[.penalty_pct.median, .penalty_clean_pct.mean, .area_w, .above_limit_pct, .above_limit_1w_pct, .unsolved,
	.modes_profiled, .verify, .risk] | all(. != null)' $d/a > /dev/null
result "optimize --json has the documented keys" $?
for range in 14:26:4=4 14:24:4=3 14:19.9:2=3 14:15:0.1=11; do
	build/jetwatt eval optimize --method maxn --corpus $d/one.csv --budgets ${range%=*} > $d/out 2> $d/err &&
		grep -q " 10 repeats; ${range#*=}0 queries, " $d/out || break
done
[ $range = 14:15:0.1=11 ] && [ -s $d/out ] && grep -q '; 110 queries, ' $d/out
result "no budget is above the upper end of --budgets" $?
for what in nan -5 0; do
	awk -F, -v OFS=, -v v=$what 'NR == 9 { $6 = v } 1' $d/one.csv > $d/bad.csv
	refused "a time of $what is refused" 'line 9' $predict --corpus $d/bad.csv
done
# Profiles with degenerate rows: the same time and power in all rows, every mode twice, or
# every mode with two different results.
awk -F, -v OFS=, 'NR > 1 { $6 = 100; $7 = 20 } 1' $d/one.csv > $d/alike.csv
awk '1; NR > 1' $d/one.csv > $d/doubled.csv
awk -F, -v OFS=, 'NR == 1; NR > 1 { print; $6 *= 5; $7 /= 3; print }' $d/one.csv > $d/torn.csv
for method in $methods; do
	for rows in alike doubled torn; do
		build/jetwatt eval predict --method $method --repeats 1 --samples 12 --corpus $d/$rows.csv --json \
			$([ $method != powertrain ] || echo --reference $d/other.csv) > $d/$method.$rows 2> $d/err ||
			{ echo "# $rows: $(head -n 1 $d/err)"; false; }
	done && jq -es 'all(.[]; .time_mape_pct.median < 1e4 and .power_mape_pct.median < 1e4) and
		.[0].time_mape_pct.median < 15 and .[0].power_mape_pct.median < 15' $d/$method.{alike,doubled,torn} > /dev/null
	result "$method with equal, duplicate and contradictory rows" $?
done
jq -es '.[1].time_mape_pct.median < 6 and .[1].power_mape_pct.median < 4 and .[2].coverage95_pct.time > 30' $d/auto.{alike,doubled,torn} > /dev/null
result "auto: duplicate rows do no harm, contradictory rows give wide intervals" $?
head -n 2 $d/one.csv > $d/single.csv
refused "a single row is refused" 'no row is left' $predict --corpus $d/single.csv
refused "more samples than rows are refused" 'no row is left' $predict --corpus $d/one.csv --samples 500
refused "an empty number of samples is refused" 'no number' $predict --corpus $d/one.csv --samples "${none-}"
refused "an unknown method is refused" 'did you mean auto' $predict --corpus $d/one.csv --method auot
refused "powertrain without a reference is refused" 'needs a reference' $predict --corpus $d/one.csv --method powertrain
twice "search is deterministic" $search --corpus $d/one.csv
jq -e '.violations == 0 and .unsolved == 0 and .excess_pct.mean < 3 and .excess_clean_pct.median != null and .excess_pct.p90 != null
	and .modes_profiled.max <= 12 and .measurements > 0 and .compute_ms > 0' $d/a > /dev/null
result "twelve measured modes give a good mode, never one over the budget" $?
$search --infer $d/served.csv --latency 100:300:100 --arrival 20:40:20 > $d/a && jq -e '.queries == 24 and .violations == 0
	and .solved_pct == 100 and .latency_excess_pct.median < 2' $d/a > /dev/null
result "inference stays within two limits" $?
twice "schedule is deterministic with a seed" $schedule --train $d/one.csv --infer $d/served.csv --reuse
jq -e '.violations == 0 and .throughput_ratio.mean > 0.9 and .throughput_ratio.median <= 1 and .reuse.throughput_ratio.mean > 0.9
	and .reuse.modes_total < 12 * .queries and .reuse.queries < .queries' $d/a > /dev/null
result "training and inference: stored measurements help later queries" $?
for strategy in gmd als; do
	$schedule --strategy $strategy --modes 10 --infer $d/served.csv --infer $d/served.csv > $d/a &&
		jq -e '.violations == 0 and .modes_profiled.max <= 10 and .latency_excess_pct.mean != null' $d/a > /dev/null
	result "two inferences by $strategy" $?
done
refused "one workload instead of two is refused" 'two workloads' $schedule --train $d/one.csv
refused "a training profile is refused for inference" 'several batch sizes' $search --corpus $d/served.csv

# A trace of request rates: two increases, one decrease, and a line with nearly the same rate.
printf '# made up\n60 20\n60 40\n60,40.1\n\n60 80\n60 20\n' > $d/trace
follow="build/jetwatt eval schedule --train $d/one.csv --infer $d/served.csv --latency 2000"
$follow --budgets 24 --trace $d/trace --json > $d/out 2> $d/err &&
	jq -e '.windows == 5 and .seconds == 300 and .replans == 4 and .requests == 12006
		and .inside == .feasible and .inside_pct == 100 and .slo_missed_pct >= 0 and .slo_missed_pct < 100
		and .energy_j > 300 * 5 and .energy_j < 300 * 24 and .idle_s >= 0 and .idle_s < 300' $d/out > /dev/null
result "the plan follows a changing request rate" $?
printf '60 40\n600 40\n' > $d/steady
$follow --budgets 24 --trace $d/steady --json > $d/out 2> $d/err &&
	jq -e '.replans == 1 and .slo_missed_pct == 0' $d/out > /dev/null
result "the plan stays while the rate stays" $?
$follow --budgets 24 --trace $d/steady --measuring 1 --json > $d/out 2> $d/err &&
	jq -e '.measuring_s == .measurements and .requests == 26400 and .inside == 2
		and ((.slo_missed_pct / 100 * 660 - .measuring_s) | fabs < 0.01)' $d/out > /dev/null
result "requests during a measurement are answered late" $?
$follow --budgets 24 --trace $d/steady --measuring 4 --json > $d/out 2> $d/err &&
	jq -e '.measuring_s == 4 * .measurements and .feasible == 2 and .inside == 1' $d/out > /dev/null
result "a window that ends with its measurement has no plan" $?
printf '60 100000\n60 1\n' > $d/rush
build/jetwatt eval schedule --infer $d/served.csv --infer $d/served.csv --latency 2000 --budgets 24 --trace $d/rush \
	--json > $d/out 2> $d/err &&
	jq -e '.requests == 2 * 60 * 100001 and .feasible == 1 and .slo_missed_pct > 99.9' $d/out > /dev/null
result "without a plan, the requests of both servers are missed" $?
printf '60 40\n60 forty\n' > $d/bad
refused "a malformed trace is refused" 'line 2' $follow --budgets 24 --trace $d/bad
refused "a negative time in a trace is refused" 'line 1' $follow --budgets 24 --trace <(echo -1 40)
refused "a missing trace is refused" 'No such file' $follow --budgets 24 --trace $d/none
refused "a trace with a range of budgets is refused" 'a single budget' $follow --trace $d/trace
exit $failed
