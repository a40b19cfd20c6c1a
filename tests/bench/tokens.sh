#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Searches by energy and time per token in a guest: for two servers of a language model and three kinds
# of limits, the chosen mode, the presets and the plant's best mode. Writes build/bench/tokens.txt. Exit
# status 1: a chosen mode misses a limit, or is more than 3 % below the best one.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/bench/tokens.txt
tests/qemu/guest --smp 4 --icount --timeout 3600 --module governor_simpleondemand \
	--module jetwatt-sim --module ina3221 --module jetwatt \
	--file tests/cmd/common.inc:/common.inc --file tests/cmd/tokens.inc:/tokens.inc \
	--file tests/bench/tokens_guest.sh:/guest.sh -- /bin/sh /guest.sh | tee $out
[ "$(grep -c '^ok ' $out)" = 6 ]
