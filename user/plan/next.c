// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt_plan_next(): fit, predict, and call the function that chooses the next mode.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* With a budget, the parametric means exclude modes if there are at least this number of rows, or
 * rows of other devices. With fewer rows every mode is possible, and predicting all of them is
 * cheap. */
#define EXCLUDE_ROWS	8

/* Mark measured modes. Return: number of different modes in the rows. */
static size_t next_mark_seen(struct jetwatt_search *s)
{
	size_t modes = 0;

	for (size_t j = 0; j < s->rows; j++)
		for (size_t i = 0; i < s->n; i++)
			if (jetwatt_mode_same(&s->mode[i], &s->row[j].mode))
				s->seen[i] = JETWATT_MEASURED;
	for (size_t i = 0; i < s->n; i++)
		modes += s->seen[i];
	return modes;
}

static int next_predict(struct jetwatt_search *s, uint64_t seed)
{
	int err = jetwatt_estimator_fit(&s->m, s->by, s->row, s->rows, 0, seed);

	if (err)
		return err;
	if ((s->rows >= EXCLUDE_ROWS || s->cross_device) && s->budget_w > 0)
		return jetwatt_plan_predict_possible(s->m, s->mode, s->n, s->budget_w, 0, s->seen, s->p, NULL);
	return jetwatt_fitted_predict(s->m, s->mode, NULL, s->n, s->p);
}

/* A fit of the default predictor uses at most JETWATT_FIT_MAX rows; the rows that it leaves out
 * would look like outliers. */
static int next_remeasure(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	if (s->rows < JETWATT_DESIGN || s->rows > JETWATT_FIT_MAX)
		return 1;
	return s->budget_w > 0 ? jetwatt_remeasure_best(s, next) : jetwatt_remeasure_outlier(s, next);
}

static int next_choose(const struct jetwatt_search *s, uint64_t seed, struct jetwatt_plan_next *next)
{
	if (!next_remeasure(s, next))
		return 0;
	if (!s->left)
		return 1;
	if (s->rows < s->design && !s->cross_device && !s->skip_design)
		return jetwatt_design_next(s, next);
	if (s->budget_w > 0)
		return jetwatt_improve_next(s, next);
	return jetwatt_explore_next(s, seed, next);
}

int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, const struct jetwatt_estimator *by, double budget_w, size_t most,
		      uint64_t seed, struct jetwatt_plan_next *next)
{
	struct jetwatt_search s = { .mode = mode, .n = n, .row = row, .rows = rows,
				    .by = by, .budget_w = budget_w,
				    .design = by && by->particles ? JETWATT_DESIGN_FEW : JETWATT_DESIGN };
	size_t modes;
	int err;

	if (!n || !isfinite(budget_w) || budget_w < 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!jetwatt_mode_whole(&mode[i]))
			return -EINVAL;
	s.seen = calloc(n, 1);
	s.p = calloc(n, sizeof(*s.p));
	err = s.seen && s.p ? 0 : -ENOMEM;
	if (err)
		goto out;
	modes = next_mark_seen(&s);
	s.left = most > modes ? most - modes : 0;
	s.cross_device = jetwatt_estimator_cross_device_agrees(by, row, rows);
	if (rows || s.cross_device ||
	    (budget_w > 0 && jetwatt_estimator_references_cover(by, mode, n)))
		err = next_predict(&s, seed);
	s.skip_design = budget_w > 0 &&
			jetwatt_fitted_reference_weight(s.m) >= JETWATT_PLAN_REFERENCE_WEIGHT;
	if (!err)
		err = next_choose(&s, seed, next);
out:
	jetwatt_fitted_free(s.m);
	free(s.seen);
	free(s.p);
	return err;
}
