#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs jetwattd under load for HOURS (24) of guest time, and measures the growth of its memory,
# leaked descriptors, and the CPU share of jetwattd and of the sampler at 100 samples per second.
# The first three hours, in which the three jobs are learned, are not judged. The maximum number of
# descriptors in the last hour is compared with that in the first judged hour, because each job
# needs some descriptors. The CPU time of the simulated sensors in the sampler's thread is
# subtracted ("simulated_core_pct"), because on a board the sensors use no CPU time. Writes
# build/bench/day.json. Exit status 1: the memory grew by more than 1 %, descriptors leaked, or
# HOURS is too small.
set -euo pipefail
cd "$(dirname "$0")/../.."
hours=${HOURS:-24} out=build/bench/day.out
rm -rf $out
mkdir -p $out
# An hour of guest time takes minutes of the host, or hours on a busy host.
tests/qemu/guest --smp 4 --timeout $((hours * 18000 + 9000)) --module governor_simpleondemand \
	--module "jetwatt-sim plant=analytic workload=resnet" --module ina3221 --module jetwatt \
	--file tests/cmd/common.inc:/common.inc --file tests/bench/day_guest.sh:/guest.sh --out $out \
	-- /bin/sh /guest.sh "$hours"
awk -v hours="$hours" '
	NR == 1 { first = $1 }
	$1 - first < 10200e9 { next }
	!n { t = $1; cpu = $2; sampler = $3; rss = $4; sensors = $10 }
	{ t1 = $1; cpu1 = $2; sampler1 = $3; rss1 = $4; fd[n++] = $5; jobs = $7; modes = $8; lost = $9; sensors1 = $10 }
	END {
		for (i = 0; i < 6; i++) {
			fds = fd[i] > fds ? fd[i] : fds
			fds1 = fd[n - 1 - i] > fds1 ? fd[n - 1 - i] : fds1
		}
		if (n < 6) { print "day: too short to be judged; use HOURS=4 or more" > "/dev/stderr"; exit 1 }
		s = (t1 - t) / 1e9
		printf "{\n \"hours\": %g, \"jobs\": %d, \"modes_measured\": %d, \"samples_lost\": %d,\n", hours, jobs, modes, lost
		printf " \"judged_h\": %.2f, \"rss_kib\": [%d, %d], \"descriptors\": [%d, %d],\n", s / 3600, rss, rss1, fds, fds1
		simulated = (sensors1 - sensors) / 1e9
		printf " \"daemon_core_pct\": %.2f, \"sampler_core_pct\": %.2f, \"simulated_core_pct\": %.2f\n}\n",
			100 * (cpu1 - cpu) / s, 100 * (sampler1 - sampler - simulated) / s, 100 * simulated / s
		exit !(rss1 <= 1.01 * rss && fds1 <= fds)
	}' $out/day > build/bench/day.json || { cat build/bench/day.json; exit 1; }
cat build/bench/day.json
