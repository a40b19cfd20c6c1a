/* SPDX-License-Identifier: GPL-2.0-only */
/* For qsort() and bsearch(): doubles, the least first. */
#ifndef JETWATT_ORDER_H
#define JETWATT_ORDER_H

static inline int jetwatt_order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
