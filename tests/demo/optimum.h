/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The best mode under a budget by exhaustion over what the plant knows: the
 * yardstick of the demo's report. Nothing of it reaches jetwatt.
 */
#ifndef JETWATT_DEMO_OPTIMUM_H
#define JETWATT_DEMO_OPTIMUM_H

#include <stddef.h>
#include "store/csv.h"

/**
 * optimum_dirty() - mark rows whose power reads far below their neighbours'
 * @dirty: n entries
 *
 * A row is dirty where its power is below 0.95 x the median, over the
 * dimensions in which it has two neighbours on the grid, of the geometric mean
 * of those two.
 * Return: number of dirty rows, -ENOMEM.
 */
long optimum_dirty(const struct jetwatt_row *row, size_t n, unsigned char *dirty);

/* Fastest row with power_w <= @limit_w that is not marked (@dirty may be
 * NULL). Return: its index, -1: none. */
long optimum_find(const struct jetwatt_row *row, size_t n, const unsigned char *dirty,
		  double limit_w);

/* Index of the row of @mode, -1: none. */
long optimum_row(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode);

#endif
