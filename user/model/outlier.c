// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outlier detection in a grid of modes: sorts the rows once for each knob to find neighbours.
 */
#include "model/outlier.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KNOBS	JETWATT_KNOBS
/* A row below this share of the expected power is an outlier. */
#define OUTLIER_SHARE	0.95
/* The share for a row at a corner of the grid, whose expected power is extrapolated. */
#define CORNER_SHARE	0.8

/**
 * struct outlier_line - sort key of a row for one knob
 * @key: all knobs but the examined one, then the index of the level of the examined knob. Sorted by
 *	@key, neighbours in the examined knob are adjacent
 * @row: index of the row that the key belongs to
 */
struct outlier_line {
	uint64_t key[KNOBS];
	size_t row;
};

static int outlier_by_key(const void *a, const void *b)
{
	const struct outlier_line *x = a, *y = b;

	for (int k = 0; k < KNOBS; k++)
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

/* Return: 1 if @b is one level above @a in the examined knob and equal in all other knobs. */
static int outlier_is_next(const struct outlier_line *a, const struct outlier_line *b)
{
	for (int k = 0; k < KNOBS - 1; k++)
		if (a->key[k] != b->key[k])
			return 0;
	return a->key[KNOBS - 1] + 1 == b->key[KNOBS - 1];
}

/* Return: the power at the first row of @end, @next, @second, which are adjacent levels of knob
 * @knob, extrapolated from the other two: log power is linear in the log of the knob. */
static double outlier_extrapolate(const struct jetwatt_row *end, const struct jetwatt_row *next,
				  const struct jetwatt_row *second, enum jetwatt_knob knob)
{
	double at = log(jetwatt_mode_get(&next->mode, knob));
	double slope = log(next->power_w / second->power_w) / (at - log(jetwatt_mode_get(&second->mode, knob)));

	return next->power_w * exp(slope * (log(jetwatt_mode_get(&end->mode, knob)) - at));
}

/*
 * Set @mean of each row to the geometric mean of the power of its two neighbours in knob @knob; 0:
 * the row lacks a neighbour. If a row lacks a neighbour because it is at an end of the knob's
 * range, set @end to the power extrapolated from the next two rows; 0: these two rows do not exist.
 * @l and @level are scratch arrays of @n entries.
 */
static void outlier_neighbour_means(const struct jetwatt_row *row, size_t n, int knob,
				    struct outlier_line *l, uint64_t *level, double *mean,
				    double *end)
{
	size_t levels = 0, cells = 0;

	for (size_t i = 0; i < n; i++)
		level[i] = jetwatt_mode_get(&row[i].mode, (enum jetwatt_knob)knob);
	qsort(level, n, sizeof(*level), outlier_by_value);
	for (size_t i = 0; i < n; i++)
		if (!levels || level[i] != level[levels - 1])
			level[levels++] = level[i];
	for (size_t i = 0; i < n; i++) {
		int at = 0;

		for (int k = 0; k < KNOBS; k++)
			if (k != knob)
				l[i].key[at++] = jetwatt_mode_get(&row[i].mode,
								  (enum jetwatt_knob)k);
		l[i].key[at] = outlier_level_index(
			level, levels, jetwatt_mode_get(&row[i].mode, (enum jetwatt_knob)knob));
		l[i].row = i;
		mean[i] = end[i] = 0;
	}
	qsort(l, n, sizeof(*l), outlier_by_key);
	/* Of repeated measurements of a mode, only the first counts. */
	for (size_t i = 0; i < n; i++)
		if (!cells || memcmp(l[i].key, l[cells - 1].key, sizeof(l[i].key)))
			l[cells++] = l[i];
	for (size_t i = 1; i + 1 < cells; i++) {
		const struct jetwatt_row *before = &row[l[i - 1].row], *at = &row[l[i].row], *after = &row[l[i + 1].row];

		if (!outlier_is_next(&l[i - 1], &l[i]) || !outlier_is_next(&l[i], &l[i + 1]))
			continue;
		mean[l[i].row] = sqrt(before->power_w * after->power_w);
		if (i == 1 || !outlier_is_next(&l[i - 2], &l[i - 1]))
			end[l[i - 1].row] = outlier_extrapolate(before, at, after, (enum jetwatt_knob)knob);
		if (i + 2 == cells || !outlier_is_next(&l[i + 1], &l[i + 2]))
			end[l[i + 1].row] = outlier_extrapolate(after, at, before, (enum jetwatt_knob)knob);
	}
}

static double outlier_median(double v[KNOBS], int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
			double t = v[j];

			v[j] = v[j - 1];
			v[j - 1] = t;
		}
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Collect the values of row @i that are known, one for each knob. Return: their median; 0: none. */
static double outlier_expected(const double *value, size_t n, size_t i)
{
	double v[KNOBS];
	int known = 0;

	for (int k = 0; k < KNOBS; k++)
		if (value[k * n + i] > 0)
			v[known++] = value[k * n + i];
	return known ? outlier_median(v, known) : 0;
}

long jetwatt_outlier_mark(const struct jetwatt_row *row, size_t n, unsigned char *outlier)
{
	struct outlier_line *l = malloc((n ? n : 1) * sizeof(*l));
	uint64_t *level = malloc((n ? n : 1) * sizeof(*level));
	double *mean = malloc((n ? n : 1) * 2 * KNOBS * sizeof(*mean)), *end = mean + n * KNOBS;
	long count = -ENOMEM;

	if (!l || !level || !mean)
		goto out;
	for (int k = 0; k < KNOBS; k++)
		outlier_neighbour_means(row, n, k, l, level, mean + k * n, end + k * n);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		double expected = OUTLIER_SHARE * outlier_expected(mean, n, i);

		if (!(expected > 0))
			expected = CORNER_SHARE * outlier_expected(end, n, i);
		outlier[i] = row[i].power_w < expected;
		count += outlier[i];
	}
out:
	free(l);
	free(level);
	free(mean);
	return count;
}
