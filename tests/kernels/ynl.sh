#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own netlink tool, as it is in linux-source-6.12's tools/net/ynl,
# with our specification: every operation and the events, in a guest. There, too,
# the README's example in Python.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc

dir=$PWD/build/kernels/ynl
if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir" "$dir.new"
	mkdir -p "$dir.new/apt"
	sources_of bookworm-backports all > "$dir.new/apt/sources.list" &&
		apt_lists "$dir.new/apt" "$(dpkg --print-architecture)" ||
		{ echo "no lists of bookworm-backports"; exit 4; }
	(cd "$dir.new" && apt_in "$dir.new/apt" "$(dpkg --print-architecture)" apt-get download linux-source-6.12) ||
		{ echo "the mirror has no linux-source-6.12"; exit 4; }
	unpack_source "$dir.new" "$dir.new"/linux-source-6.12_*.deb '*/tools/net/ynl/*.py' \
		'*/tools/net/ynl/lib/*' '*/Documentation/netlink/*.yaml'
	rm -rf "$dir.new"/{apt,*.deb}
	touch "$dir.new/complete"
	mv "$dir.new" "$dir"
fi
why=$(tests/kernels/python) || { echo "$why"; exit 4; }
make -s arm64 || exit 1
awk '$0 == "```python" { on = 1; next } /^```$/ { on = 0 } on' README.md > "$dir/energy.py"
tests/qemu/guest --timeout 1500 --module governor_simpleondemand --module jetwatt-sim --module ina3221 \
	--module jetwatt --file build/kernels/python/usr:/usr --file "$dir/linux-6.12/tools/net/ynl:/ynl" \
	--file include/netlink/specs/jetwatt.yaml:/jetwatt.yaml --file tests/kernels/ynl.py:/ynl.py \
	--file "$dir/energy.py:/energy.py" -- /bin/sh -c 'python3 /energy.py && exec python3 /ynl.py'
