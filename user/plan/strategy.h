/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which cell to measure next for a query, by several strategies; the answer is
 * always the best plan of what was measured.
 */
#ifndef JETWATT_STRATEGY_H
#define JETWATT_STRATEGY_H

#include "plan/known.h"

/**
 * struct jetwatt_strategy - one of them
 * @name: as on the command line; @does: one line about it
 * @modes: how many modes it wants for a query
 * @shared: measures once, for all queries to come
 * @new: its state, of one query or of a stream of queries
 * @next: the next cell; @most: modes that may be measured for this query
 *
 * @new returns 0, -ENOMEM. @next returns 0; 1: nothing left that it would measure;
 * negative errno. Same arguments and answers, same cells.
 */
struct jetwatt_strategy {
	const char *name, *does;
	size_t modes;
	int shared;
	int (*new)(void **state, const struct jetwatt_known *k, uint64_t seed);
	int (*next)(void *state, const struct jetwatt_known *k,
		    const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *next);
	void (*free)(void *state);
};

/* Model-guided; ours, and the default (scout.c). */
extern const struct jetwatt_strategy jetwatt_strategy_auto;
/* Fulcrum's (arXiv 2509.20205): gradient descent over the knobs (gmd.c), and
 * sampling for a front by networks (als.c). */
extern const struct jetwatt_strategy jetwatt_strategy_gmd, jetwatt_strategy_als;

/* Return: NULL: no such strategy. */
const struct jetwatt_strategy *jetwatt_strategy_find(const char *name);

#endif
