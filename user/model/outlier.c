// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outlier detection in a grid of modes: sorts the rows once for each knob, and once for the
 * minibatch size, to find neighbours.
 */
#include "model/outlier.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Dimensions of the grid: the knobs, and the minibatch size as the last. */
#define DIMS	(JETWATT_KNOBS + 1)
#define SIZE	JETWATT_KNOBS
/* A row below this share of the median of the neighbour means is an outlier. */
#define OUTLIER_SHARE	0.95
/* The share for the median of all estimates, some of which are extrapolated. */
#define EDGE_SHARE	0.85

/**
 * struct outlier_line - sort key of a row for one dimension
 * @key: all dimensions but the examined one, then the index of the level of the examined dimension.
 *	Sorted by @key, neighbours in the examined dimension are adjacent
 * @row: index of the row that the key belongs to
 */
struct outlier_line {
	uint64_t key[DIMS];
	size_t row;
};

static uint64_t outlier_level(const struct jetwatt_row *row, int dim)
{
	return dim == SIZE ? row->batch : jetwatt_mode_get(&row->mode, (enum jetwatt_knob)dim);
}

static int outlier_by_key(const void *a, const void *b)
{
	const struct outlier_line *x = a, *y = b;

	for (int k = 0; k < DIMS; k++)
		if (x->key[k] != y->key[k])
			return x->key[k] < y->key[k] ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int outlier_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t outlier_level_index(const uint64_t *level, size_t n, uint64_t v)
{
	const uint64_t *at = bsearch(&v, level, n, sizeof(*level), outlier_by_value);

	return at - level;
}

/* Return: 1 if @b is one level above @a in the examined dimension and equal in all others. */
static int outlier_is_next(const struct outlier_line *a, const struct outlier_line *b)
{
	for (int k = 0; k < DIMS - 1; k++)
		if (a->key[k] != b->key[k])
			return 0;
	return a->key[DIMS - 1] + 1 == b->key[DIMS - 1];
}

/* Return: the power at the first row of @end, @next, @second, which are adjacent levels of
 * dimension @dim, extrapolated from the other two: log power is linear in the log of a knob. Over
 * the minibatch size the power is taken as constant, because it rises by less with each larger
 * size. */
static double outlier_extrapolate(const struct jetwatt_row *end, const struct jetwatt_row *next,
				  const struct jetwatt_row *second, int dim)
{
	double at = log(outlier_level(next, dim));
	double slope = 0;

	if (dim != SIZE)
		slope = log(next->power_w / second->power_w) /
			(at - log(outlier_level(second, dim)));
	return next->power_w * exp(slope * (log(outlier_level(end, dim)) - at));
}

/* Fill @l with the sort keys of the rows for dimension @dim, and sort it. Of repeated measurements
 * of a mode, only the first is kept. @level: scratch array of @n entries. Return: number of
 * keys. */
static size_t outlier_sort(const struct jetwatt_row *row, size_t n, int dim, struct outlier_line *l,
			   uint64_t *level)
{
	size_t levels = 0, cells = 0;

	for (size_t i = 0; i < n; i++)
		level[i] = outlier_level(&row[i], dim);
	qsort(level, n, sizeof(*level), outlier_by_value);
	for (size_t i = 0; i < n; i++)
		if (!levels || level[i] != level[levels - 1])
			level[levels++] = level[i];
	for (size_t i = 0; i < n; i++) {
		int at = 0;

		for (int d = 0; d < DIMS; d++)
			if (d != dim)
				l[i].key[at++] = outlier_level(&row[i], d);
		l[i].key[at] = outlier_level_index(level, levels, outlier_level(&row[i], dim));
		l[i].row = i;
	}
	qsort(l, n, sizeof(*l), outlier_by_key);
	for (size_t i = 0; i < n; i++)
		if (!cells || memcmp(l[i].key, l[cells - 1].key, sizeof(l[i].key)))
			l[cells++] = l[i];
	return cells;
}

/*
 * Set @mean of each row to the geometric mean of the power of its two neighbours in dimension @dim;
 * 0: the row lacks a neighbour. If a row lacks one neighbour, set @end to the power extrapolated
 * from the next two rows on the other side, if these exist; else @end is 0.
 * @l and @level are scratch arrays of @n entries.
 */
static void outlier_estimate(const struct jetwatt_row *row, size_t n, int dim,
			     struct outlier_line *l, uint64_t *level, double *mean, double *end)
{
	size_t cells = outlier_sort(row, n, dim, l, level);

	memset(mean, 0, n * sizeof(*mean));
	memset(end, 0, n * sizeof(*end));
	for (size_t i = 1; i + 1 < cells; i++) {
		const struct jetwatt_row *before = &row[l[i - 1].row], *at = &row[l[i].row], *after = &row[l[i + 1].row];

		if (!outlier_is_next(&l[i - 1], &l[i]) || !outlier_is_next(&l[i], &l[i + 1]))
			continue;
		mean[l[i].row] = sqrt(before->power_w * after->power_w);
		if (i == 1 || !outlier_is_next(&l[i - 2], &l[i - 1]))
			end[l[i - 1].row] = outlier_extrapolate(before, at, after, dim);
		if (i + 2 == cells || !outlier_is_next(&l[i + 1], &l[i + 2]))
			end[l[i + 1].row] = outlier_extrapolate(after, at, before, dim);
	}
}

static double outlier_median(double v[DIMS], int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
			double t = v[j];

			v[j] = v[j - 1];
			v[j - 1] = t;
		}
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Return: least power of a row that is no outlier. @mean, @end: of the row, one value per dimension
 * at a distance of @n. */
static double outlier_limit_w(const double *mean, const double *end, size_t n)
{
	double two[DIMS], all[DIMS];
	int both = 0, known = 0;

	for (int d = 0; d < DIMS; d++) {
		double m = mean[d * n], any = m > 0 ? m : end[d * n];

		if (m > 0 && d != SIZE)
			two[both++] = m;
		if (any > 0)
			all[known++] = any;
	}
	return fmax(both ? OUTLIER_SHARE * outlier_median(two, both) : 0,
		    known ? EDGE_SHARE * outlier_median(all, known) : 0);
}

long jetwatt_outlier_mark(const struct jetwatt_row *row, size_t n, unsigned char *outlier)
{
	struct outlier_line *l = malloc((n ? n : 1) * sizeof(*l));
	uint64_t *level = malloc((n ? n : 1) * sizeof(*level));
	double *mean = malloc((n ? n : 1) * 2 * DIMS * sizeof(*mean)), *end = mean + n * DIMS;
	long count = -ENOMEM;

	if (!l || !level || !mean)
		goto out;
	for (int d = 0; d < DIMS; d++)
		outlier_estimate(row, n, d, l, level, mean + d * n, end + d * n);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		outlier[i] = row[i].power_w < outlier_limit_w(mean + i, end + i, n);
		count += outlier[i];
	}
out:
	free(l);
	free(level);
	free(mean);
	return count;
}
