/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job's run in a few figures: what stat prints and record ends with.
 */
#ifndef JETWATT_MEASURE_SUMMARY_H
#define JETWATT_MEASURE_SUMMARY_H

#include <stdio.h>

#include "measure/run_energy.h"
#include "model/model.h"
#include "out/json.h"

struct jetwatt_summary_spread {
	double p50, p95, max;
};

/**
 * struct jetwatt_summary - figures
 * @row: mean time and power of minibatches, with relative standard errors
 * @energy_j: per minibatch; @time, @energy: their spreads, ms and J
 * @minibatches: in all; @used: without warm-up; @syncs: waits in each
 * @wait_share: part of a minibatch's time that is spent waiting for the GPU
 * @stall_share: part in which it had given the GPU no work yet, at most; @gpu_share:
 *	in which the GPU had work of it, at least; exact where @launched
 * @quality: of the energy of single minibatches
 * @elapsed_s, @total_j: the whole run
 * @requested_hz, @read_hz, @fresh_hz: of the slowest rail of the total
 */
struct jetwatt_summary {
	const struct jetwatt_meter *meter;
	struct jetwatt_row row;
	double energy_j;
	struct jetwatt_summary_spread time, energy;
	size_t minibatches, used;
	double wait_share, stall_share, gpu_share, elapsed_s, total_j;
	int launched;
	struct jetwatt_quality_figures quality;
	double requested_hz, read_hz, fresh_hz;
	uint64_t missed, waits_lost;
};

/* Return: 0, -ENOMEM. Asks the module: the stream must still be open. */
int jetwatt_summary_make(struct jetwatt_summary *s, const struct jetwatt_meter *m);
void jetwatt_summary_print(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a);
/* Into an object that is open. */
void jetwatt_summary_fields(const struct jetwatt_summary *s, struct jetwatt_json *j);
void jetwatt_summary_json(const struct jetwatt_summary *s, FILE *f);

#endif
