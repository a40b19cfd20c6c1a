/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One decision of a search: what is asked, what is known, what is predicted.
 */
#ifndef JETWATT_SEARCH_H
#define JETWATT_SEARCH_H

#include "plan.h"

/* The first modes are laid out by hand, more or less; then the model leads. */
#define JETWATT_DESIGN	4

/**
 * struct jetwatt_search
 * @mode, @n: the board's modes; @row, @rows: what was measured
 * @seen: @n flags, measured already
 * @p: @n predictions from @row (meaningless while @rows is 0)
 */
struct jetwatt_search {
	const struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_row *row;
	size_t rows;
	double budget_w;
	unsigned char *seen;
	struct jetwatt_prediction *p;
};

static inline int jetwatt_same_mode(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return a->cores == b->cores && a->cpu_khz == b->cpu_khz && a->gpu_hz == b->gpu_hz &&
	       a->emc_hz == b->emc_hz;
}

/* The next mode of the opening (@rows < JETWATT_DESIGN). Return: 0, 1: none left. */
int jetwatt_design_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* The mode of the greatest expected improvement. Return: 0, 1: none worth it. */
int jetwatt_improve_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

#endif
