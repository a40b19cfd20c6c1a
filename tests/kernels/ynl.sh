#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own netlink tool, as it is in linux-source-6.12's tools/net/ynl,
# with our specification: every operation and the events, in a guest. The guest also runs
# the Python example of doc/library.md.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$PWD/build/kernels/ynl
why=$(tests/kernels/ynl_source) || { echo "$why"; exit 4; }
why=$(tests/kernels/python) || { echo "$why"; exit 4; }
make -s arm64 || exit 1
awk '$0 == "```python" { on = 1; next } /^```$/ { on = 0 } on' doc/library.md > "$dir/energy.py"
tests/qemu/guest --timeout 1500 --module governor_simpleondemand --module jetwatt-sim --module ina3221 \
	--module jetwatt --file build/kernels/python/usr:/usr --file "$dir/linux-6.12/tools/net/ynl:/ynl" \
	--file include/netlink/specs/jetwatt.yaml:/jetwatt.yaml --file tests/kernels/ynl.py:/ynl.py \
	--file "$dir/energy.py:/energy.py" -- /bin/sh -c 'python3 /energy.py && exec python3 /ynl.py'
