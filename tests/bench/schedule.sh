#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs training and an inference server on the simulated board with the same requests: by turns
# (jetwatt schedule), side by side, and the server alone. Writes build/bench/schedule.json and
# schedule.html. Before that runs schedule_cases.sh; after it schedule_kills.sh, unless KILLS is 0.
#
# The loads differ in the share of GPU time that the server alone needs, 30 to 70 %, and in whether
# it answers one request at a time or all waiting requests together. LOADS=FILE: other loads, one
# per line:
#   MILLIHERTZ LATENCY_MS TRAIN-SIZE BATCH BASE EACH	(the last three: options of serve)
cd "$(dirname "$0")/../.." || exit 1
out=build/bench/schedule.out loads=${LOADS:-tests/bench/schedule.loads}
rm -rf $out
mkdir -p $out
# guest OPTION... -- COMMAND [ARGUMENT]...: run COMMAND on the simulated board
guest()
{
	tests/qemu/guest --icount --timeout 36000 --module governor_simpleondemand --module jetwatt-sim \
		--module ina3221 --module jetwatt --file tests/bench/schedule_guest.sh:/schedule "$@"
}

guest --file tests/bench/schedule_cases.sh:/cases.sh --file tests/cmd/common.inc:/common.inc \
	--file tests/cmd/schedule.inc:/schedule.inc -- /bin/sh /cases.sh || exit 1
all=()
while read -r rate latency size batch base each; do
	[[ $rate = [0-9]* ]] || continue
	dir=$out/$rate-$latency-$size-$batch-$base-$each
	guest --out "$dir" -- /bin/sh /schedule load "${REQUESTS:-1000}" "$rate" "$latency" "$size" \
		"$batch" "$base" "$each" || exit 1
	echo "$latency" $((rate / 1000)) requests per second, up to "$batch" together, training in minibatches of \
		"$size/1000" > "$dir/load"
	all+=("$dir")
done < "$loads"
build/bench/schedule -o build/bench/schedule.json -p build/bench/schedule.html "${all[@]}" || exit 1
for dir in "${all[@]}"; do
	echo "$(sed 's/^[^ ]* //' "$dir/load"): training minibatches per second:" \
		"alone $(cat "$dir/alone.hz"), side by side $(cat "$dir/together.hz")," \
		"by turns $(cat "$dir/by_turns.hz");" \
		"achieved of the plan $(sed -n 's/.*"kept_pct": \([0-9.]*\).*/\1/p' "$dir/schedule.json") %"
done
[ "${KILLS:-1000}" = 0 ] || tests/bench/schedule_kills.sh
