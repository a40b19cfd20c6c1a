/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits and settings for the learner, which the loop passes to it (terms.c). */
#ifndef JETWATT_DAEMON_LEARNER_TERMS_H
#define JETWATT_DAEMON_LEARNER_TERMS_H

#include "jetwatt.h"

/**
 * struct jetwattd_terms - current limits for learning the job
 * @limit_w: maximum mean power of a mode, in W, from the cap
 * @safe_w: maximum power of the mode that the cap steps down to, in W
 * @now_ns: time, CLOCK_MONOTONIC
 * @max_modes: maximum number of modes to measure for a workload. If none of them is within the
 *	limit, further modes are measured.
 * @learn_s: maximum time for learning a workload, in s; 0: no maximum
 * @learn_j: maximum energy for learning a workload, in J
 * @share: fraction of the workload's running time that learning may cost (learner_allowance.c)
 * @choose_s: CPU time that choices of readings have taken in this run of the job, in s
 * @uneven: 1: some minibatches include time slices of a server, so their lengths vary
 * @least_energy: 1: the best mode is the one with the least energy per minibatch; 0: the fastest
 *	one. A mode that misses a limit of @ttft_ms or @tpot_ms is worse than any that does not
 * @ttft_ms: limit for the mean time of the prefill of a prompt, in ms; 0: none
 * @tpot_ms: limit for the mean time of a decode step, in ms; 0: none
 * @reading_s: expected minimum duration of a reading, in s; 0: that of the quick reading of a job
 */
struct jetwattd_terms {
	double limit_w, safe_w;
	uint64_t now_ns;
	size_t max_modes;
	double learn_s, learn_j, share, choose_s, ttft_ms, tpot_ms, reading_s;
	int uneven, least_energy;
};

#endif
