#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test profile and optimize: their results must agree with the plant, and they must restore the
# knobs in all cases.
. "${0%/*}/common.inc"
plan 20

knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
sleep 2

run jetwatt optimize --power 30W -p $train --json "$T/json" --predictions "$T/p.csv"
exits 0 && narrow && shows "measured" "budget 30 W"
result $? "optimize finds a mode under 30 W and prints the result"

now=$(grep power_uw_ $TRUTH/now | awk '{ s += $2 } END { print s / 1e6 }')
chosen=$(sed -n 's/.*"mode": "\(.*\)",*/\1/p' "$T/json" | head -n 1)
key=$(echo "$chosen" | tr -d 'cge' | tr - ,)
plant=$(grep "^$key," $TRUTH/modes | cut -d, -f6)
echo "# chosen $chosen: the plant says $plant W (now $now W)"
awk -v w="$plant" 'BEGIN { exit !(w > 0 && w <= 30.6) }'
result $? "the plant's power is at most 2 % above the budget"

awk -v n="$(number modes_profiled "$T/json")" 'BEGIN { exit !(n > 0 && n <= 20) }' &&
	[ "$(number lost "$T/json")" = 0 ]
result $? "at most 20 modes are measured, no sample lost"

run jetwatt list knobs
shows "now    $chosen"
result $? "the chosen mode stays applied"

run jetwatt restore
exits 0 && as_before "$T/before"
result $? "restore restores the knobs"

run jetwatt optimize --power 5W -p $train --most 6
exits 3 && form && says "no mode meets 5 W" "closest: c" && as_before "$T/before"
result $? "no mode meets the budget: status 3, closest mode named, knobs restored"

run jetwatt profile -p $train --most 4 -o "$T/q.csv"
exits 0 && [ "$(wc -l < "$T/q.csv")" = 5 ] && as_before "$T/before"
result $? "profile: four rows, knobs restored"

run jetwatt profile -p $train --most 5 -o "$T/q.csv"
exits 0 && [ "$(wc -l < "$T/q.csv")" = 6 ] && says "4 modes are already in"
result $? "profile continues an interrupted profile"

run jetwatt optimize --power 30W -p $train --profile "$T/q.csv" --most 5 --verify 1 --json "$T/v.json" --dry-run
exits 0 && as_before "$T/before" && shows "^1 of [0-9]* modes measured" &&
	awk -v w="$(number measured_power_w "$T/v.json")" 'BEGIN { exit !(w > 0 && w <= 30) }'
result $? "--verify 1: from a profile, one candidate measured, result within the budget"

run jetwatt profile -p $train --most 4 --reference "$T/q.csv" -o "$T/s.csv"
exits 0 && [ "$(wc -l < "$T/s.csv")" = 5 ] && as_before "$T/before"
result $? "profile --reference: with the profile of another workload"

run jetwatt optimize --power 30W -p $train --reference "$T/none.csv"
exits 1 && form && says "cannot read" && as_before "$T/before"
result $? "a missing reference profile: nothing is measured"

run jetwatt predict --profile "$T/q.csv"
exits 0 && shows "modes predicted from 5 measured"
result $? "predict: all modes from a profile"

run jetwatt profile --most 3 -o "$T/r.csv" -- train
exits 0 && [ "$(wc -l < "$T/r.csv")" = 4 ] && [ "$(pidof train)" = $train ] && as_before "$T/before"
result $? "profile -- COMMAND: measured, command ended, knobs restored"

run jetwatt apply c2-1190400-g522750000-e2133000000
knobs > "$T/held"
run jetwatt profile --most 3 -p $train
exits 0 && says "applied before" && knobs > "$T/now" && cmp "$T/held" "$T/now" &&
	jetwatt restore -q && as_before "$T/before"
result $? "profile after apply: back to the applied mode; restore to the first state"

jetwatt profile -p $train > "$T/out" 2> "$T/err" &
jw=$!
sleep 5
kill -INT $jw
wait $jw
status=$?
exits 130 && as_before "$T/before"
result $? "SIGINT: status 130, knobs restored"

jetwatt profile -p $train > "$T/out" 2> "$T/err" &
jw=$!
sleep 5
kill -KILL $jw
wait $jw
! as_before "$T/before" > /dev/null
changed=$?
run jetwatt doctor
shows "warn state"
warned=$?
run jetwatt restore
exits 0 && as_before "$T/before" && [ $changed = 0 ] && [ $warned = 0 ]
result $? "SIGKILL: state saved, doctor reports it, restore restores it"

(sleep 6; echo 1 > $FAULT/fail_emc) &
fault=$!
run jetwatt profile -p $train
wait $fault
echo 0 > $FAULT/fail_emc
exits 1 && form && as_before "$T/before"
result $? "a knob fails during the switch: knobs restored"

(sleep 8; kill -TERM $train) &
run jetwatt optimize --power 30W -p $train
exits 1 && form && says "job has ended" && as_before "$T/before"
result $? "the job ends during profiling: knobs restored"

nogpu > /dev/null 2>&1 &
nogpu=$!
run jetwatt optimize --power 30W -p $nogpu --wait 6s
exits 1 && form && says "no GPU work" "never waited" && as_before "$T/before"
result $? "a job without GPU work: knobs restored"
kill $nogpu

run jetwatt optimize --power 30W -- train --seconds 5
exits 1 && says "job has ended" && as_before "$T/before" && ! pidof train > /dev/null
result $? "a command that ends too soon: knobs restored"

finish
