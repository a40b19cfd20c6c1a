#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check predict and optimize with a profile as input, which need no board, no kernel module and no
# privilege.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-predict
. tests/host/check.inc

# Print the rows of 36 modes of a simulated job. $1: batch sizes.
made()
{
	awk -v sizes="$1" 'BEGIN {
		k = split(sizes, size, " ")
		print "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w"
		for (s = 1; s <= k; s++) for (c = 4; c <= 12; c += 4) for (g = 3; g <= 13; g += 2) for (m = 1; m <= 2; m++)
			printf "%d,%d,%d,%d,%d,%.3f,%.3f\n", c, 500000 + 100000 * g, g * 1e8, m * 1.6e9,
				size[s], size[s] * (2 + 30 / g + 4 / m), 8 + c / 4 + g * g / 9 + m
	}'
}

# Read the names of all predictors from the error message for a wrong name.
methods=$(build/jetwatt predict --method rnd 2>&1 | sed -n 's/,//g; s/ or / /; s/.*fix: --method //p')

echo 1..$((54 + 2 * $(wc -w <<< "$methods")))
made 16 > $d/one.csv
made "16 32" > $d/two.csv
cut -d, -f1-4 $d/one.csv > $d/modes.csv
build/jetwatt predict --profile $d/one.csv --modes $d/modes.csv -o $d/out.csv > $d/out 2> $d/err
check "a profile predicts its modes" "[ $? = 0 ] && [ \$(wc -l < $d/out.csv) = 37 ] && [ ! -s $d/err ]"
build/jetwatt predict --profile $d/two.csv --modes $d/modes.csv > $d/out 2> $d/err
check "two batch sizes: every mode is predicted for both" "[ $? = 0 ] && grep -q ' batch 32' $d/out && grep -q '^72 modes' $d/out"
truth() { awk -F, -v b=$1 'NR > 1 { print b * (2 + 30 / ($3 / 1e8) + 4 / ($4 > 2e9 ? 2 : 1)) }' $d/one.csv; }
near() { paste <(jq ".modes[].time_ms" $d/out) <(truth $1) | awk -v most=$2 '{ d = $1 / $2 - 1; if (d < 0) d = -d; s += d } END { print "# error", s / NR; exit !(NR == 36 && s / NR < most) }'; }
build/jetwatt predict --profile $d/two.csv --modes $d/modes.csv --batch 32 --json > $d/out 2> $d/err
check "--batch selects one of them" "[ $? = 0 ] && jq -e 'all(.modes[]; .batch == 32)' $d/out > /dev/null && near 32 0.02"
build/jetwatt predict --profile $d/two.csv --modes $d/modes.csv --batch 24 --json --save-model $d/sizes > $d/out 2> $d/err
check "a batch size between them is predicted" "[ $? = 0 ] && near 24 0.05 && jq -e 'all(.modes[]; .beyond | not)' $d/out > /dev/null"
build/jetwatt predict --model $d/sizes --modes $d/modes.csv --batch 24 --json > $d/again 2> $d/err
check "a model file keeps the batch size as a feature" "[ $? = 0 ] && cmp $d/out $d/again"
build/jetwatt predict --profile $d/two.csv --modes $d/modes.csv -o $d/out.csv --quiet 2> $d/err
check "predictions have a column of the batch size" "[ $? = 0 ] && [ \"\$(cut -d, -f5 $d/out.csv | sort | uniq -c | tr -s ' \n' ' ')\" = ' 36 16 36 32 1 batch ' ]"
made "$(seq -s ' ' 33)" | awk 'NR % 8 == 1' > $d/sizes.csv
build/jetwatt predict --profile $d/sizes.csv --modes $d/modes.csv > $d/out 2> $d/err
check "more than 32 batch sizes are refused" "[ $? = 2 ] && grep -q 'more than 32 minibatch sizes' $d/err && [ ! -s $d/out ]"
build/jetwatt predict --profile $d/sizes.csv --modes $d/modes.csv --batch 32 --json > $d/out 2> $d/err
check "unless --batch selects one of them" "[ $? = 0 ] && near 32 0.05"
build/jetwatt predict --profile $d/one.csv --modes $d/modes.csv --batch 32 > $d/out 2> $d/err
check "with one batch size, others are refused" "[ $? = 2 ] && grep -q 'the same minibatch size' $d/err && [ ! -s $d/out ]"
build/jetwatt optimize --power 14 --profile $d/one.csv --reuse > $d/out 2> $d/err
check "optimize refuses --reuse without a job" "[ $? = 2 ] && grep -q -- '--reuse.* need a job' $d/err && [ ! -s $d/out ]"
build/jetwatt optimize --power 14 --profile $d/two.csv --modes $d/modes.csv > $d/out 2> $d/err
check "optimize refuses a profile with several batch sizes" "[ $? = 1 ] && grep -q 'several batch sizes' $d/err && [ ! -s $d/out ]"
build/jetwatt predict --profile $d/modes.csv --modes $d/modes.csv > $d/out 2> $d/err
check "a list of modes is refused as a profile" "[ $? != 0 ] && [ -s $d/err ]"
build/jetwatt optimize --power 14 --profile $d/one.csv --modes $d/modes.csv --json - > $d/out 2> $d/err
check "optimize chooses a mode from a profile" "[ $? = 0 ] && jq -e '.chosen.measured_power_w <= 14' $d/out > /dev/null"
best=$(awk -F, 'NR > 1 && $7 <= 14 && (!t || $6 < t) { t = $6 } END { print t }' $d/one.csv)
check "the chosen mode is the fastest within the budget" "jq -e '.chosen.measured_time_ms <= 1.05 * $best' $d/out > /dev/null"
jq -r '.chosen | [.cores, .cpu_khz, .gpu_hz, .emc_hz, 16, .measured_time_ms, 27.98 - .measured_power_w] | map(tostring) | join(",")' \
	$d/out | cat $d/one.csv - > $d/twice.csv
