#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test profile --seed-board: the kernels of a board without references are measured and stored, a
# second run replaces them, and jetwattd uses them for its first job.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 8

DB=$T/profiles.db

# seeded: is each kernel stored with at least six modes, and are only few modes measured twice?
seeded()
{
	run jetwatt list profiles --db "$DB"
	awk '/\[calibration\] / { n++; if ($2 < 6 || $3 > $2 + 2) print "# " $0; else good++ }
	     END { exit !(n == 4 && good == 4) }' "$T/out"
}

knobs > "$T/before"
run jetwatt profile --seed-board --program kernels --most 6 --db "$DB"
exits 0 && shows "24 modes of 4 calibration kernels" && as_before "$T/before" && ! pidof kernels > /dev/null
result $? "four kernels are measured, and the knobs are restored"

seeded && shows "compute" "memory" "balanced" "launches" && narrow
result $? "list profiles shows the four kernels as calibration"

run jetwatt profile --seed-board --program kernels --most 6 --db "$DB" -q
exits 0 && [ ! -s "$T/out" ] && seeded
result $? "a second run replaces the rows of the kernels"

key=$(awk '/\[calibration\] compute/ { print $1 }' "$T/out")
run jetwatt export -f profile "$key" --db "$DB"
exits 0 && [ "$(wc -l < "$T/out")" -ge 7 ] && awk -F, 'NR > 1 && (!gpu[$3]++) { n++ } END { exit n < 3 }' "$T/out"
result $? "export prints the rows of a kernel, with several GPU clocks"

run jetwatt profile --seed-board --program /bin/false --most 6 --db "$DB"
! exits 0 > /dev/null && form && as_before "$T/before" && seeded
result $? "a program that ends at once: an error, and the stored rows stay"

run jetwatt profile --seed-board --program kernels --db none
exits 2 && form && as_before "$T/before"
result $? "--seed-board without a database is refused"

printf 'budget = 30W\ndb = %s\n' "$DB" > "$T/conf"
start
begun=$(now_ns)
train > /dev/null 2>&1 &
train=$!
doing holding 100
took=$(awk -v a="$begun" -v b="$(now_ns)" 'BEGIN { printf "%.0f", (b - a) / 1e9 }')
time=$(of_mode 5) best=$(best 30)
echo "# after $took s: $time ms, the best there is $best"
cp "$T/log" "$T/err"
says " 0 stored readings of its workload, and readings of other workloads"
result $? "jetwattd uses them as references of its first job"
near_best "$time" "$best"
result $? "and finds a mode within 10 % of the best"

kill $train
end
finish
