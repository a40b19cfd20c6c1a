#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the demo's closed loop on measurements of real boards, if JETWATT_SHARED_DATA names a
# directory with them.
. "$(dirname "$0")/demo.inc"
corpus=${JETWATT_SHARED_DATA:-}/orin-agx-resnet18-train.csv
if [ ! -r "$corpus" ]; then
	echo "1..0 # SKIP no measured corpus: set JETWATT_SHARED_DATA"
	exit 4
fi
echo 1..10
CORPUS=$corpus BUDGET_W=40 loop corpus
bars
exit $failed
