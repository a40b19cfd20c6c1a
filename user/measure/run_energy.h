/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy of a job's run of any length: the integrals of power are kept, the samples are discarded.
 */
#ifndef JETWATT_MEASURE_RUN_ENERGY_H
#define JETWATT_MEASURE_RUN_ENERGY_H

#include <stdbool.h>

#include "measure/energy_error.h"
#include "measure/session.h"
#include "measure/telemetry.h"
#include "minibatch/minibatch.h"

/**
 * struct jetwatt_run_energy - energy, telemetry and minibatches of a run
 * @session: the session
 * @begun_ns: start of the run
 * @at_ns: time up to which power has been integrated, ns
 * @hold_ns: time after which jetwatt_run_energy_run() does not integrate yet, ns; 0: no such time
 * @covered_ns: time between @begun_ns and @at_ns that lies in no gap between samples, ns
 * @uj: total energy, uJ
 * @rail_uj: energy of each rail, uJ
 * @telemetry: sums of the telemetry values of the run
 * @at_wait: energy of the run up to the end of each of the @waits waits of the session
 * @at_mark: energy of the run up to the time of each of the @marks marks of the session
 * @bound: minibatches and other intervals of the run, valid after jetwatt_run_energy_end()
 * @bounds: number of bounds
 * @phases: number of phases of the minibatches
 * @max: allocated length of @at_wait; @max_marks: allocated length of @at_mark
 * @failed: 1: out of memory
 * @marked: 1: the bounds are those that the program marked
 * @why: decision about each wait, if session->explain is set; else NULL
 * @info: result of finding the minibatches
 * @error: errors of the energy of single minibatches
 */
struct jetwatt_run_energy {
	struct jetwatt_session *session;
	uint64_t begun_ns, at_ns, hold_ns, covered_ns;
	double uj, rail_uj[JETWATT_RAILS_MAX];
	struct jetwatt_telemetry_sums telemetry;
	double *at_wait, *at_mark;
	size_t waits, max, marks, max_marks;
	struct jetwatt_batch_bound *bound;
	int bounds, phases, failed, marked;
	struct jetwatt_batch_why *why;
	struct jetwatt_batch_info info;
	struct jetwatt_energy_error error;
};

/* Begin a run at w->begun_ns. */
void jetwatt_run_energy_begin(struct jetwatt_run_energy *m, struct jetwatt_session *w);

/* Integrate the session's new power samples, up to @hold_ns and without the last ones, which the error
 * of the energy at later waits needs, and discard them. @run: the struct jetwatt_run_energy. */
void jetwatt_run_energy_run(void *run);

/* Integrate up to @ns and no further, so that the members are those at that time. @ns: between
 * @at_ns and the time of the last sample. */
void jetwatt_run_energy_to(struct jetwatt_run_energy *m, uint64_t ns);

/* End the run at @end_ns, or at the last sample if that is earlier, and find the minibatches.
 * Return: 0; or a negative errno. */
int jetwatt_run_energy_end(struct jetwatt_run_energy *m, uint64_t end_ns);

/* Return: energy in uJ from the start to the end of minibatch @b; negative: unknown. */
double jetwatt_run_energy_bound(const struct jetwatt_run_energy *m, const struct jetwatt_batch_bound *b);

/*
 * user_marks.c: use the minibatches that the program has marked. Return: number of bounds; 0 if no
 * minibatch was marked; -ENOMEM.
 */
int jetwatt_user_marks_bounds(struct jetwatt_run_energy *m);

/* Return: whether the means per minibatch include the bound @b. The means of a job with several phases are
 * means of phase 1. */
bool jetwatt_run_energy_counts(const struct jetwatt_run_energy *m, const struct jetwatt_batch_bound *b);

/* Return: number of training minibatches in the run. */
size_t jetwatt_run_energy_minibatches(const struct jetwatt_run_energy *m);

/* Free the memory of @m, but not the session. */
void jetwatt_run_energy_free(struct jetwatt_run_energy *m);

#endif
