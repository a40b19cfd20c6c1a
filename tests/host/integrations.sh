#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Files for other projects' tools (doc/integrations): tests/python/zeus_backend.py and kepler.py, and
# the configurations of Prometheus and Alumet.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-integrations
rm -rf $d
. tests/host/check.inc
export PYTHONPATH=user/python:tests/python
echo 1..4
check "the Zeus backend" "/usr/bin/python3 -B tests/python/zeus_backend.py"
check "the configuration of Kepler" "/usr/bin/python3 -B tests/python/kepler.py"
check "the configuration of Alumet is TOML" \
	"/usr/bin/python3 -c 'import tomllib; tomllib.load(open(\"doc/integrations/alumet/alumet-config.toml\", \"rb\"))'"
if command -v promtool > /dev/null; then
	check "promtool accepts the scrape configuration" "promtool check config doc/integrations/kepler/prometheus.yml"
else
	n=$((n + 1))
	echo "ok $n promtool accepts the scrape configuration # SKIP no promtool here"
fi
exit $failed
