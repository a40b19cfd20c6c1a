/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a job's run, for jetwatt stat, record and report.
 */
#ifndef JETWATT_MEASURE_SUMMARY_H
#define JETWATT_MEASURE_SUMMARY_H

#include <stdio.h>

#include "measure/run_energy.h"
#include "minibatch/phases.h"
#include "model/model.h"
#include "out/json.h"

/* Median, 95th percentile and maximum. */
struct jetwatt_summary_spread {
	double p50, p95, max;
};

/**
 * struct jetwatt_summary_phase - the minibatches of one phase
 * @row: mean time and mean power, with relative standard errors
 * @energy_j: mean energy per minibatch, J
 * @minibatches: number of minibatches
 * @share: fraction of the time of all minibatches
 * @stall_share: as in struct jetwatt_summary
 * @launches: mean number of launches of GPU work per minibatch; 0: launches are not traced
 */
struct jetwatt_summary_phase {
	struct jetwatt_row row;
	double energy_j, share, stall_share, launches;
	size_t minibatches;
};

/**
 * struct jetwatt_summary - summary of a run
 * @run: energy, telemetry and minibatches of the run
 * @row: mean time and mean power of the minibatches of phase 1, with relative standard errors. All
 *	figures per minibatch are those of phase 1
 * @energy_j: mean energy per minibatch, J
 * @time: distribution of the time of a minibatch, ms
 * @energy: distribution of the energy of a minibatch, J
 * @minibatches: number of minibatches, of all phases but evaluations
 * @used: number of minibatches of phase 1 in the statistics
 * @warm_ns: minibatches that end at this time or before are warm-up
 * @warm_up: number of minibatches that are left out as warm-up
 * @unmeasured: number of later minibatches that are left out because their energy is unknown
 * @phase: the phases
 * @phases: number of phases
 * @wait_share: fraction of a minibatch's time in which the job waits for the GPU
 * @stall_share: fraction of a minibatch's time before the first launch of GPU work: exact if
 *	@launched is 1, else an upper limit
 * @gpu_share: fraction of a minibatch's time in which the GPU has work of the job: exact if
 *	@launched is 1, else a lower limit
 * @elapsed_s: duration of the run, s
 * @total_j: energy of the run, J
 * @launched: 1: launches were traced
 * @error: errors of the energy of single minibatches of phase 1, with warm-up
 * @requested_hz: lowest sampling rate requested for a rail of the total, Hz
 * @read_hz: lowest rate at which a rail of the total was read, Hz
 * @fresh_hz: lowest rate at which reads of a rail of the total returned new values, Hz
 * @missed: number of ticks that the sampler has skipped
 * @waits_lost: as jetwatt_session_waits_lost()
 */
struct jetwatt_summary {
	const struct jetwatt_run_energy *run;
	struct jetwatt_row row;
	double energy_j;
	struct jetwatt_summary_spread time, energy;
	size_t minibatches, used, warm_up, unmeasured;
	uint64_t warm_ns;
	struct jetwatt_summary_phase phase[JETWATT_PHASES_MAX];
	int phases;
	double wait_share, stall_share, gpu_share, elapsed_s, total_j;
	int launched;
	struct jetwatt_energy_errors error;
	double requested_hz, read_hz, fresh_hz;
	uint64_t missed, waits_lost;
};

/* Compute the summary. Of a live session, the connection to the module must still be open.
 * Return: 0; -ENOMEM. */
int jetwatt_summary_make(struct jetwatt_summary *s, const struct jetwatt_run_energy *m);
/* Print the summary as text. */
void jetwatt_summary_print(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a);
/* Add the fields of the summary to the JSON object that is open. */
void jetwatt_summary_fields(const struct jetwatt_summary *s, struct jetwatt_json *j);

#endif
