/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy along a job's run of any length: sums go on, samples are forgotten.
 */
#ifndef JETWATT_MEASURE_RUN_ENERGY_H
#define JETWATT_MEASURE_RUN_ENERGY_H

#include "measure/energy_error.h"
#include "measure/session.h"
#include "measure/telemetry.h"
#include "minibatch/minibatch.h"

/**
 * struct jetwatt_meter - sums
 * @begun_ns, @at_ns: what they cover
 * @uj: energy of the total; @rail_uj: of every rail
 * @covered_ns: of that time, not in a gap
 * @telemetry: of its samples
 * @at_wait, @at_mark: @uj at the end of each wait, and of each mark, of the watch
 * @bound, @bounds: minibatches and the rest, after jetwatt_meter_end()
 * @marked: the program has said where they are
 * @info: about them
 * @why: the decision about each wait of the watch, if it has asked for it; NULL: none
 */
struct jetwatt_meter {
	struct jetwatt_watch *watch;
	uint64_t begun_ns, at_ns, covered_ns;
	double uj, rail_uj[JETWATT_RAILS_MAX];
	struct jetwatt_telemetry_sums telemetry;
	double *at_wait, *at_mark;
	size_t waits, max, marks, max_marks;
	struct jetwatt_batch_bound *bound;
	int bounds, failed, marked;
	struct jetwatt_batch_why *why;
	struct jetwatt_batch_info info;
	struct jetwatt_quality quality;
};

void jetwatt_meter_begin(struct jetwatt_meter *m, struct jetwatt_watch *w);

/* Add what has come; forgets the samples. @meter: struct jetwatt_meter. */
void jetwatt_meter_run(void *meter);

/* Close at @end_ns and find the minibatches. Return: 0, negative errno. */
int jetwatt_meter_end(struct jetwatt_meter *m, uint64_t end_ns);

/* Energy of a bound in uJ; negative: not known. */
double jetwatt_meter_bound(const struct jetwatt_meter *m, const struct jetwatt_batch_bound *b);

/* user_marks.c: the bounds that the program has marked itself, in place of those
 * that are found. Return: how many, 0: none; -ENOMEM. */
int jetwatt_marks_bounds(struct jetwatt_meter *m);

/* Bounds that are minibatches. */
size_t jetwatt_meter_minibatches(const struct jetwatt_meter *m);

void jetwatt_meter_free(struct jetwatt_meter *m);

#endif
