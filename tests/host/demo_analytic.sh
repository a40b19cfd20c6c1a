#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make demo's default workload from end to end.
. "$(dirname "$0")/demo.inc"
echo 1..10
loop analytic
bars
exit $failed
