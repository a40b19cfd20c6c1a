#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the code that the kernel's ynl-gen-c generates from the netlink specification compiles
# with jetwatt's UAPI header. ynl-gen-c comes from the kernel tree $JETWATT_KERNEL_TREE, or from the
# tree that `make check-kernels` has downloaded for tests/kernels/ynl.sh.
cd "$(dirname "$0")/../.." || exit 1

skip() { echo "1..0 # SKIP $*"; exit 4; }

python=/usr/bin/python3
tree=
for t in "${JETWATT_KERNEL_TREE:-}" build/kernels/ynl/linux-6.12; do
	for tool in pyynl/ynl_gen_c.py ynl-gen-c.py; do
		[ -n "$tree" ] || [ ! -e "$t/tools/net/ynl/$tool" ] || { tree=$t; gen=$t/tools/net/ynl/$tool; }
	done
done
[ -n "$tree" ] || skip "no kernel tree with tools/net/ynl, and its package (linux-source-6.12) is large: tests/kernels/ynl_source or make check-kernels brings it, or JETWATT_KERNEL_TREE names one"
$python -c 'import yaml' 2> /dev/null || skip "no python3-yaml"

T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
echo "TAP version 13"
echo 1..3
# ynl-gen-c expects the schema in the directory above the specification, and the root of a kernel
# tree above that.
mkdir -p "$T/Documentation/netlink/specs" "$T/modules"
cp "$tree"/Documentation/netlink/*.yaml "$T/Documentation/netlink"
cp include/netlink/specs/jetwatt.yaml "$T/Documentation/netlink/specs"
touch "$T/MAINTAINERS"
if ! $python -c 'import jsonschema' 2> /dev/null; then
	echo "# no python3-jsonschema: the specification is not compared with the kernel's schema"
	echo 'def validate(*args, **kwargs): pass' > "$T/modules/jsonschema.py"
fi

generate()
{
	PYTHONPATH=$T/modules${PYTHONPATH:+:$PYTHONPATH} timeout 60 $python "$gen" --spec "$T/Documentation/netlink/specs/jetwatt.yaml" \
		--mode user "--$1" -o "$T/jetwatt-user.$2" 2> "$T/log"
}

# result STATUS NUMBER NAME: print the result, and the output of a program that failed
result()
{
	[ "$1" = 0 ] || { sed 's/^/# /' "$T/log" | head -n 40; printf 'not '; }
	echo "ok $2 $3"
}

cc="cc -std=gnu11 -Wall -Wno-unused -Werror -isystem include/uapi -I$tree/tools/net/ynl/lib -I$T"
generate header h && generate source c
result $? 1 "ynl-gen-c accepts the specification"
[ -s "$T/jetwatt-user.h" ] && $cc -fsyntax-only -x c "$T/jetwatt-user.h" > "$T/log" 2>&1
result $? 2 "the header compiles"
if grep -q libmnl "$tree/tools/net/ynl/lib/ynl-priv.h" && ! echo '#include <libmnl/libmnl.h>' | cc -E - > /dev/null 2>&1; then
	echo "ok 3 the code compiles # SKIP this tree's ynl needs libmnl-dev"
else
	$cc -c -o "$T/jetwatt-user.o" "$T/jetwatt-user.c" > "$T/log" 2>&1
	result $? 3 "the code compiles"
fi
