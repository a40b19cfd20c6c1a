#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Training beside an inference server on the simulated board, by turns and side by
# side, with the same requests: build/bench/schedule.json and schedule.html. Then
# jetwatt is killed KILLS times (1000), and what holds jobs as often in both ways.
cd "$(dirname "$0")/../.." || exit 1
out=build/bench/schedule.out latency=${LATENCY_MS:-250}
rm -rf $out
mkdir -p $out
tests/qemu/guest --icount --timeout 36000 --out $out \
	--module governor_simpleondemand --module jetwatt-sim --module ina3221 --module jetwatt \
	--file tests/bench/schedule_guest.sh:/schedule -- /bin/sh /schedule \
	"${REQUESTS:-1500}" "${RATE_MHZ:-80000}" "$latency" "${KILLS:-1000}" || exit 1
build/bench/schedule -l "$latency" -o build/bench/schedule.json -p build/bench/schedule.html \
	$out/by_turns $out/together || exit 1
for f in alone by_turns together; do
	echo "minibatches of training a second, $f: $(cat $out/$f.hz)"
done
sed -n '/"train"/,/}/p' $out/schedule.json
echo "kills, and after how many training stood still: $(cat $out/kills 2>/dev/null || echo none)"
[ "${KILLS:-1000}" = 0 ] || tests/qemu/guest --icount --smp 2 --timeout 36000 --file build/arm64/tests/cmd/hold:/hold \
	-- /bin/sh -c "JETWATT_KILLS=${KILLS:-1000} exec /hold"
