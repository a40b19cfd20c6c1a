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

/**
 * struct dirty_line - sort key of a row for one knob
 * @key: all knobs but the examined one, then the index of the level of the examined knob. Sorted by
 *	@key, neighbours in the examined knob are adjacent
 * @row: index of the row that the key belongs to
 */
struct dirty_line {
	uint64_t key[KNOBS];
	size_t row;
};

static int outlier_by_key(const void *a, const void *b)
{
	const struct dirty_line *x = a, *y = b;

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
static int outlier_is_next(const struct dirty_line *a, const struct dirty_line *b)
{
	for (int k = 0; k < KNOBS - 1; k++)
		if (a->key[k] != b->key[k])
			return 0;
	return a->key[KNOBS - 1] + 1 == b->key[KNOBS - 1];
}

/*
 * Set @mean of each row to the geometric mean of the power of its two neighbours in knob @knob; 0:
 * the row lacks a neighbour. @l and @level are scratch arrays of @n entries.
 */
static void outlier_neighbour_means(const struct jetwatt_row *row, size_t n, int knob,
				    struct dirty_line *l, uint64_t *level, double *mean)
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
		mean[i] = 0;
	}
	qsort(l, n, sizeof(*l), outlier_by_key);
	/* Of repeated measurements of a mode, only the first counts. */
	for (size_t i = 0; i < n; i++)
		if (!cells || memcmp(l[i].key, l[cells - 1].key, sizeof(l[i].key)))
			l[cells++] = l[i];
	for (size_t i = 1; i + 1 < cells; i++)
		if (outlier_is_next(&l[i - 1], &l[i]) && outlier_is_next(&l[i], &l[i + 1]))
			mean[l[i].row] = sqrt(row[l[i - 1].row].power_w * row[l[i + 1].row].power_w);
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

long jetwatt_outlier_mark(const struct jetwatt_row *row, size_t n, unsigned char *dirty)
{
	struct dirty_line *l = malloc((n ? n : 1) * sizeof(*l));
	uint64_t *level = malloc((n ? n : 1) * sizeof(*level));
	double *mean = malloc((n ? n : 1) * KNOBS * sizeof(*mean));
	long count = -ENOMEM;

	if (!l || !level || !mean)
		goto out;
	for (int k = 0; k < KNOBS; k++)
		outlier_neighbour_means(row, n, k, l, level, mean + k * n);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		double v[KNOBS];
		int known = 0;

		for (int k = 0; k < KNOBS; k++)
			if (mean[k * n + i] > 0)
				v[known++] = mean[k * n + i];
		dirty[i] = known && row[i].power_w < OUTLIER_SHARE * outlier_median(v, known);
		count += dirty[i];
	}
out:
	free(l);
	free(level);
	free(mean);
	return count;
}
