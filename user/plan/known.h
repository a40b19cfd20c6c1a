/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has been measured of the workloads that are to share a board, cell by
 * cell: a cell is a workload at a minibatch size in a mode.
 */
#ifndef JETWATT_KNOWN_H
#define JETWATT_KNOWN_H

#include "model/estimator.h"
#include "plan/slice.h"

/* Two workloads share a board at most. */
#define JETWATT_KNOWN_WORKS	2

struct jetwatt_cell {
	size_t work, size, mode;
};

/**
 * struct jetwatt_tenant - one workload
 * @size: its @sizes minibatch sizes; training has one, which may be 0
 * @by: the predictor and what it knows of other workloads, NULL: the default, nothing
 * @time_ms, @power_w: size by size, all modes each: means of what was measured, NAN:
 *	nothing was
 * @row: all measurements, the latest last, @rows of them, of cells @cell
 */
struct jetwatt_tenant {
	const uint32_t *size;
	size_t sizes;
	const struct jetwatt_estimator *by;
	double *time_ms, *power_w;
	struct jetwatt_row *row;
	struct jetwatt_cell *cell;
	size_t rows, room;
};

/**
 * struct jetwatt_known - workloads on a board
 * @mode: the board's @n modes
 * @fresh: modes in which something was measured for this query, @modes of them
 * @measured: cells measured for this query
 */
struct jetwatt_known {
	enum jetwatt_slice_kind kind;
	const struct jetwatt_mode *mode;
	size_t n, works, modes, measured;
	struct jetwatt_tenant work[JETWATT_KNOWN_WORKS];
	unsigned char *fresh;
};

/**
 * jetwatt_known_init() - nothing is known yet
 * @mode: @n of them, all different; @size, @sizes: of each workload. Both stay the
 *	caller's
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int jetwatt_known_init(struct jetwatt_known *k, enum jetwatt_slice_kind kind,
		       const struct jetwatt_mode *mode, size_t n, const uint32_t *const *size,
		       const size_t *sizes);
void jetwatt_known_free(struct jetwatt_known *k);

/* Another query begins; @forget: and nothing is known. */
void jetwatt_known_query(struct jetwatt_known *k, int forget);

/* Return: 0; -EINVAL: not finite and positive; -ENOMEM. */
int jetwatt_known_add(struct jetwatt_known *k, const struct jetwatt_cell *c, double time_ms,
		      double power_w);

/* Where a cell's figures lie in a tenant's arrays. */
static inline size_t jetwatt_known_at(const struct jetwatt_known *k, const struct jetwatt_cell *c)
{
	return c->size * k->n + c->mode;
}

static inline int jetwatt_known_has(const struct jetwatt_known *k, const struct jetwatt_cell *c)
{
	double t = k->work[c->work].time_ms[jetwatt_known_at(k, c)];

	return t == t;
}

/* The best plan of what was measured. Return: 1, 0: none. */
int jetwatt_known_answer(const struct jetwatt_known *k, const struct jetwatt_slice_query *q,
			 struct jetwatt_slice_plan *plan);

/* Has anything that was measured in a mode drawn more than @budget? */
int jetwatt_known_over(const struct jetwatt_known *k, size_t mode, double budget);

/* Mark modes in which anything was measured. Return: how many. */
size_t jetwatt_known_modes(const struct jetwatt_known *k, unsigned char *seen);

/* Which end of the range of cores a mode is at: 1: few, 2: many, 0: none; and at which ends none
 * of those @seen is, which fills @range. More cores are not always faster, nor fewer slower, and
 * no form foretells it. */
int jetwatt_known_end_of(const struct jetwatt_known *k, size_t mode, const double *range);
int jetwatt_known_ends_missing(const struct jetwatt_known *k, const unsigned char *seen,
			       double *range);

#endif
