#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on the kit's kernel: W=1, sparse, checkpatch. On others: make check-kernels.
cd "$(dirname "$0")/../.." || exit 1
exec tests/kernels/warnings.sh kit
