/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison function for qsort(): doubles in ascending order. */
#ifndef JETWATT_MINIBATCH_ORDER_H
#define JETWATT_MINIBATCH_ORDER_H

static inline int jetwatt_minibatch_order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
