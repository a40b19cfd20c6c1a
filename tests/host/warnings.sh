#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fail on warnings of W=1, sparse and checkpatch for the module, built for the kernel of the test
# kit. make check-kernels checks other kernels.
cd "$(dirname "$0")/../.." || exit 1
exec tests/kernels/warnings.sh kit