build/jetwatt optimize --power 14 --profile $d/twice.csv --modes $d/modes.csv --minibatches 1000 --json - > $d/out 2> $d/err
check "of a mode that was measured twice, the result has the mean, by which it was chosen" \
	"[ $? = 0 ] && jq -e '(.chosen.measured_power_w - 13.99 | fabs) < 1e-3 and (.total.energy_j - .chosen.measured_time_ms * .chosen.measured_power_w | fabs) < 1e-2 * .total.energy_j' $d/out > /dev/null"
build/jetwatt optimize --power 2 --profile $d/one.csv --modes $d/modes.csv > $d/out 2> $d/err
check "an impossible budget: status 3, and the closest mode is named" "[ $? = 3 ] && grep -q 'closest' $d/err"
ask="build/jetwatt optimize --profile $d/one.csv --modes $d/modes.csv"
for opt in "-o $d/unused.csv" "--most 5" "--verify 1"; do
	$ask --power 14 $opt > $d/out 2> $d/err
	check "optimize from a profile refuses ${opt%% *}" "[ $? = 2 ] && grep -q 'need a job' $d/err && [ ! -s $d/out ]"
done
$ask --time-ms 400 --json - > $d/out 2> $d/err
least=$(awk -F, 'NR > 1 && $6 <= 400 && (!w || $7 < w) { w = $7 } END { print w }' $d/one.csv)
check "lowest power within a time limit" "[ $? = 0 ] && jq -e '.chosen.measured_time_ms <= 400 and .chosen.measured_power_w <= 1.05 * $least' $d/out > /dev/null"
$ask --power 30 --least energy --minibatches 1000 --json - > $d/out 2> $d/err
least=$(awk -F, 'NR > 1 && (!e || $6 * $7 < e) { e = $6 * $7 } END { print e }' $d/one.csv)
check "lowest energy within a budget, with the total of an epoch" "[ $? = 0 ] && jq -e '.total.energy_j <= 1.05 * $least and .total.minibatches == 1000' $d/out > /dev/null"
$ask --power 12 --time-ms 176 > $d/out 2> $d/err
check "two impossible limits: the excess and possible limits are reported" "[ $? = 3 ] && grep -q 'W over, .* ms over' $d/err && grep -q 'fix: --' $d/err"
more=$(sed -n 's/.*fix: .*--time-ms \([0-9.]*\).*/\1/p' $d/err)
$ask --power 12 --time-ms "$more" > $d/out 2> $d/err
check "the reported limits are possible" "[ $? = 0 ]"
$ask --power 14 --front > $d/out 2> $d/err
check "the Pareto front has fewer modes than the grid" "[ $? = 0 ] && on=\$(sed -n 's/^the front, \([0-9]*\) of 36 modes/\1/p' $d/out) && [ \$on -gt 1 ] && [ \$on -lt 36 ]"
$ask --power 14 --risk 5% > $d/out 2> $d/err
check "a number without a unit that is none is refused as such" "[ $? = 2 ] && grep -q -- '--risk: \"5%\" is not a number$' $d/err"
build/jetwatt profile -p 1 --json $d > $d/out 2> $d/err
check "a directory as the file of the result is refused before the measurement" "[ $? = 1 ] && grep -q 'Is a directory' $d/err"
$ask > $d/out 2> $d/err
check "a query without a limit is refused" "[ $? = 2 ] && [ ! -s $d/out ]"
$ask --power 14 --least noise > $d/out 2> $d/err
check "an unknown objective is refused" "[ $? = 2 ] && grep -q 'time, power or energy' $d/err"
made 16 | awk -F, 'NR == 1 || NR % 3 == 2' > $d/few.csv
say="build/jetwatt predict --modes $d/modes.csv --json"
$say --profile $d/few.csv --save-model $d/model > $d/out 2> $d/err && $say --model $d/model > $d/again 2>> $d/err
check "a saved model predicts the same" "[ $? = 0 ] && [ \$(jq '.modes | length' $d/again) = 36 ] && cmp $d/out $d/again && [ \$(wc -c < $d/model) -lt 4096 ]"
rm -f $d/pipe
mkfifo $d/pipe
cat $d/pipe > $d/again &
$say --profile $d/few.csv --save-model $d/pipe > $d/out 2> $d/err
check "a pipe is not replaced by the model but gets it" "[ $? = 0 ] && [ -p $d/pipe ] && wait $! && cmp $d/model $d/again"
kill $! 2> /dev/null
head -c 300 $d/model > $d/short
$say --model $d/short > $d/out 2> $d/err
check "a truncated model is refused" "[ $? = 1 ] && grep -q 'is not a model file' $d/err && [ ! -s $d/out ]"
awk -F, 'NR == 1 || $3 < 8e8' $d/one.csv > $d/low.csv
$say --profile $d/low.csv > $d/out 2> $d/err
check "predictions outside the range of the profile are flagged" "[ \$(jq '[.modes[] | select(.beyond)] | length' $d/out) = 18 ]"
ask1="build/jetwatt optimize --power 16 --profile $d/single.csv --modes $d/modes.csv"
$say --profile $d/few.csv --reference $d/one.csv > $d/out 2> $d/err
check "a reference profile is accepted" "[ $? = 0 ] && [ \$(jq '.modes | length' $d/out) = 36 ]"
made 16 | awk -F, 'NR < 3' > $d/single.csv
$ask1 --reference $d/one.csv --json - > $d/out 2> $d/err
check "with a reference, one row is enough for optimize" "[ $? = 0 ] && jq -e '.chosen' $d/out > /dev/null"
$ask1 > $d/out 2> $d/err
check "without a reference, one row is refused" "[ $? = 1 ] && grep -q 'fewer than 3' $d/err"
awk -F, -v OFS=, 'NR > 1 { $3 *= 1.05 } 1' $d/one.csv > $d/foreign.csv
$ask1 --reference $d/foreign.csv > $d/out 2> $d/err
check "optimize leaves out a reference from another kind of board" "[ $? = 1 ] && grep -q 'foreign.csv is left out' $d/err && grep -q 'fewer than 3' $d/err"
$ask1 --reference $d/modes.csv > $d/out 2> $d/err
check "a list of modes is refused as a reference" "[ $? = 1 ] && grep -q 'was not measured' $d/err && [ ! -s $d/out ]"
build/jetwatt optimize --power 20 --profile $d/one.csv --modes $d/modes.csv --explain > $d/out 2> $d/err
check "the result is explained" "[ $? = 0 ] && grep -q '^why: [0-9]* % of the time depends on' $d/out && grep -q 'One level down: ' $d/out"
check "in lines of at most 80 columns" "awk 'length() > 80 { print; bad = 1 } END { exit bad }' $d/out"
{
	echo '< PARAM TYPE=FILE NAME=GPU_POWER_GATING >'
	echo 'TPC_PG_MASK /sys/devices/17000000.gpu/tpc_pg_mask'
	echo '< POWER_MODEL ID=1 NAME=MODE_15W_DESKTOP >'
	echo 'GPU_POWER_GATING TPC_PG_MASK 48'
	echo '< PM_CONFIG DEFAULT=1 >'
} > $d/presets
build/jetwatt optimize --power 20 --profile $d/one.csv --modes $d/modes.csv --presets $d/presets > $d/out 2> $d/err
check "the line of a preset that gates parts of the GPU has at most 80 columns" \
	"[ $? = 0 ] && grep -q 'MODE_15W_DESKTOP .*not comparable' $d/out && awk 'length() > 80 { print; bad = 1 } END { exit bad }' $d/out"
