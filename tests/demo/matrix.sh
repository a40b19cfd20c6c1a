#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make bench-demo: run the demo with several corpora, workloads and budgets; print a table and write
# build/bench/demo.json.
#
#   CORPORA="a.csv b.csv"  (default: *-train.csv in $JETWATT_SHARED_DATA)
#   BUDGETS="20 30 40"  SEEDS="1"  WORKLOADS="resnet loader lstm tiny"
set -uo pipefail
cd "$(dirname "$0")/../.."

data=${JETWATT_SHARED_DATA:-../shared/data}
corpora=${CORPORA-$(ls "$data"/*-train.csv 2>/dev/null)}
workloads=${WORKLOADS-resnet loader lstm tiny}
out=build/bench
mkdir -p $out
reports=()

row()
{
	jq -r --arg s "$1" --arg x "$2" 'def r(n): if . == null then "-" else . * pow(10; n) | round / pow(10; n) end;
		[.workload, .budget_w, $s, .modes_profiled, (.plant.time_ms | r(2)), (.plant.power_w | r(2)),
		 (.optimum_clean.time_ms | r(2)), (.time_penalty_pct | r(2)),
		 "\(.minibatches.detected)/\(.minibatches.true)", (.energy_error_pct | r(2)), .sampler.lost,
		 .restored, $x] | @tsv' "$3" |
	awk -F'\t' '{ printf "%-28.28s %5s %4s %5s %9s %6s %9s %7s %11s %6s %4s %8s %4s\n",
		$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 }'
}

one()	# corpus workload budget seed
{
	local dir=$out/demo status=0
	OUT=$dir CORPUS=$1 WORKLOAD=$2 BUDGET_W=$3 SEED=$4 tests/demo/demo.sh > $out/demo.log 2>&1 || status=$?
	if [ -s $dir/report.json ]; then
		row "$4" "$status" $dir/report.json
		reports+=("$(jq -c ". + {seed: $4, status: $status}" $dir/report.json)")
	else
		printf '%-28.28s %5s %4s failed with status %s\n' "$(basename "${1:-$2}" .csv)" "$3" "$4" "$status"
		tail -n 5 $out/demo.log | sed 's/^/    /'
		reports+=("{\"workload\":\"$(basename "${1:-$2}" .csv)\",\"budget_w\":$3,\"seed\":$4,\"status\":$status}")
	fi
}

printf '%-28s %5s %4s %5s %9s %6s %9s %7s %11s %6s %4s %8s %4s\n' workload W seed modes ms W clean-ms pen-% batches \
	en-% lost restored exit
for s in ${SEEDS:-1}; do
	for b in ${BUDGETS:-20 30 40}; do
		for c in $corpora; do one "$c" '' "$b" "$s"; done
		for w in $workloads; do one '' "$w" "$b" "$s"; done
	done
done
printf '%s\n' "${reports[@]}" | jq -s . > $out/demo.json
echo "written: $out/demo.json"
