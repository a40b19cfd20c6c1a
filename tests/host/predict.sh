#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# predict and optimize from a file alone: no board, no module, no privilege.
cd "$(dirname "$0")/../.." || exit 1
dir=build/check-predict n=0 failed=0
mkdir -p $dir

check()	# TEXT COMMAND
{
	n=$((n + 1))
	if eval "$2"; then echo "ok $n $1"; else echo "not ok $n $1"; failed=1; fi
}

# 36 modes of a made-up job, from a rule of thumb; $1: batch sizes.
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

echo 1..28
made 16 > $dir/one.csv
made "16 32" > $dir/two.csv
cut -d, -f1-4 $dir/one.csv > $dir/modes.csv
build/jetwatt predict --profile $dir/one.csv --modes $dir/modes.csv -o $dir/out.csv > $dir/out 2> $dir/err
check "a profile predicts its modes" "[ $? = 0 ] && [ \$(wc -l < $dir/out.csv) = 37 ] && [ ! -s $dir/err ]"
build/jetwatt predict --profile $dir/two.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "two batch sizes: each mode at both" "[ $? = 0 ] && grep -q ' batch 32' $dir/out && grep -q '^72 modes' $dir/out"
truth() { awk -F, -v b=$1 'NR > 1 { print b * (2 + 30 / ($3 / 1e8) + 4 / ($4 > 2e9 ? 2 : 1)) }' $dir/one.csv; }
near() { paste <(jq ".modes[].time_ms" $dir/out) <(truth $1) | awk -v most=$2 '{ d = $1 / $2 - 1; if (d < 0) d = -d; s += d } END { print "# error", s / NR; exit !(NR == 36 && s / NR < most) }'; }
build/jetwatt predict --profile $dir/two.csv --modes $dir/modes.csv --batch 32 --json > $dir/out 2> $dir/err
check "one of them alone" "[ $? = 0 ] && jq -e 'all(.modes[]; .batch == 32)' $dir/out > /dev/null && near 32 0.02"
build/jetwatt predict --profile $dir/two.csv --modes $dir/modes.csv --batch 24 --json --save-model $dir/sizes > $dir/out 2> $dir/err
check "and one in between" "[ $? = 0 ] && near 24 0.05 && jq -e 'all(.modes[]; .beyond | not)' $dir/out > /dev/null"
build/jetwatt predict --model $dir/sizes --modes $dir/modes.csv --batch 24 --json > $dir/again 2> $dir/err
check "a model file keeps the feature" "[ $? = 0 ] && cmp $dir/out $dir/again"
build/jetwatt predict --profile $dir/two.csv --modes $dir/modes.csv -o $dir/out.csv --quiet 2> $dir/err
check "predictions name the size" "[ $? = 0 ] && [ \"\$(cut -d, -f5 $dir/out.csv | sort | uniq -c | tr -s ' \n' ' ')\" = ' 36 16 36 32 1 batch ' ]"
build/jetwatt predict --profile $dir/one.csv --modes $dir/modes.csv --batch 32 > $dir/out 2> $dir/err
check "of one size nothing is known of others" "[ $? = 2 ] && grep -q 'one minibatch size' $dir/err && [ ! -s $dir/out ]"
build/jetwatt optimize --power 14 --profile $dir/two.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "optimize takes no two jobs for one" "[ $? = 1 ] && grep -q 'several batch sizes' $dir/err && [ ! -s $dir/out ]"
build/jetwatt predict --profile $dir/modes.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "a list of modes is no profile" "[ $? != 0 ] && [ -s $dir/err ]"
build/jetwatt optimize --power 14 --profile $dir/one.csv --modes $dir/modes.csv --json - > $dir/out 2> $dir/err
check "optimize answers from a profile" "[ $? = 0 ] && jq -e '.chosen.measured_power_w <= 14' $dir/out > /dev/null"
best=$(awk -F, 'NR > 1 && $7 <= 14 && (!t || $6 < t) { t = $6 } END { print t }' $dir/one.csv)
check "with the fastest of its modes within the budget" "jq -e '.chosen.measured_time_ms <= 1.05 * $best' $dir/out > /dev/null"
build/jetwatt optimize --power 2 --profile $dir/one.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "a budget that no mode meets: exit 3, the closest named" "[ $? = 3 ] && grep -q 'closest' $dir/err"
ask="build/jetwatt optimize --profile $dir/one.csv --modes $dir/modes.csv"
$ask --time-ms 400 --json - > $dir/out 2> $dir/err
least=$(awk -F, 'NR > 1 && $6 <= 400 && (!w || $7 < w) { w = $7 } END { print w }' $dir/one.csv)
check "least power within a time" "[ $? = 0 ] && jq -e '.chosen.measured_time_ms <= 400 and .chosen.measured_power_w <= 1.05 * $least' $dir/out > /dev/null"
$ask --power 30 --least energy --minibatches 1000 --json - > $dir/out 2> $dir/err
least=$(awk -F, 'NR > 1 && (!e || $6 * $7 < e) { e = $6 * $7 } END { print e }' $dir/one.csv)
check "least energy within a budget, and the total of an epoch" "[ $? = 0 ] && jq -e '.total.energy_j <= 1.05 * $least and .total.minibatches == 1000' $dir/out > /dev/null"
$ask --power 12 --time-ms 176 > $dir/out 2> $dir/err
check "two limits that no mode keeps: by how much, and what would do" "[ $? = 3 ] && grep -q 'W over, .* ms over' $dir/err && grep -q 'fix: --' $dir/err"
more=$(sed -n 's/.*fix: .*--time-ms \([0-9.]*\).*/\1/p' $dir/err)
$ask --power 12 --time-ms "$more" > $dir/out 2> $dir/err
check "and that does" "[ $? = 0 ]"
$ask --power 14 --front > $dir/out 2> $dir/err
check "the front, fewer modes than there are" "[ $? = 0 ] && on=\$(sed -n 's/^the front, \([0-9]*\) of 36 modes/\1/p' $dir/out) && [ \$on -gt 1 ] && [ \$on -lt 36 ]"
$ask > $dir/out 2> $dir/err
check "no limit is no question" "[ $? = 2 ] && [ ! -s $dir/out ]"
$ask --power 14 --least noise > $dir/out 2> $dir/err
check "nor is a goal that is none" "[ $? = 2 ] && grep -q 'time, power or energy' $dir/err"
made 16 | awk -F, 'NR == 1 || NR % 3 == 2' > $dir/few.csv
say="build/jetwatt predict --modes $dir/modes.csv --json"
$say --profile $dir/few.csv --save-model $dir/model > $dir/out 2> $dir/err && $say --model $dir/model > $dir/again 2>> $dir/err
check "a saved model predicts what it did" "[ $? = 0 ] && [ \$(jq '.modes | length' $dir/again) = 36 ] && cmp $dir/out $dir/again && [ \$(wc -c < $dir/model) -lt 4096 ]"
head -c 300 $dir/model > $dir/short
$say --model $dir/short > $dir/out 2> $dir/err
check "half a model is refused" "[ $? = 1 ] && grep -q 'holds no model' $dir/err && [ ! -s $dir/out ]"
awk -F, 'NR == 1 || $3 < 8e8' $dir/one.csv > $dir/low.csv
$say --profile $dir/low.csv > $dir/out 2> $dir/err
check "what lies beyond the profile is said to" "[ \$(jq '[.modes[] | select(.beyond)] | length' $dir/out) = 18 ]"
ask1="build/jetwatt optimize --power 16 --profile $dir/single.csv --modes $dir/modes.csv"
$say --profile $dir/few.csv --reference $dir/one.csv > $dir/out 2> $dir/err
check "a reference is taken" "[ $? = 0 ] && [ \$(jq '.modes | length' $dir/out) = 36 ]"
made 16 | awk -F, 'NR < 3' > $dir/single.csv
$ask1 --reference $dir/one.csv --json - > $dir/out 2> $dir/err
check "with one optimize answers from a single row" "[ $? = 0 ] && jq -e '.chosen' $dir/out > /dev/null"
$ask1 > $dir/out 2> $dir/err
check "without it that is too little" "[ $? = 1 ] && grep -q 'fewer than 3' $dir/err"
$ask1 --reference $dir/modes.csv > $dir/out 2> $dir/err
check "a list of modes is no reference" "[ $? = 1 ] && grep -q 'was not measured' $dir/err && [ ! -s $dir/out ]"
build/jetwatt optimize --power 20 --profile $dir/one.csv --modes $dir/modes.csv --explain > $dir/out 2> $dir/err
check "an answer says why" "[ $? = 0 ] && grep -q '^why: [0-9]* % of the time hangs on' $dir/out && grep -q 'A step down: ' $dir/out"
build/jetwatt optimize --power 20 --profile $dir/one.csv --modes $dir/modes.csv --explain --json - > $dir/out 2> $dir/err
check "and does so as JSON" "[ $? = 0 ] && jq -e '([.explain.share[]] | add) as \$all | \$all > 0.999 and \$all < 1.001 and (.explain | .share[.binds] == ([.share[]] | max)) and (.chosen as \$c | all(.explain.steps[]; .gpu_hz == \$c.gpu_hz and (.cores != \$c.cores) != (.emc_hz != \$c.emc_hz)))' $dir/out > /dev/null"
exit $failed
