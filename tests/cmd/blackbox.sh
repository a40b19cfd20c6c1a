#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=120 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# record --trigger: what was before and after, from the module's black box.
. "${0%/*}/common.inc"
plan 4

/bin/train > /dev/null 2>&1 &
train=$!
sleep 1
jetwatt record -o "$T/box.jwt" --trigger signal --pre 2s --post 1s -p $train --json > "$T/out" 2> "$T/err" &
record=$!
sleep 4
kill -USR1 $record
wait $record
status=$?
exits 0 && awk -v s="$(number elapsed_s "$T/out")" 'BEGIN { exit s < 2.5 || s > 4 }'
result $? "signal: two seconds before and one after"
[ "$(number lost "$T/out")" = 0 ] && [ "$(number waits "$T/out")" -gt 10 ] &&
	[ "$(number minibatches "$T/out")" -gt 10 ]
result $? "no sample is lost between box and ring, waits are there"

run jetwatt record -o "$T/box.jwt" --trigger nothing
exits 2 && says "oc, thermal and signal"
result $? "no such trigger"

jetwatt record -o "$T/none.jwt" --trigger oc > "$T/out" 2> "$T/err" &
record=$!
sleep 2
kill -TERM $record
wait $record
status=$?
exits 143
result $? "SIGTERM before anything happens"
kill $train
finish
