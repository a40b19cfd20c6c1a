/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the places of one job's waits to bounds.
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

/**
 * jetwatt_bounds_cut() - bounds of waits whose places are known
 * @out: start_ns and flags of the first one are set
 * @enough: no more after that wait
 * @next: out: the first wait after them
 *
 * Return: how many; at most 2 @n.
 */
int jetwatt_bounds_cut(const struct jetwatt_item *it, const struct jetwatt_beat *b, size_t n,
		       size_t enough, const struct jetwatt_rhythm *r, struct jetwatt_batch_bound *out,
		       size_t *next);

/* The program says itself what its minibatches are. Return: how many. */
int jetwatt_bounds_marked(const struct jetwatt_item *it, size_t n, struct jetwatt_rhythm *r,
			  struct jetwatt_batch_bound *out);

#endif
