#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#   make check-integrations [ZEUS=DIR] [JTOP=DIR] [KEPLER=DIR] [SEED=N]
# Other projects' tools read the simulated board in a guest and are compared with its true energy
# (integrations.py). The directories have checked-out sources: ZEUS of github.com/ml-energy/zeus,
# whose monitor runs with the backend of doc/integrations; JTOP of github.com/rbonghi/jetson_stats,
# whose readers of ina3221 and of tegrastats' lines run; KEPLER of
# github.com/sustainable-computing-io/kepler, whose monitor runs with the configuration of
# doc/integrations. Writes build/integrations/figures.json. Needs a mirror and 5 minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$PWD/build/integrations
tools=() files=()
mkdir -p "$work"
if [ -n "${ZEUS-}" ]; then
	tools+=(zeus)
	files+=(--file "$ZEUS/zeus:/zeus/zeus" --file doc/integrations/zeus/jetwatt.py:/zeus_jetwatt.py)
fi
if [ -n "${KEPLER-}" ]; then
	tests/clients/kepler.sh "$(cd "$KEPLER" && pwd)"
	tools+=(kepler)
	files+=(--file "$work/kepler:/kepler" --file doc/integrations/kepler/kepler.yaml:/kepler.yaml)
fi
if [ -n "${JTOP-}" ]; then
	tools+=(jtop)
	files+=(--file "$JTOP/jtop/core:/jtop/core")
fi
[ ${#tools[@]} != 0 ] ||
	{ echo "set ZEUS=, JTOP= or KEPLER= to a directory with sources" >&2; exit 2; }
tests/setup.sh
make --no-print-directory arm64
why=$(tests/kernels/python) || { echo "$why" >&2; exit 1; }
status=0
tests/qemu/guest --smp 2 --mem 2G --timeout 2400 \
	--module governor_simpleondemand --module "jetwatt-sim seed=${SEED:-1}" \
	--module ina3221 --module jetwatt \
	--file build/kernels/python/usr:/usr --file user/python/jetwatt:/python/jetwatt "${files[@]}" \
	--file tests/clients/integrations.py:/integrations.py \
	-- /bin/sh -c "PYTHONPATH=/python exec python3 -B /integrations.py ${tools[*]}" |
	tee "$work/figures.txt" | sed "/^JSON /d" || status=$?
sed -n 's/^JSON //p' "$work/figures.txt" > "$work/figures.json"
exit $status
