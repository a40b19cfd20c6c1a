/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Costs of the steps of a language model's server in one power mode. Apart from phase_cost.h, because code
 * that measures nothing uses them, too.
 */
#ifndef JETWATT_MEASURE_STEP_COSTS_H
#define JETWATT_MEASURE_STEP_COSTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Kinds of steps. Decode is the phase with most steps. A step is prefill if it belongs to another phase
 * and takes more than 1.5 times the median of the decode steps, or if it takes more than three
 * times that median: rare prefills have no phase of their own.
 */
enum { JETWATT_PREFILL, JETWATT_DECODE, JETWATT_STEP_KINDS };

/**
 * struct jetwatt_phase_cost - the steps of one kind
 * @steps: number of steps
 * @total_ms: total time of these steps from their first launch to their end, ms
 * @gap_ms: total time before the first launch of these steps, ms
 * @used: number of steps from which the members below are computed; 0: there is none
 * @ms: typical time of a step, ms: the median of decode steps, and the 90th percentile of prefill steps.
 *	The latter is near the time of a full chunk of a prompt, so it depends less than the mean on
 *	which prompts happened to arrive
 * @ms_sd: relative standard error of @ms
 * @power_w: mean power during a step, W
 * @power_sd: relative standard error of @power_w
 */
struct jetwatt_phase_cost {
	size_t steps;
	double total_ms, gap_ms;
	size_t used;
	double ms, ms_sd, power_w, power_sd;
};

/**
 * struct jetwatt_step_costs - the steps since a change of mode
 * @kind: the steps of each kind
 * @prompts: number of runs of successive prefill steps; each run is taken as one prompt
 * @prompts_ms: total time of these runs, from their first launch to their end, ms
 * @gap_w: mean power between steps, W
 * @span_ns: time from the change of mode to the end of the last step
 */
struct jetwatt_step_costs {
	struct jetwatt_phase_cost kind[JETWATT_STEP_KINDS];
	size_t prompts;
	double prompts_ms, gap_w;
	uint64_t span_ns;
};

#endif
