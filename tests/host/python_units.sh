#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Unit tests of the Python package, in the source tree: tests/python/units.py.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-python-units
rm -rf $d
mkdir -p $d
build/make-trace $d/run.jwt n=50 marks=1 units=3 gap_at=1 gap=100 > $d/truth.json &&
	build/jetwatt export --format jsonl -o $d/run.jsonl $d/run.jwt &&
	build/jetwatt report --json $d/run.jwt > $d/report.json || exit 1
build/serve-metrics $d/control &
pids=($!)
trap 'kill "${pids[@]}" 2> /dev/null' EXIT
for _ in $(seq 100); do [ ! -S $d/control ] || break; sleep 0.1; done
port=$(tests/metrics/client.py port)
build/jetwatt-exporter --listen 127.0.0.1:"$port" --socket $d/control 2> $d/exporter.log &
pids+=($!)
PYTHONPATH=user/python:tests/python JETWATT_TEST_DIR=$d JETWATT_TEST_PORT=$port \
	/usr/bin/python3 -B tests/python/units.py
