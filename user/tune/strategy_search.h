/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a search strategy (plan/strategy.h) on the candidates of a job: the strategy chooses a cell
 * (a mode at a minibatch size), the caller measures it and then adds the measurement.
 */
#ifndef JETWATT_TUNE_STRATEGY_SEARCH_H
#define JETWATT_TUNE_STRATEGY_SEARCH_H

#include "plan/strategy.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_strategy_search - a search
 * @learn: candidate modes and measured rows
 * @strategy: the search strategy
 * @q: limits that the plan must meet
 * @max_modes: largest number of modes to measure, including the modes of earlier rows
 * @known: measurements so far, by workload, minibatch size and mode
 * @state: private state of @strategy
 */
struct jetwatt_strategy_search {
	struct jetwatt_tuner *learn;
	const struct jetwatt_strategy *strategy;
	struct jetwatt_slice_query q;
	size_t max_modes;
	struct jetwatt_observed known;
	void *state;
};

/**
 * jetwatt_strategy_search_open() - start a search with the rows of @learn
 * @s: the search; @learn, @strategy, @q and @max_modes are set
 * @kind: kind of the plan
 * @size: minibatch sizes; owned by the caller
 * @sizes: number of sizes
 *
 * Return: 0 or an exit code; the caller closes the search in both cases.
 */
int jetwatt_strategy_search_open(struct jetwatt_strategy_search *s, enum jetwatt_slice_kind kind, const uint32_t *size,
		      size_t sizes);

/* Choose the next cell. Return: 0; an exit code; or -ENODATA if no cell is worth measuring. */
int jetwatt_strategy_search_next(struct jetwatt_strategy_search *s, struct jetwatt_cell *c);
/* Add the last row of @s->learn as the measurement of cell @c. Return: 0, exit code. */
int jetwatt_strategy_search_add(struct jetwatt_strategy_search *s, const struct jetwatt_cell *c);

/* Free the search. */
void jetwatt_strategy_search_close(struct jetwatt_strategy_search *s);

#endif
