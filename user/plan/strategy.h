/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Search strategies: which cell (workload, minibatch size, mode) to measure next for a query. With
 * every strategy, the answer is the best plan of the measured cells. Used by jetwatt optimize,
 * profile and eval.
 */
#ifndef JETWATT_STRATEGY_H
#define JETWATT_STRATEGY_H

#include "plan/observations.h"

/**
 * struct jetwatt_strategy - a search strategy
 * @name: name of the strategy on the command line
 * @does: description of the strategy in one line
 * @modes: usual number of modes to measure for a query
 * @shared: 1: the strategy measures once for all queries; 0: it measures for each query
 * @new: create the state for one query or a sequence of queries; NULL: no state. Returns 0, -ENOMEM
 * @next: choose the next cell to measure; @most: largest number of modes to measure for this query.
 *	Returns 0; 1 if no cell is worth measuring; negative errno. Equal arguments and measurements
 *	give the same choice
 * @free: free the state of the strategy, which may be NULL; NULL: @new is NULL too
 */
struct jetwatt_strategy {
	const char *name, *does;
	size_t modes;
	int shared;
	int (*new)(void **state, const struct jetwatt_observed *k, uint64_t seed);
	int (*next)(void *state, const struct jetwatt_observed *k,
		    const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *next);
	void (*free)(void *state);
};

/* Bayesian optimisation with a surrogate for each workload; the default (strategy_auto.c). */
extern const struct jetwatt_strategy jetwatt_strategy_auto;
/*
 * Strategies of Fulcrum (arXiv 2509.20205): gradient descent over the knobs (gmd.c), and
 * active-learning sampling of the front by networks (als.c).
 */
extern const struct jetwatt_strategy jetwatt_strategy_gmd, jetwatt_strategy_als;

/* Return: the strategy with the given name; NULL if no strategy has this name. */
const struct jetwatt_strategy *jetwatt_strategy_find(const char *name);

#endif
