#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test optimize --latency, which chooses a mode and a minibatch size for a server, and profile
# --strategy.
. "${0%/*}/common.inc"
plan 11

knobs > "$T/before"
cat > "$T/modes.csv" << EOF
cores,cpu_khz,gpu_hz,emc_hz
4,2201600,1300500000,3199000000
4,2201600,1032750000,3199000000
4,1497600,1032750000,2133000000
2,1497600,828750000,2133000000
4,1497600,624750000,2133000000
2,1113600,420750000,2133000000
4,1497600,828750000,665600000
2,729600,318750000,665600000
EOF

jetwatt optimize --power 24W --latency 120ms --arrival 150Hz --batch 1,4,16 --modes "$T/modes.csv" \
	--most 6 --json "$T/json" -o "$T/rows.csv" -- serve --busy 1 --batch {batch} > "$T/out" 2> "$T/err" &
jw=$!
# The server must continue in the chosen mode, with the chosen minibatch size.
for i in $(seq 3000); do
	! grep -q "stays in this mode" "$T/out" || break
	[ -d /proc/$jw ] || break
	sleep 0.1
done
size=$(tr '\0' ' ' < "/proc/$(pidof serve)/cmdline" | sed 's/.*--batch \([0-9]*\).*/\1/')
t0=$(sed -n 's/^t_ns //p' $TRUTH/now) e0=$(sed -n 's/^energy_uj //p' $TRUTH/now)
sleep 6
cp "$T/json" "$T/early" 2> "$T/log"
t1=$(sed -n 's/^t_ns //p' $TRUTH/now) e1=$(sed -n 's/^energy_uj //p' $TRUTH/now)
awk -F, -v t0="$t0" '$2 > t0 && $4 == 2 { n++; ns += $3 - $2 } END { print ns / n * 1e-6 }' $TRUTH/minibatches > "$T/ms"
kill -TERM $(pidof serve)
wait $jw
status=$?
exits 0 && narrow
result $? "optimize --latency -- COMMAND: returns the command's status"
cmp "$T/early" "$T/json" && grep -q '"scope": *"' "$T/json" && grep -q '"sampler"' "$T/json" &&
	[ "$(number samples "$T/json")" -gt 0 ] && [ "$(number detected "$T/json")" -gt 0 ]
result $? "the JSON is written before the command runs on, and describes the measurement"

awk -v ms="$(cat "$T/ms")" -v w="$(awk -v e="$((e1 - e0))" -v t="$((t1 - t0))" 'BEGIN { print 1e3 * e / t }')" \
	-v b="$size" -v said="$(number batch "$T/json")" -v late="$(number latency_ms "$T/json")" 'BEGIN {
	l = 1000 * b / 150 + ms
	printf "# minibatches of %d: %.2f ms, so %.2f ms at %.2f W; said %.2f ms\n", b, ms, l, w, late
	off = l / late - 1
	exit !(b == said && l <= 120 && ms <= 1000 * b / 150 && w <= 24.4 && off < 0.02 && off > -0.02) }'
result $? "the result is true in the plant and within all limits"

awk -v most=6 -F, 'NR == 1 { ok = $5 == "batch" } NR > 1 { n += !seen[$1 $2 $3 $4]++ }
	END { print "# " n " modes, " NR - 1 " measurements"; exit !(ok && n > 2 && n <= most) }' "$T/rows.csv"
result $? "at most six modes are measured, and stored with their sizes"
jetwatt restore -q
as_before "$T/before"
result $? "restore restores the knobs"

serve --busy 1 --batch 4 &
serve=$!
run jetwatt optimize --power 24W --latency 20ms --arrival 150Hz --batch 4 --modes "$T/modes.csv" --most 4 -p $serve
exits 3 && form && says "takes 26.67 ms until a minibatch of 4 is full" && as_before "$T/before"
result $? "the minibatch is not filled within the latency: status 3, nothing measured, knobs restored"
run jetwatt optimize --power 24W --latency 90ms --arrival 150Hz --batch 4 --modes "$T/modes.csv" --most 4 \
	--dry-run -p $serve
exits 0 && shows "minibatches of 4" "board is back in its previous mode" && as_before "$T/before"
result $? "optimize --latency --dry-run for a running server"
awk -F, 'NR == 1 || !seen[$5]++' "$T/rows.csv" > "$T/sizes.csv"
cp "$T/sizes.csv" "$T/more.csv"
run jetwatt optimize --power 24W --latency 90ms --arrival 150Hz --batch 4 --modes "$T/modes.csv" --most 6 \
	--dry-run -o "$T/more.csv" -p $serve
exits 0 && as_before "$T/before" && awk -F, 'FNR == 1 { file++; ok = $5 == "batch"; next }
	file == 1 { old[$0] = 1; other += $5 != 4; next } $0 in old { kept++; delete old[$0]; next }
	{ n++; wrong += $5 != 4 }
	END { for (row in old) print "# lost: " row
	      print "# " kept + 0 " rows kept, " n + 0 " new, " wrong + 0 " of them not of size 4"
	      exit !(ok && other && !length(old) && n && !wrong) }' "$T/sizes.csv" "$T/more.csv"
result $? "optimize --latency --batch 4 -o FILE: rows of other sizes stay, new rows have size 4"
kill $serve

train > /dev/null 2>&1 &
train=$!
sleep 2
run jetwatt profile --strategy gmd --power 24W -p $train --most 4 -o "$T/gmd.csv"
exits 0 && [ "$(wc -l < "$T/gmd.csv")" = 5 ] && as_before "$T/before"
result $? "profile --strategy gmd: four modes, knobs restored"
run jetwatt profile --strategy gmd --power 24W -p $train --most 4 -o "$T/gmd.csv"
exits 0 && [ "$(wc -l < "$T/gmd.csv")" = 5 ] && shows "0 new modes"
result $? "profile --strategy gmd again: nothing is measured"
run jetwatt profile --strategy auto --power 24W -p $train --most 4 --modes "$T/modes.csv" -o "$T/auto.csv"
exits 0 && as_before "$T/before" && awk -F, 'FNR == 1 { file++ } FNR > 1 && file == 1 { of[$1 $2 $3 $4] = 1 }
	FNR > 1 && file == 2 { n += !seen[$1 $2 $3 $4]++ && of[$1 $2 $3 $4]; in_budget += $6 <= 24 }
	END { print "# " n " of the modes that were offered, " in_budget + 0 " within 24 W"
	      exit !(n == 4 && FNR == 5 && in_budget) }' "$T/modes.csv" "$T/auto.csv"
result $? "profile --strategy auto: four of the given modes, knobs restored"
kill $train
finish