build/jetwatt optimize --power 20 --profile $d/one.csv --modes $d/modes.csv --explain --json - > $d/out 2> $d/err
check "the explanation is in the JSON" "[ $? = 0 ] && jq -e '([.explain.share[]] | add) as \$all | \$all > 0.999 and \$all < 1.001 and (.explain | .share[.binds] == ([.share[]] | max)) and (.chosen as \$c | all(.explain.steps[]; .gpu_hz == \$c.gpu_hz and (.cores != \$c.cores) != (.emc_hz != \$c.emc_hz)))' $d/out > /dev/null"

# Use every predictor by its name, in predict and optimize.
for method in $methods; do
	with="--method $method"
	[ $method != powertrain ] || with="$with --reference $d/one.csv"
	$say --profile $d/few.csv $with > $d/out 2> $d/err
	check "$method predicts every mode with its uncertainty" "[ $? = 0 ] && jq -e '.method == \"$method\" and (.modes | length == 36 and all(.time_sd > 0 and .power_sd > 0))' $d/out > /dev/null"
	build/jetwatt optimize --power 16 --risk 0.1 --profile $d/few.csv --modes $d/modes.csv $with --json - > $d/out 2> $d/err
	check "$method: optimize chooses a mode within the budget" "[ $? = 0 ] && w=\$(jq -r '.chosen | [.cores, .cpu_khz, .gpu_hz, .emc_hz] | join(\",\")' $d/out) && grep \"^\$w,\" $d/one.csv | awk -F, '{ exit !(\$7 <= 16) }'"
