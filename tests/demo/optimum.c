// SPDX-License-Identifier: GPL-2.0-only
/* Best measured mode under a budget, and outliers among measured modes. */
#include "optimum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIMS 4

static double coord(const struct jetwatt_mode *m, int d)
{
	switch (d) {
	case 0: return m->cores;
	case 1: return m->cpu_khz;
	case 2: return m->gpu_hz;
	default: return m->emc_hz;
	}
}

/* Position of a row in the grid of modes: its level in each dimension, from 0. */
struct cell {
	unsigned int step[DIMS];
	size_t row;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_step(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	for (int d = 0; d < DIMS; d++)
		if (x->step[d] != y->step[d])
			return x->step[d] < y->step[d] ? -1 : 1;
	return 0;
}

/* Fill @v with the distinct values of dimension @d, ascending. Return: their number. */
static size_t steps(const struct jetwatt_row *row, size_t n, int d, double *v)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = coord(&row[i].mode, d);
	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n; i++)
		if (!k || v[i] != v[k - 1])
			v[k++] = v[i];
	return k;
}

static long neighbour(const struct cell *cell, size_t n, struct cell c, int d, int by)
{
	const struct cell *hit;

	if (by < 0 && c.step[d] < (unsigned int)-by)
		return -1;
	c.step[d] += by;
	hit = bsearch(&c, cell, n, sizeof(*cell), by_step);
	return hit ? (long)hit->row : -1;
}

/* Power of row @i, extrapolated from the next two rows on one side in dimension @d; 0: neither side
 * has two rows. */
static double extrapolated(const struct jetwatt_row *row, const struct cell *cell, size_t n, size_t i, int d)
{
	for (int by = -1; by <= 1; by += 2) {
		long a = neighbour(cell, n, cell[i], d, by), b = neighbour(cell, n, cell[i], d, 2 * by);
		double x = coord(&row[cell[i].row].mode, d), xa, xb;

		if (a < 0 || b < 0)
			continue;
		xa = coord(&row[a].mode, d);
		xb = coord(&row[b].mode, d);
		return row[a].power_w * pow(row[a].power_w / row[b].power_w, log(x / xa) / log(xa / xb));
	}
	return 0;
}

static double median(double *g, int k)
{
	qsort(g, k, sizeof(*g), by_value);
	return k % 2 ? g[k / 2] : (g[k / 2 - 1] + g[k / 2]) / 2;
}

/* Least power of a row that is no outlier, as in optimum_outliers(); 0: it has too few neighbours. */
static double least_power(const struct jetwatt_row *row, const struct cell *cell, size_t n, size_t i)
{
	double g[DIMS], all[DIMS];
	int k = 0, any = 0;

	for (int d = 0; d < DIMS; d++) {
		long lo = neighbour(cell, n, cell[i], d, -1);
		long hi = neighbour(cell, n, cell[i], d, 1);

		if (lo >= 0 && hi >= 0)
			all[any] = g[k++] = sqrt(row[lo].power_w * row[hi].power_w);
		else
			all[any] = extrapolated(row, cell, n, i, d);
		any += all[any] > 0;
	}
	return fmax(k ? 0.95 * median(g, k) : 0, any ? 0.85 * median(all, any) : 0);
}

long optimum_outliers(const struct jetwatt_row *row, size_t n, unsigned char *outlier)
{
	struct cell *cell = calloc(n + 1, sizeof(*cell));
	double *v = calloc(n + 1, sizeof(*v));
	long count = -ENOMEM;

	if (!cell || !v)
		goto out;
	for (int d = 0; d < DIMS; d++) {
		size_t k = steps(row, n, d, v);

		for (size_t i = 0; i < n; i++) {
			double x = coord(&row[i].mode, d);
			double *at = bsearch(&x, v, k, sizeof(*v), by_value);

			cell[i].step[d] = at - v;
			cell[i].row = i;
		}
	}
	qsort(cell, n, sizeof(*cell), by_step);
	memset(outlier, 0, n);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		outlier[cell[i].row] = row[cell[i].row].power_w < least_power(row, cell, n, i);
		count += outlier[cell[i].row];
	}
out:
	free(cell);
	free(v);
	return count;
}

long optimum_find(const struct jetwatt_row *row, size_t n, const unsigned char *outlier,
		  double limit_w)
{
	long best = -1;

	for (size_t i = 0; i < n; i++) {
		if (row[i].power_w > limit_w || (outlier && outlier[i]))
			continue;
		if (best < 0 || row[i].time_ms < row[best].time_ms)
			best = i;
	}
	return best;
}

long optimum_row(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < n; i++)
		if (!memcmp(&row[i].mode, mode, sizeof(*mode)))
			return i;
	return -1;
}
