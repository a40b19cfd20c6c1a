// SPDX-License-Identifier: GPL-2.0-only
#include "model/dirty.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KNOBS	JETWATT_KNOBS
#define SHARE	0.95

/* By every other knob first, by @last last: neighbours of that knob then stand
 * next to each other, and its steps are told by looking at a whole column. */
struct dirty_line {
	uint64_t key[KNOBS];
	size_t row;
};

static int by_key(const void *a, const void *b)
{
	const struct dirty_line *x = a, *y = b;

	for (int k = 0; k < KNOBS; k++)
		if (x->key[k] != y->key[k])
			return x->key[k] < y->key[k] ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t rank_of(const uint64_t *step, size_t n, uint64_t v)
{
	const uint64_t *at = bsearch(&v, step, n, sizeof(*step), by_value);

	return at - step;
}

/* Is @b one step above @a, all else the same? */
static int next_to(const struct dirty_line *a, const struct dirty_line *b)
{
	for (int k = 0; k < KNOBS - 1; k++)
		if (a->key[k] != b->key[k])
			return 0;
	return a->key[KNOBS - 1] + 1 == b->key[KNOBS - 1];
}

/* For one knob: the mean of each row's two neighbours into @mean, 0: none. */
static void means(const struct jetwatt_row *row, size_t n, int last, struct dirty_line *l,
		  uint64_t *step, double *mean)
{
	size_t steps = 0, cells = 0;

	for (size_t i = 0; i < n; i++)
		step[i] = jetwatt_mode_get(&row[i].mode, (enum jetwatt_knob)last);
	qsort(step, n, sizeof(*step), by_value);
	for (size_t i = 0; i < n; i++)
		if (!steps || step[i] != step[steps - 1])
			step[steps++] = step[i];
	for (size_t i = 0; i < n; i++) {
		int at = 0;

		for (int k = 0; k < KNOBS; k++)
			if (k != last)
				l[i].key[at++] = jetwatt_mode_get(&row[i].mode,
								  (enum jetwatt_knob)k);
		l[i].key[at] = rank_of(step, steps,
				       jetwatt_mode_get(&row[i].mode, (enum jetwatt_knob)last));
		l[i].row = i;
		mean[i] = 0;
	}
	qsort(l, n, sizeof(*l), by_key);
	/* A mode that is there twice is one place. */
	for (size_t i = 0; i < n; i++)
		if (!cells || memcmp(l[i].key, l[cells - 1].key, sizeof(l[i].key)))
			l[cells++] = l[i];
	for (size_t i = 1; i + 1 < cells; i++)
		if (next_to(&l[i - 1], &l[i]) && next_to(&l[i], &l[i + 1]))
			mean[l[i].row] = sqrt(row[l[i - 1].row].power_w * row[l[i + 1].row].power_w);
}

static double median(double v[KNOBS], int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
			double t = v[j];

			v[j] = v[j - 1];
			v[j - 1] = t;
		}
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

long jetwatt_dirty_mark(const struct jetwatt_row *row, size_t n, unsigned char *dirty)
{
	struct dirty_line *l = malloc((n ? n : 1) * sizeof(*l));
	uint64_t *step = malloc((n ? n : 1) * sizeof(*step));
	double *mean = malloc((n ? n : 1) * KNOBS * sizeof(*mean));
	long count = -ENOMEM;

	if (!l || !step || !mean)
		goto out;
	for (int k = 0; k < KNOBS; k++)
		means(row, n, k, l, step, mean + k * n);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		double v[KNOBS];
		int known = 0;

		for (int k = 0; k < KNOBS; k++)
			if (mean[k * n + i] > 0)
				v[known++] = mean[k * n + i];
		dirty[i] = known && row[i].power_w < SHARE * median(v, known);
		count += dirty[i];
	}
out:
	free(l);
	free(step);
	free(mean);
	return count;
}
