#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Files for other projects' tools (doc/integrations): tests/python/zeus_backend.py and kepler.py, the
# tests in the Alumet plugin's counters.rs, and the configurations of Prometheus and Alumet. With JTOP=DIR
# (sources of jetson_stats), jtop's parser of tegrastats (tests/python/jtop.py).
cd "$(dirname "$0")/../.." || exit 1
d=build/check-integrations
rm -rf $d
. tests/host/check.inc
export PYTHONPATH=user/python:tests/python
echo 1..6
check "the Zeus backend" "/usr/bin/python3 -B tests/python/zeus_backend.py"
check "the configuration of Kepler" "/usr/bin/python3 -B tests/python/kepler.py"
check "the configurations of Alumet are TOML" \
	"/usr/bin/python3 -c 'import sys, tomllib; [tomllib.load(open(f, \"rb\")) for f in sys.argv[1:]]' \
		doc/integrations/alumet/*.toml doc/integrations/alumet/*/*.toml"
if command -v promtool > /dev/null; then
	check "promtool accepts the scrape configuration" "promtool check config doc/integrations/kepler/prometheus.yml"
else
	n=$((n + 1))
	echo "ok $n promtool accepts the scrape configuration # SKIP no promtool here"
fi
if command -v rustc > /dev/null; then
	check "the Alumet plugin reads the counters" "rustc --edition 2021 --test -o $d/counters \
		doc/integrations/alumet/plugin-jetwatt/src/counters.rs && TMPDIR=$d $d/counters"
else
	n=$((n + 1))
	echo "ok $n the Alumet plugin reads the counters # SKIP no rustc here"
fi
if [ -n "${JTOP-}" ]; then
	build/make-trace $d/run.jwt n=1500 > $d/truth && build/jetwatt export -f tegrastats $d/run.jwt > $d/lines &&
		build/jetwatt report --json $d/run.jwt > $d/report
	check "jtop's parser reads the power of each rail within 1 %" "/usr/bin/python3 -B tests/python/jtop.py $d/lines $d/report"
else
	n=$((n + 1))
	echo "ok $n jtop's parser reads the power of each rail within 1 % # SKIP no sources of jetson_stats in JTOP"
fi
exit $failed
