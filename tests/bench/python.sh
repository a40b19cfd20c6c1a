#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Python package in a guest (tests/bench/python.py): energy measured by user nobody, without and with a
# container of rootless podman, compared with that of the simulated board, and CPU time of a stream into
# NumPy. In the container, the package is installed from its wheel, and the first example of doc/python.md
# runs too. The i2c bus has 1 MHz, because one of 400 kHz is too slow for 1 kHz. Writes
# build/bench/python.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
say() { echo "$*"; }

tests/kernels/python_module.sh
numpy=$PWD/build/kernels/numpy
if [ ! -e "$numpy/complete" ]; then
	rm -rf "$numpy"
	mkdir -p "$numpy/debs"
	apt_lists "$numpy/apt" arm64
	(cd "$numpy/debs" && apt_in "$numpy/apt" arm64 apt-get download python3-numpy libblas3 liblapack3 \
		libgfortran5 libgcc-s1 libstdc++6 > "$numpy/apt/log" 2>&1)
	for deb in "$numpy"/debs/*.deb; do dpkg-deb -x "$deb" "$numpy"; done
	rm -rf "$numpy"/{apt,debs,usr/share,usr/bin} "$numpy"/usr/lib/python3/dist-packages/numpy/*/tests
	touch "$numpy/complete"
fi
tests/kernels/podman
work=$PWD/build/bench/python
rm -rf "$work"
mkdir -p "$work/tree"
cp -a build/kernels/podman/system "$work/"
cp tests/bench/python.py "$work/system/image/"
awk '/^```$/ { exit } in_example; /^```python$/ { in_example = 1 }' doc/python.md > "$work/system/image/example.py"
git ls-files -co --exclude-standard -- Makefile user/python | tar c -T - | tar x -C "$work/tree"
(cd "$work/tree/user/python" && /usr/bin/python3 setup.py -q bdist_wheel -d "$work") > "$work/log" 2>&1
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install --no-index --no-compile \
	--target "$work/system/image/usr/lib/python3/dist-packages" "$work"/jetwatt-*.whl
tests/qemu/guest --smp 2 --mem 2G --timeout 1500 --system "$work/system" \
	--module governor_simpleondemand --module "jetwatt-sim bus_hz=1000000" --module ina3221 \
	--module jetwatt --file build/kernels/python/usr:/usr --file "$numpy/usr/lib:/numpy" \
	--file user/python/jetwatt:/python/jetwatt \
	--file build/python-stream/_jetwatt_stream.abi3.so:/python/_jetwatt_stream.abi3.so \
	--file tests/bench/python.py:/bench.py -- /bin/sh -c '
	mount --make-rshared /
	chown -R nobody /image
	exec 3< /sys/kernel/debug/jetwatt-sim/truth/now
	libs=/numpy/aarch64-linux-gnu
	LD_LIBRARY_PATH=$libs:$libs/blas:$libs/lapack PYTHONPATH=/python:/numpy/python3/dist-packages \
		exec python3 -B /bench.py' | tee build/bench/python.txt
sed -n 's/^JSON //p' build/bench/python.txt > build/bench/python.json
[ -s build/bench/python.json ]
