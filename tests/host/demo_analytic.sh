#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run make demo from end to end with its default workload, and check its report.
. "$(dirname "$0")/demo.inc"
echo 1..10
loop analytic
bars
exit $failed
