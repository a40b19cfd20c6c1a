#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Warnings of W=1, sparse and checkpatch for the module on the kernel of the kit. make check-kernels
# checks other kernels.
cd "$(dirname "$0")/../.." || exit 1
exec tests/kernels/warnings.sh kit
