#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs and records jobs on the simulated board, one for each line of JOBS. Programs in one line that
# are separated by & run at the same time.
#
#   batch_guest.sh JOBS
set -u
truth=/sys/kernel/debug/jetwatt-sim/truth
n=0
/bench/kmod_fast 1000
while read -r job; do
	n=$((n + 1))
	timeout 120 jetwatt record -q --rate 1kHz -o "/out/$n.jwt" -- sh -c "$job wait" > /tmp/said 2>&1 || {
		echo "$n: $job"
		cat /tmp/said
	}
done < "$1"
cat $truth/minibatches > /out/minibatches.csv