done
ours=$(build/jetwatt predict --profile $d/few.csv --modes $d/modes.csv | md5sum)
check "auto is the default" "[ '$ours' = \"\$(build/jetwatt predict --method auto --profile $d/few.csv --modes $d/modes.csv | grep -v '^method auto: ' | md5sum)\" ]"
no() { build/jetwatt "${@:3}" > $d/out 2> $d/err; check "$1" "[ $? = 2 ] && [ ! -s $d/out ] && grep -q '$2' $d/err && grep -q '^  fix: ' $d/err"; }
one="--profile $d/one.csv --modes $d/modes.csv"
no "an unknown method: the methods are listed" 'why: the methods are auto, .* or maxn' predict $one --method help
no "a method without predictions is refused" 'makes no predictions' optimize --power 14 $one --method maxn
no "a method that needs a reference is refused without one" 'needs a reference' predict $one --method powertrain
no "a reference is refused by a method that cannot use it" 'does not use references' predict $one --method linreg --reference $d/one.csv
no "several minibatch sizes are refused by a method without that feature" 'several minibatch sizes' predict --profile $d/two.csv --modes $d/modes.csv --method linreg
no "a method without a file format cannot save a model" 'cannot be saved to a file' predict $one --method nn --save-model $d/none
no "a model of another method is refused" 'is of method auto, not nn' predict --model $d/model --modes $d/modes.csv --method nn
no "a reference is refused with a model file" 'cannot be combined' predict --model $d/model --modes $d/modes.csv --reference $d/one.csv
no "a profile from another kind of board is refused" 'another kind of board' optimize --power 14 --profile $d/foreign.csv --modes $d/modes.csv
no "--apply is refused with --dry-run" 'cannot be combined with --dry-run' optimize --power 14 $one --apply --dry-run
no "gmd with a predictor is refused" 'cannot be combined with --strategy gmd' profile --method nn --strategy gmd --power 20 -- true
build/jetwatt optimize --power 20 --profile $d/one.csv --modes $d/modes.csv --explain --method linreg --json - > $d/out 2> $d/err
check "effects of levels are reported without a bottleneck" "[ $? = 0 ] && jq -e '.explain.binds == null and (.explain.steps | length > 0)' $d/out > /dev/null"
exit $failed
