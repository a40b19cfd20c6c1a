#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every operation and the events of the family in a guest, with the kernel's netlink tool
# (tools/net/ynl of linux-source-6.12) and the specification of the family. The guest also runs the
# Python example of doc/library.md.
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
