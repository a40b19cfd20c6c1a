#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads a running job with jetwatt.stream in a guest, and compares samples and minibatches with the
# truth of the simulated board (tests/python/live.py).
set -euo pipefail
cd "$(dirname "$0")/../.."

tests/kernels/python_module.sh
tests/qemu/guest --smp 2 --timeout 900 --module governor_simpleondemand --module jetwatt-sim --module ina3221 \
	--module jetwatt --file build/kernels/python/usr:/usr --file user/python/jetwatt:/python/jetwatt \
	--file build/python-stream/_jetwatt_stream.abi3.so:/python/_jetwatt_stream.abi3.so --file tests/python/live.py:/live.py \
	-- /bin/sh -c 'PYTHONPATH=/python exec python3 -B /live.py'
