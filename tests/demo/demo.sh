#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make demo: the whole path on a simulated board, then the report.
#
#   BOARD=agx-orin       or orin-nx, orin-nano, agx-xavier, xavier-nx, thor
#   BUDGET_W=30          the power budget; other boards: half to two thirds of their power
#   WORKLOAD=resnet      what the analytic plant runs: resnet, loader, lstm, tiny
#   CORPUS=file.csv      replay measured modes instead (header: doc/verbs.md, Profiles)
#   SEED=1               of the plant's noise
#   OUT=build/demo       where report.json and report.html go
#
# "demo.sh check" only judges these: make does that first of all. Ends with what
# jetwatt optimize ended with (3: no mode meets the budget), 2 for bad values.
set -euo pipefail
cd "$(dirname "$0")/../.."

board=${BOARD:-agx-orin} corpus=${CORPUS:-} workload=${WORKLOAD:-} seed=${SEED:-1} out=${OUT:-build/demo}
die() { printf 'demo: %s\n  why: %s\n  fix: %s\n' "$1" "$2" "$3" >&2; exit 2; }

# Column of a CSV's header by name, from 1; fails if it is not there.
column() { head -n 1 "$corpus" | tr -d '\r' | tr , '\n' | grep -nx "$1" | cut -d: -f1; }

# CPUs, the budget in W unless one is given, and the job: on Thor GPU waits cannot be seen
# as system calls, so there it is one that waits in libcuda. What the board is beside that:
# tests/sim/model.c and its overlay.
overlay=tests/sim/boards/whole/$board.dtso job=/bin/train
case $board in
agx-orin)   smp=12 watts=30 overlay=tests/sim/orin.dtso;;
orin-nx)    smp=8 watts=12;;
orin-nano)  smp=6 watts=12;;
agx-xavier) smp=8 watts=20;;
xavier-nx)  smp=6 watts=10;;
thor)       smp=14 watts=45 job='/bin/cutrain --wait spin';;
*) die "no board is called $board" \
	"there are agx-orin, orin-nx, orin-nano, agx-xavier, xavier-nx and thor" \
	"make demo BOARD=orin-nano";;
esac
budget=${BUDGET_W:-$watts}
[[ $budget =~ ^[0-9]+(\.[0-9]+)?$ && $budget =~ [1-9] ]] ||
	die "BUDGET_W=$budget is not a power" "it must be a number of watts above 0" \
		"make demo BUDGET_W=30"
cols=()
if [ -n "$corpus" ]; then
	[ "$board" = agx-orin ] ||
		die "CORPUS and BOARD=$board do not go together" \
			"a file of measured modes brings the clocks of the board that it is from" \
			"leave BOARD out"
	[ -f "$corpus" ] && [ -r "$corpus" ] ||
		die "cannot read CORPUS=$corpus" "no such file, or no permission" \
			"give a CSV of measured modes (doc/verbs.md, Profiles)"
	for c in cores cpu_khz gpu_hz emc_hz time_ms power_w; do
		n=$(column $c) || die "$corpus has no column $c" \
			"a corpus has cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w" \
			"name the columns so in its first line"
		cols+=("$n")
	done
	awk 'NR > 1 && /[0-9]/ { n++ } END { exit !n }' "$corpus" ||
		die "$corpus has no modes" "there is nothing below its header" "add a line for each mode"
	workload=''
else
	workload=${workload:-resnet}
	case $workload in
	resnet | loader | lstm | tiny) ;;
	*) die "no workload is called $workload" "there are resnet, loader, lstm and tiny" \
		"make demo WORKLOAD=loader, or CORPUS=file.csv for measured modes";;
	esac
fi
[ "${1:-}" != check ] || exit 0

mkdir -p "$out/guest"
rm -f "$out"/guest/* "$out"/report.json "$out"/report.html
scale=1000 args=() modes=''

if [ -n "$corpus" ]; then
	modes=/demo/modes.csv
	# What a user of such a board knows: which modes it has. Not how they did.
	tr -d '\r' < "$corpus" | cut -d, -f"${cols[0]},${cols[1]},${cols[2]},${cols[3]}" |
		awk '!seen[$0]++' > "$out/modes.csv"
	smp=$(awk -F, 'NR > 1 && $1 > m { m = $1 } END { print m }' "$out/modes.csv")
	# A job whose minibatches take over a second at the median, or over 8 s at
	# the slowest, is replayed faster; time_scale says by how much.
	scale=$(tail -n +2 "$corpus" | cut -d, -f"${cols[4]}" | sort -g | awk '
		{ t[NR] = $1 }
		END { m = t[int((NR + 1) / 2)]; x = t[NR] / 8; if (x > m) m = x
		      print (m > 1000 ? int(m) : 1000) }')
	plant="plant=replay csv=/demo/corpus.csv time_scale=$scale"
	args=(--file "$corpus:/demo/corpus.csv" --file "$out/modes.csv:$modes")
	name=$(basename "$corpus" .csv)
else
	plant="plant=analytic workload=$workload"
	name=$workload
fi

status=0
tests/qemu/guest --smp "$smp" --overlay "$overlay" --timeout "${DEMO_TIMEOUT:-900}" --out "$out/guest" \
	--module governor_simpleondemand --module ina3221 --module "jetwatt-sim $plant seed=$seed" --module jetwatt \
	--file tests/demo/guest.sh:/demo/guest.sh "${args[@]}" \
	-- /bin/sh /demo/guest.sh "$budget" "${workload:-replay}" "$job" $modes || status=$?

if [ -s "$out/guest/optimize.json" ]; then
	build/demo-report "$out/guest" "$out" "$budget" "$name" "$(awk "BEGIN { print $scale / 1000 }")"
	echo
	echo "report: $out/report.json $out/report.html"
fi
exit $status
