#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Python package in a guest (tests/bench/python.py): energy measured by an unprivileged user compared with
# that of the simulated board, and CPU time of a stream into NumPy. The i2c bus has 400 kHz, because one
# of 100 kHz is too slow for 800 Hz. Writes build/bench/python.json.
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
mkdir -p build/bench
tests/qemu/guest --smp 2 --timeout 900 --module governor_simpleondemand --module "jetwatt-sim bus_hz=400000" --module ina3221 \
	--module jetwatt --file build/kernels/python/usr:/usr --file "$numpy/usr/lib:/numpy" \
	--file user/python/jetwatt:/python/jetwatt \
	--file build/python-stream/_jetwatt_stream.abi3.so:/python/_jetwatt_stream.abi3.so \
	--file tests/bench/python.py:/bench.py -- /bin/sh -c '
	libs=/numpy/aarch64-linux-gnu
	LD_LIBRARY_PATH=$libs:$libs/blas:$libs/lapack PYTHONPATH=/python:/numpy/python3/dist-packages \
		exec python3 -B /bench.py' | tee build/bench/python.txt
sed -n 's/^JSON //p' build/bench/python.txt > build/bench/python.json
[ -s build/bench/python.json ]
