#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs each PROGRAM of jobs/frameworks, blocking, spinning, and blocking in libcuda's helper thread,
# with every backend of the probe, and prints one line each: "PROGRAM WAIT BACKEND waits bounds
# minibatches F1".
#
#   waits_guest.sh MINIBATCHES PROGRAM...
set -u
n=$1
shift
for p in "$@"; do
	for wait in block spin helper; do
		how=$wait
		unset SIM_CUDA_HELPER
		[ $wait != helper ] || { how=block; export SIM_CUDA_HELPER=1; }
		for by in uprobe tracepoint module; do
			echo "$p $wait $by $(waits $by frameworks "$p" --wait $how --minibatches "$n" 2>&1)"
		done
	done
done
