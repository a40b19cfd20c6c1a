/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A search by a strategy: it asks for a mode at a minibatch size, and is told what was
 * measured there.
 */
#ifndef JETWATT_TUNE_STRATEGY_SEARCH_H
#define JETWATT_TUNE_STRATEGY_SEARCH_H

#include "plan/strategy.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_seek - a search
 * @q: what is asked
 * @most: modes that may be measured, those of earlier rows among them
 * @known: what was measured, @state: the strategy's
 */
struct jetwatt_seek {
	struct jetwatt_learn *learn;
	const struct jetwatt_strategy *strategy;
	struct jetwatt_slice_query q;
	size_t most;
	struct jetwatt_known known;
	void *state;
};

/**
 * jetwatt_seek_open() - with @learn's modes, and the rows that it has
 * @size: @sizes of them, the caller's
 *
 * Return: 0, exit code. Either way it is to be closed.
 */
int jetwatt_seek_open(struct jetwatt_seek *s, enum jetwatt_slice_kind kind, const uint32_t *size,
		      size_t sizes);

/* What to measure next. Return: 0, exit code, -ENODATA: nothing more. */
int jetwatt_seek_next(struct jetwatt_seek *s, struct jetwatt_cell *c);
/* It was: the last row. Return: 0, exit code. */
int jetwatt_seek_took(struct jetwatt_seek *s, const struct jetwatt_cell *c);

void jetwatt_seek_close(struct jetwatt_seek *s);

#endif
