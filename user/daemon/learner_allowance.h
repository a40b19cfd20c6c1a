/* SPDX-License-Identifier: GPL-2.0-only */
/* What learning has cost the workloads so far, over all their runs since jetwattd started, and what it has
 * found that the database does not store; for learner.h. */
#ifndef JETWATT_DAEMON_LEARNER_ALLOWANCE_H
#define JETWATT_DAEMON_LEARNER_ALLOWANCE_H

#include "model/model.h"

/* Number of workloads whose allowance is stored. */
#define JETWATTD_ALLOWANCES	16
/* Number of budgets of a workload for which the cost of learning is stored. */
#define JETWATTD_BUDGETS	8
/* Number of rows without a measured time that are stored for a workload. */
#define JETWATTD_UNTIMED	32

/**
 * struct jetwattd_share - running time, and the part of it that learning has cost
 * @ran_s: running time, in s
 * @lost_s: part of the learning time that would have been saved by applying the best mode known at each
 *	moment, in s
 */
struct jetwattd_share {
	double ran_s, lost_s;
};

/**
 * struct jetwattd_allowance - what learning one workload has used up so far
 * @key: key of the workload
 * @seconds: time used for learning, in s
 * @joules: energy used for learning, in J
 * @all: running time and cost of the workload, for all budgets
 * @budget_w: budgets for which @share counts, in W; 0: not in use
 * @share: running time and cost of the workload for each of these budgets
 * @next: number of budgets that have been stored
 * @untimed: ring of rows without a measured time (the cap ended the reading), for later jobs of the workload,
 *	which need not try these modes
 * @nr_untimed: number of rows that have been added to @untimed
 */
struct jetwattd_allowance {
	char key[17];
	double seconds, joules;
	struct jetwattd_share all;
	double budget_w[JETWATTD_BUDGETS];
	struct jetwattd_share share[JETWATTD_BUDGETS];
	unsigned int next;
	struct jetwatt_row untimed[JETWATTD_UNTIMED];
	unsigned int nr_untimed;
};

#endif
