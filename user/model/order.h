/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Comparison functions for qsort().
 */
#ifndef JETWATT_ORDER_H
#define JETWATT_ORDER_H

#include "model/model.h"

/* Doubles in ascending order. */
static inline int jetwatt_order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Compare rows by mode, then by all other members of the row. */
static inline int jetwatt_order_rows(const void *a, const void *b)
{
	const struct jetwatt_row *x = a, *y = b;
	int mode = jetwatt_mode_order(&x->mode, &y->mode);

	if (mode)
		return mode;
#define ORDER(f) do { if (x->f != y->f) return x->f < y->f ? -1 : 1; } while (0)
	ORDER(time_ms);
	ORDER(power_w);
	ORDER(time_sd);
	ORDER(power_sd);
	ORDER(batch);
#undef ORDER
	return 0;
}

#endif
