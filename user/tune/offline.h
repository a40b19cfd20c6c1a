/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers queries from a profile without measuring, so no job has to run.
 */
#ifndef JETWATT_TUNE_OFFLINE_H
#define JETWATT_TUNE_OFFLINE_H

#include "tune/result.h"

/**
 * jetwatt_offline() - rank the modes for a query and print the best ones
 * @l: candidates and rows
 * @q: objective and limits
 * @front: 1: print the whole Pareto front too
 * @apply: board to switch to the answer; NULL: do not switch
 * @a: set to the result
 *
 * Return: 0; exit code. JETWATT_EXIT_INFEASIBLE has been explained.
 */
int jetwatt_offline(struct jetwatt_tuner *l, const struct jetwatt_plan_objective *q, int front,
		    struct jetwatt_board *apply, struct jetwatt_result *a);

/* Apply the mode @m to @board, or without a @board print the command that applies @m, unless
 * @l->silent is 1. Return: 0, exit code. */
int jetwatt_offline_apply(const struct jetwatt_tuner *l, struct jetwatt_board *board,
			  const struct jetwatt_mode *m);

/* Format the limits of a query: "30 W", "80 ms", "30 W and 80 ms". Return: @buf. */
const char *jetwatt_offline_limits(const struct jetwatt_plan_objective *q, char *buf, size_t len);

#endif
