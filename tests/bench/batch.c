// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the accuracy of minibatch boundaries and of energy per minibatch, on generated jobs and
 * power traces whose true values are known.
 *
 *   batch [SEED]
 *
 * Prints one JSON object.
 */
#include <stdio.h>

#include "unit/cost_run.h"
#include "unit/score.h"

#define PER_KIND	8
#define RUNS		6

static void bounds(uint64_t seed)
{
	struct score all = { 0 };
	size_t below = 0;
	const char *name;

	for (int kind = 0; kind < JOB_KINDS; kind++)
		for (uint64_t i = 0; i < PER_KIND; i++) {
			struct score one = score_drawn(seed, kind, i, &name);

			below += score_f1(&one) < 0.995;
			score_add(&all, &one);
		}
	/* True boundaries are ends of waits here, so the error is 0 unless a wrong wait is chosen. */
	printf("\"f1\": %.5f, \"shapes\": %d, \"shapes_below\": %zu, \"phase_share\": %.4f, \"end_error_ms_p50\": %.3f",
	       score_f1(&all), JOB_KINDS * PER_KIND, below, score_phases(&all), score_error_ms(&all));
}

static void energy(uint64_t seed)
{
	static struct cost_run r;

	for (size_t i = 0; i < COST_SHAPES; i++)
		for (uint64_t run = 0; run < RUNS; run++)
			if (cost_run_add(&r, &cost_shapes[i], seed + 100 * i + run))
				exit(1);
	printf(", \"energy_error_pct\": {\"50ms\": %.3f, \"10ms\": %.3f}",
	       100 * cost_median(r.off_50ms, r.longer), 100 * cost_median(r.off_10ms, r.shortest));
	printf(", \"coverage_pct\": %.1f", 100.0 * (double)r.covered / (double)r.all);
	printf(", \"width_over_error\": %.2f", cost_median(r.width, r.all) / cost_median(r.off, r.all));
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	printf("{\"seed\": %llu, ", (unsigned long long)seed);
	bounds(seed);
	energy(seed);
	printf("}\n");
	return 0;
}
