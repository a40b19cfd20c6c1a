/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the places of one job's waits to bounds, and to the record of each decision.
 */
#ifndef JETWATT_MINIBATCH_BOUNDS_H
#define JETWATT_MINIBATCH_BOUNDS_H

#include "minibatch/minibatch.h"
#include "minibatch/period.h"

/* A wait and where it stood in the input. */
struct jetwatt_item {
	const struct jetwatt_sync *sync;
	size_t at;
};

/* segment.c: jetwatt_batch_explain(), and what was found of the job with the most waits, which
 * is process @tgid. */
int jetwatt_batch_find(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
		       struct jetwatt_batch_info *info, struct jetwatt_batch_why *why,
		       struct jetwatt_rhythm *most_of, uint32_t *tgid);

/* beat.c: all but the logarithms; with logarithms for a first guess. */
void jetwatt_beats_times(const struct jetwatt_item *it, size_t n, struct jetwatt_beat *b);
void jetwatt_beats_rough(const struct jetwatt_item *it, size_t n, struct jetwatt_beat *b);

/**
 * struct jetwatt_cut - where bounds and records go
 * @out: bounds; in: start_ns and flags of the first one
 * @base: index of @out[0] among all bounds
 * @why: a record for each wait of the input, NULL: none
 */
struct jetwatt_cut {
	struct jetwatt_batch_bound *out;
	uint32_t base;
	struct jetwatt_batch_why *why;
};

/**
 * jetwatt_bounds_cut() - bounds of waits whose places are known
 * @enough: no more after that wait
 * @next: out: the first wait after them
 *
 * Return: how many; at most 2 @n.
 */
int jetwatt_bounds_cut(const struct jetwatt_item *it, const struct jetwatt_beat *b, size_t n,
		       size_t enough, const struct jetwatt_rhythm *r, const struct jetwatt_cut *cut,
		       size_t *next);

/* The program says itself what its minibatches are. Return: how many. */
int jetwatt_bounds_marked(const struct jetwatt_item *it, size_t n, struct jetwatt_rhythm *r,
			  const struct jetwatt_cut *cut);

/* No decision yet about any wait of a job. */
void jetwatt_bounds_begin(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_why *why);

#endif
