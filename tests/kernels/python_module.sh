#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compiles the extension module of jetwatt.stream for the guest's Python, in build/python-stream, from the C file
# that setup.py compiles. Exit status 4 if something that it needs cannot be had; the reason is printed.
set -euo pipefail
cd "$(dirname "$0")/../.."

d=$PWD/build/python-stream
/usr/bin/python3 -c 'import cffi' 2> /dev/null || { echo "no cffi here"; exit 4; }
why=$(tests/kernels/python) || { echo "$why"; exit 4; }
make -s arm64 || exit 1
rm -rf "$d"
mkdir -p "$d/native"
cp user/python/native/*.py "$d/native"
python=build/kernels/python
PYTHONPATH=user/python/native /usr/bin/python3 -B -c "
import sys, build_native
build_native.ffibuilder.emit_c_code(sys.argv[1])" "$d/module.c"
aarch64-linux-gnu-gcc-12 -std=gnu11 -O2 -fPIC -shared -D_GNU_SOURCE -DPy_LIMITED_API -Iinclude -Iinclude/uapi -Iuser \
	-I$python/include/python3.11 -I$python/include -o "$d/_jetwatt_stream.abi3.so" "$d/module.c" \
	user/python/native/*.c user/minibatch/*.c user/energy/integrate.c -Lbuild/arm64 -ljetwatt -lm \
	-Wl,--allow-shlib-undefined
