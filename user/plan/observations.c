// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurements of the workloads that share a board: tables of mean time and power, and the rows
 * that the means are computed from.
 */
#include "plan/observations.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void observed_discard(struct jetwatt_observed *k)
{
	for (size_t w = 0; w < k->works; w++) {
		struct jetwatt_workload_data *t = &k->work[w];

		for (size_t i = 0; i < t->sizes * k->n; i++)
			t->time_ms[i] = t->power_w[i] = NAN;
		t->rows = 0;
	}
}

int jetwatt_observed_init(struct jetwatt_observed *k, enum jetwatt_slice_kind kind,
			  const struct jetwatt_mode *mode, size_t n, const uint32_t *const *size,
			  const size_t *sizes)
{
	*k = (struct jetwatt_observed){ .kind = kind, .mode = mode, .n = n,
				     .works = jetwatt_slice_works(kind) };
	if (!n)
		return -EINVAL;
	k->fresh = calloc(n, 1);
	if (!k->fresh)
		return -ENOMEM;
	for (size_t w = 0; w < k->works; w++) {
		struct jetwatt_workload_data *t = &k->work[w];

		if (!sizes[w] || sizes[w] > JETWATT_SLICE_SIZES)
			return -EINVAL;
		t->size = size[w];
		t->sizes = sizes[w];
		t->time_ms = malloc(2 * sizes[w] * n * sizeof(*t->time_ms));
		if (!t->time_ms)
			return -ENOMEM;
		t->power_w = t->time_ms + sizes[w] * n;
	}
	observed_discard(k);
	return 0;
}

void jetwatt_observed_free(struct jetwatt_observed *k)
{
	for (size_t w = 0; w < JETWATT_OBSERVED_WORKS; w++) {
		free(k->work[w].time_ms);
		free(k->work[w].row);
		free(k->work[w].cell);
	}
	free(k->fresh);
}

void jetwatt_observed_query(struct jetwatt_observed *k, int all)
{
	memset(k->fresh, 0, k->n);
	k->modes = k->measured = 0;
	if (all)
		observed_discard(k);
}

static int observed_grow(struct jetwatt_workload_data *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : 32;
	struct jetwatt_row *row = realloc(t->row, capacity * sizeof(*row));
	struct jetwatt_cell *cell;

	if (!row)
		return -ENOMEM;
	t->row = row;
	cell = realloc(t->cell, capacity * sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	t->cell = cell;
	t->capacity = capacity;
	return 0;
}

int jetwatt_observed_add(struct jetwatt_observed *k, const struct jetwatt_cell *c, double time_ms,
			 double power_w)
{
	struct jetwatt_workload_data *t = &k->work[c->work];
	size_t at = jetwatt_observed_at(k, c);
	double time = 0, power = 0, n = 0;

	if (!(time_ms > 0 && time_ms < INFINITY && power_w > 0 && power_w < INFINITY))
		return -EINVAL;
	if (t->rows == t->capacity && observed_grow(t))
		return -ENOMEM;
	t->cell[t->rows] = *c;
	t->row[t->rows++] = (struct jetwatt_row){
		.mode = k->mode[c->mode], .time_ms = time_ms, .power_w = power_w,
		.batch = t->sizes > 1 ? t->size[c->size] : 0,
	};
	for (size_t j = 0; j < t->rows; j++)
		if (t->cell[j].mode == c->mode && t->cell[j].size == c->size) {
			time += t->row[j].time_ms;
			power += t->row[j].power_w;
			n++;
		}
	t->time_ms[at] = time / n;
	t->power_w[at] = power / n;
	k->modes += !k->fresh[c->mode];
	k->fresh[c->mode] = 1;
	k->measured++;
	return 0;
}

int jetwatt_observed_best(const struct jetwatt_observed *k, const struct jetwatt_slice_query *q,
			  struct jetwatt_slice_plan *plan)
{
	struct jetwatt_slice_work work[JETWATT_OBSERVED_WORKS];

	for (size_t w = 0; w < k->works; w++)
		work[w] = (struct jetwatt_slice_work){ k->work[w].size, k->work[w].sizes,
						       k->work[w].time_ms, k->work[w].power_w };
	return jetwatt_slice_find(k->kind, work, k->n, q, plan);
}

int jetwatt_observed_over(const struct jetwatt_observed *k, size_t mode, double budget)
{
	for (size_t w = 0; w < k->works; w++)
		for (size_t z = 0; z < k->work[w].sizes; z++)
			if (k->work[w].power_w[z * k->n + mode] > budget)
				return 1;
	return 0;
}

size_t jetwatt_observed_modes(const struct jetwatt_observed *k, unsigned char *seen)
{
	size_t modes = 0;

	for (size_t i = 0; i < k->n; i++) {
		seen[i] = 0;
		for (size_t w = 0; w < k->works; w++)
			for (size_t z = 0; z < k->work[w].sizes; z++)
				seen[i] |= !isnan(k->work[w].time_ms[z * k->n + i]);
		modes += seen[i];
	}
	return modes;
}

int jetwatt_observed_end_of(const struct jetwatt_observed *k, size_t mode, const double *range)
{
	double at = (log(k->mode[mode].cores) - range[0]) / (range[1] - range[0]);

	return at < 1.0 / 3 ? 1 : at > 2.0 / 3 ? 2 : 0;
}

int jetwatt_observed_ends_missing(const struct jetwatt_observed *k, const unsigned char *seen,
				  double *range)
{
	int ends = 0;

	range[0] = INFINITY;
	range[1] = 0;
	for (size_t i = 0; i < k->n; i++) {
		range[0] = fmin(range[0], log(k->mode[i].cores));
		range[1] = fmax(range[1], log(k->mode[i].cores));
	}
	if (!(range[1] > range[0]))
		return 0;
	for (size_t i = 0; i < k->n; i++)
		if (seen[i])
			ends |= jetwatt_observed_end_of(k, i, range);
	return ~ends & 3;
}
