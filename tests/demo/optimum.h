/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the best mode under a budget by exhaustive search over the true time and power of all
 * modes. The demo's report and the benchmarks compare jetwatt's choice with this best mode; jetwatt
 * never gets the result of the search.
 */
#ifndef JETWATT_DEMO_OPTIMUM_H
#define JETWATT_DEMO_OPTIMUM_H

#include <stddef.h>
#include "store/csv.h"

/**
 * optimum_outliers() - mark rows whose measured power is an outlier
 * @row: measured modes
 * @n: number of rows
 * @outlier: receives for each of the @n rows 1 if it is an outlier, otherwise 0
 *
 * The modes form a grid with one dimension per knob. In each dimension in which a row has a
 * neighbour on both sides, its expected power is the geometric mean of the powers of these two
 * neighbours. A row is an outlier if its power is below 95 % of the median of these expected
 * values. A row is also an outlier if its power is below 85 % of the median over all dimensions,
 * where the expected power in a dimension without neighbours on both sides is extrapolated from the
 * next two rows (log power linear in the log of the knob).
 *
 * Return: number of outliers; -ENOMEM.
 */
long optimum_outliers(const struct jetwatt_row *row, size_t n, unsigned char *outlier);

/*
 * Find the fastest row with power_w <= @limit_w that is not marked in @outlier, which may be NULL.
 * Return: index of the row; -1: there is no such row.
 */
long optimum_find(const struct jetwatt_row *row, size_t n, const unsigned char *outlier,
		  double limit_w);

/* Return: index of the row of @mode; -1: there is none. */
long optimum_row(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode);

#endif
