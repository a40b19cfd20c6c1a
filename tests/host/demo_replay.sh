#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the demo's closed loop on generated measurements of all modes of a board with eight cores. The
# corpus is generated from a seed (SEED, printed); it contains no real measurement.
. "$(dirname "$0")/demo.inc"
seed=${SEED:-$(($(date +%s) % 100000))}
corpus=build/check-demo/made.csv
mkdir -p build/check-demo

awk -v seed="$seed" 'BEGIN {
	srand(seed)
	split("2 4 6 8", core); nc = 4
	split("422400 729600 1036800 1420800 1728000 2035200 2265600", cpu); nf = 7
	split("318750000 420750000 624750000 828750000 1032750000 1198500000 1377000000", gpu); ng = 7
	split("1331200000 1600000000 2133000000", emc); ne = 3
	flop = 20 + 60 * rand(); byte = 15 + 60 * rand(); launch = 4 + 10 * rand(); load = 60 + 150 * rand()
	print "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w"
	for (a = 1; a <= nc; a++) for (b = 1; b <= nf; b++) for (c = 1; c <= ng; c++) for (d = 1; d <= ne; d++) {
		f = cpu[b] / 1e6; g = gpu[c] / 1e9; m = emc[d] / 1e9; k = core[a] < 4 ? core[a] : 4
		roof = flop / g > byte / m ? flop / g + 0.3 * byte / m : byte / m + 0.3 * flop / g
		t = roof + launch / f
		if (load / (f * k) > t) t = load / (f * k)
		busy = roof / t; volt = 0.6 + 0.35 * g * g / 1.9
		p = 6.5 + 9 * volt * volt * g * busy + 1.6 * m * (0.4 + 0.6 * busy)
		p += core[a] * (0.12 + 0.22 * f * (0.65 + 0.12 * f * f)) * (0.3 + 0.7 * load / (f * k) / t)
		printf "%d,%d,%d,%d,%.4f,%.4f\n", core[a], cpu[b], gpu[c], emc[d],
			t * (1 + 0.02 * (rand() - 0.5)), p * (1 + 0.02 * (rand() - 0.5))
	}
}' > $corpus

# Choose a budget in the middle third of the modes, ordered by power.
budget=$(tail -n +2 $corpus | cut -d, -f6 | sort -n | awk '{ p[NR] = $1 } END { printf "%.1f", p[int(NR * 0.6)] }')
echo 1..10
echo "# SEED=$seed budget $budget W"
CORPUS=$corpus BUDGET_W=$budget loop replay
bars
exit $failed
