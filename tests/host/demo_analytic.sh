#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# End-to-end run of make demo with its default workload.
. "$(dirname "$0")/demo.inc"
echo 1..10
loop analytic
bars
exit $failed
