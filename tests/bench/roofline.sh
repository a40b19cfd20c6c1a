#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the roofs that jetwatt measures with those of the simulated board, in more modes than
# tests/cmd/roofline.sh. MODES= selects other modes.
cd "$(dirname "$0")/../.." || exit 1
modes=${MODES:-'12,2201600,1300500000,204000000 6,1497600,1032750000,2133000000
	4,1113600,726750000,3199000000 4,1113600,522750000,2133000000 2,729600,318750000,665600000
	1,729600,114750000,204000000'}
exec tests/qemu/guest --icount --smp 12 --timeout 3600 --module governor_simpleondemand \
	--module jetwatt-sim --module ina3221 --module jetwatt --file tests/cmd/common.inc:/t/common.inc \
	--file tests/cmd/roofline.sh:/t/roofline.sh -- /bin/sh -c "MODES='${modes//[$'\n\t']/ }' exec /bin/sh /t/roofline.sh"
