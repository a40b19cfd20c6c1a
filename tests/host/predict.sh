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

echo 1..6
made 16 > $dir/one.csv
made "16 32" > $dir/two.csv
cut -d, -f1-4 $dir/one.csv > $dir/modes.csv
build/jetwatt predict --profile $dir/one.csv --modes $dir/modes.csv -o $dir/out.csv > $dir/out 2> $dir/err
check "a profile predicts its modes" "[ $? = 0 ] && [ \$(wc -l < $dir/out.csv) = 37 ] && [ ! -s $dir/err ]"
build/jetwatt predict --profile $dir/two.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "a file of two batch sizes is refused" "[ $? = 1 ] && grep -q 'several batch sizes' $dir/err && [ ! -s $dir/out ]"
build/jetwatt predict --profile $dir/modes.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "a list of modes is no profile" "[ $? != 0 ] && [ -s $dir/err ]"
build/jetwatt optimize --power 14 --profile $dir/one.csv --modes $dir/modes.csv --json - > $dir/out 2> $dir/err
check "optimize answers from a profile" "[ $? = 0 ] && jq -e '.chosen.measured_power_w <= 14' $dir/out > /dev/null"
best=$(awk -F, 'NR > 1 && $7 <= 14 && (!t || $6 < t) { t = $6 } END { print t }' $dir/one.csv)
check "with the fastest of its modes within the budget" "jq -e '.chosen.measured_time_ms <= 1.05 * $best' $dir/out > /dev/null"
build/jetwatt optimize --power 2 --profile $dir/one.csv --modes $dir/modes.csv > $dir/out 2> $dir/err
check "a budget that no mode meets: exit 3, the closest named" "[ $? = 3 ] && grep -q 'closest' $dir/err"
exit $failed
