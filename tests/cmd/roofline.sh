#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount alone timeout=900 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test roofline: --calibrate must measure the rooflines of the simulated board (the plant). In the
# mode that --tune chooses, a minibatch must need at least 10 % less energy, and at most 3 % more
# time, than at the highest clocks.
. "${0%/*}/common.inc"
plan 7

knobs > "$T/before"
cat > "$T/modes.csv" << EOF
cores,cpu_khz,gpu_hz,emc_hz
12,2201600,1300500000,3199000000
2,1113600,1300500000,665600000
2,1113600,930750000,3199000000
EOF
# make bench-roofline measures more modes.
for mode in ${MODES:-}; do echo "$mode"; done >> "$T/modes.csv"
modes=$(($(wc -l < "$T/modes.csv") - 1))
# Get the true values of the plant, in FLOP/s, bytes/s, J per FLOP, J per byte, and W.
tail -n +2 "$T/modes.csv" | sed 's/$/,/' > "$T/keys"
sed 's/^/^/' "$T/keys" > "$T/lines"
# grep -F drops most of the thousands of lines before regular expressions are matched, which are
# slow in the guest.
grep -F -f "$T/keys" $TRUTH/roofs | grep -f "$T/lines" |
	awk -F, '{ printf "c%s-%s-g%s-e%s %.6e %.6e %.6e %.6e %.6f\n", $1, $2, $3, $4, $5 * 1e6, $6 * 1e3,
		   $7 * 1e-18, $8 * 1e-18, $9 * 1e-6 }' > "$T/truth"

run jetwatt roofline --calibrate --corpus "$T/corpus" --program kernels --modes "$T/modes.csv"
exits 0 && as_before "$T/before" && [ "$(ls "$T/corpus" | wc -l)" = 12 ] && ! pidof kernels > /dev/null
result $? "calibrate: twelve kernels, knobs restored"

run jetwatt roofline --corpus "$T/corpus" --json
exits 0 && tr -d '",:' < "$T/out" | awk '
	$1 == "mode" { mode = $2 }
	$1 ~ /^(flop_s|byte_s|eps_flop_j|eps_mem_j|pi0_w)$/ { printf "%s%s", $1 == "flop_s" ? "\n" mode " " : " ", $2 }
	END { print "" }' | grep . > "$T/found"
[ "$(wc -l < "$T/found")" = $modes ]
result $? "rooflines of $modes modes, from the measurements"

# off COLUMN: print the largest error of the values in COLUMN over all modes, in percent
off()
{
	awk -v c="$1" 'NR == FNR { truth[$1] = $c; next }
		{ e = 100 * ($c / truth[$1] - 1); printf "# %s %s: %+.2f %%\n", $1, $c, e
		  if (e < 0) e = -e
		  if (e > most) most = e }
		END { print most > "/dev/stderr" }' "$T/truth" "$T/found" 2> "$T/most"
	cat "$T/most"
}

off 2 > "$T/flop_s" && off 3 > "$T/byte_s"
sed -n '/^#/p' "$T/flop_s" "$T/byte_s"
awk '!/^#/ { bad += $1 > 2 } END { exit bad > 0 }' "$T/flop_s" "$T/byte_s"
result $? "peak rates are within 2 % of the plant's"
off 4 > "$T/eps_flop" && off 5 > "$T/eps_mem" && off 6 > "$T/pi0"
sed -n '/^#/p' "$T/eps_flop" "$T/eps_mem" "$T/pi0"
awk '!/^#/ { bad += $1 > 5 } END { exit bad > 0 }' "$T/eps_flop" "$T/eps_mem" "$T/pi0"
result $? "energy coefficients are within 5 % of the plant's"

# spent MODE: print the duration (ms) and energy (J) of a minibatch in MODE
spent()
{
	jetwatt apply "$1" -q
	sleep 4
	jetwatt stat -p "$(pidof kernels)" --for 8 --json -o "$T/stat"
	awk -v t="$(number time_ms "$T/stat")" -v e="$(number energy_j "$T/stat")" 'BEGIN { print t, e }'
}

# saves FLOP BYTES: does stat measure at least 10 % less energy and at most 3 % more time in the
# tuned mode than at the highest clocks?
saves()
{
	run jetwatt roofline --work "$1:$2" --corpus "$T/corpus" --tune
	exits 0 || return 1
	tuned=$(head -n 1 "$T/out")
	kernels "$1" "$2" &
	kernels=$!
	spent c12-2201600-g1300500000-e3199000000 > "$T/top"
	spent "$tuned" > "$T/tuned"
	kill $kernels
	jetwatt restore -q
	echo "$(cat "$T/top" "$T/tuned")" | tr '\n' ' ' | awk -v m="$tuned" '
		{ t = 100 * ($3 / $1 - 1); e = 100 * ($4 / $2 - 1)
		  printf "# %s: %+.2f %% time, %+.2f %% energy\n", m, t, e
		  exit !(t <= 3 && e <= -10) }'
}

saves 2e9 2e9
result $? "a memory-bound job: at least 10 % less energy for 3 % more time"
saves 8e10 5e7
result $? "a compute-bound job: at least 10 % less energy for 3 % more time"

run jetwatt roofline --calibrate --corpus "$T/corpus" --program kernels --modes "$T/modes.csv" -q
exits 0 && as_before "$T/before"
result $? "measured modes are not measured again"
finish
