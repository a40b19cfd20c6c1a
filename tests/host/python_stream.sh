#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of jetwatt.stream with traces, in the source tree: tests/python/stream.py. Live streams are
# tested in a guest (tests/kernels/python_stream.sh), wheels in tests/host/python.sh.
cd "$(dirname "$0")/../.." || exit 1
d=$PWD/build/check-python-stream
rm -rf "$d"
mkdir -p "$d/tree"
for module in cffi numpy setuptools; do
	/usr/bin/python3 -c "import $module" 2> /dev/null || { echo "1..0 # SKIP no $module here"; exit 4; }
done
[ -n "$(echo /usr/include/python3*/Python.h)" ] && compgen -G '/usr/include/python3*/Python.h' > /dev/null ||
	{ echo "1..0 # SKIP no Python.h here"; exit 4; }
# A copy with the layout of the tree, so that nothing is built in the checkout.
git ls-files -co --exclude-standard -- Makefile include user/minibatch user/energy user/python 2> /dev/null |
	tar c -T - | tar x -C "$d/tree"
ln -s ../.. "$d/tree/build"
(cd "$d/tree/user/python/native" && CFLAGS="-Wall -Wextra -Werror -Wno-missing-field-initializers" \
	/usr/bin/python3 setup.py -q build_ext -b "$d/ext") > "$d/log" 2>&1 || { cat "$d/log"; exit 1; }
build/make-trace "$d/run.jwt" n=60 > "$d/truth.json" &&
	build/make-trace "$d/gap.jwt" n=60 gap_at=1 gap=100 > /dev/null &&
	build/make-trace "$d/marked.jwt" n=50 marks=1 > /dev/null &&
	build/make-trace "$d/together.jwt" n=30 ms=200 rate=200 together=1 > /dev/null &&
	build/make-trace "$d/phases.jwt" n=120 eval_every=20 > /dev/null || exit 1
LD_LIBRARY_PATH=build PYTHONPATH=user/python:tests/python:$d/ext JETWATT_TEST_DIR=$d \
	/usr/bin/python3 -B tests/python/stream.py
