#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make demo: run guest.sh on a simulated board in QEMU, then write a report that compares jetwatt's
# results with the true values of the simulated board (the plant, tests/sim).
#
#   BOARD=agx-orin       simulated board: or orin-nx, orin-nano, agx-xavier, xavier-nx, thor
#   BUDGET_W=30          power budget in W; default for other boards: half to two thirds of their
#                        power
#   WORKLOAD=resnet      workload of the analytic plant: resnet, loader, lstm, tiny
#   CORPUS=file.csv      replay the measured modes of this file instead (columns: doc/verbs.md,
#                        Profiles)
#   SEED=1               seed of the plant's noise
#   OUT=build/demo       directory for report.json and report.html
#
# "demo.sh check" only checks these variables; make runs it before it builds anything. The exit
# status is that of jetwatt optimize (3: no mode meets the budget); 125: the guest failed; 2: a
# variable has a bad value, or jetwatt optimize refused its arguments.
set -euo pipefail
cd "$(dirname "$0")/../.."

board=${BOARD:-agx-orin} corpus=${CORPUS:-} workload=${WORKLOAD:-} seed=${SEED:-1} out=${OUT:-build/demo}
die() { printf 'demo: %s\n  why: %s\n  fix: %s\n' "$1" "$2" "$3" >&2; exit 2; }

# column NAME: print the index, from 1, of this column of the corpus; fail if there is none.
column() { head -n 1 "$corpus" | tr -d '\r' | tr , '\n' | grep -nx "$1" | cut -d: -f1; }

# Number of CPUs, default budget in W, and the job. On Thor the system calls of GPU waits cannot be
# recognised, so its job waits by spinning in libcuda. tests/sim/boards.c and the overlay describe
# the rest of the board.
overlay=tests/sim/boards/whole/$board.dtso job=/bin/train
case $board in
agx-orin)   smp=12 watts=30 overlay=tests/sim/orin.dtso;;
orin-nx)    smp=8 watts=12;;
orin-nano)  smp=6 watts=12;;
agx-xavier) smp=8 watts=20;;
xavier-nx)  smp=6 watts=10;;
thor)       smp=14 watts=45 job='/bin/cutrain --wait spin';;
*) die "no board is called $board" \
	"the boards are agx-orin, orin-nx, orin-nano, agx-xavier, xavier-nx and thor" \
	"make demo BOARD=orin-nano";;
esac
budget=${BUDGET_W:-$watts}
[[ $budget =~ ^[0-9]+(\.[0-9]+)?$ && $budget =~ [1-9] ]] ||
	die "BUDGET_W=$budget is not a power" "it must be a number of watts above 0" \
		"make demo BUDGET_W=30"
cols=()
if [ -n "$corpus" ]; then
	[ "$board" = agx-orin ] ||
		die "CORPUS cannot be combined with BOARD=$board" \
			"the board's clocks are taken from the file of measured modes" \
			"omit BOARD"
	[ -f "$corpus" ] && [ -r "$corpus" ] ||
		die "cannot read CORPUS=$corpus" "no such file, or no permission" \
			"give a CSV of measured modes (doc/verbs.md, Profiles)"
	for c in cores cpu_khz gpu_hz emc_hz time_ms power_w; do
		n=$(column $c) || die "$corpus has no column $c" \
			"a corpus has the columns cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w" \
			"name these columns in its first line"
		cols+=("$n")
	done
	awk 'NR > 1 && /[0-9]/ { n++ } END { exit !n }' "$corpus" ||
		die "$corpus has no modes" "there are no rows below its header" "add a line for each mode"
	workload=''
else
	workload=${workload:-resnet}
	case $workload in
	resnet | loader | lstm | tiny) ;;
	*) die "no workload is called $workload" "the workloads are resnet, loader, lstm and tiny" \
		"make demo WORKLOAD=loader, or CORPUS=file.csv for measured modes";;
	esac
fi
[ "${1:-}" != check ] || exit 0

mkdir -p "$out/guest"
rm -f "$out"/guest/* "$out"/report.json "$out"/report.html
scale=1000 args=() modes=''

if [ -n "$corpus" ]; then
	modes=/demo/modes.csv
	# jetwatt gets only the list of modes, as a user of the board knows it, without their time
	# and power.
	tr -d '\r' < "$corpus" | cut -d, -f"${cols[0]},${cols[1]},${cols[2]},${cols[3]}" |
		awk '!seen[$0]++' > "$out/modes.csv"
	smp=$(awk -F, 'NR > 1 && $1 > m { m = $1 } END { print m }' "$out/modes.csv")
	# Replay faster (time_scale, in permille) if the median minibatch takes over 1 s or the
	# slowest one over 8 s.
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
