// SPDX-License-Identifier: GPL-2.0-only
#include "search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/fit.h"

static void mark_seen(struct jetwatt_search *s)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->rows && !s->seen[i]; j++)
			s->seen[i] = jetwatt_same_mode(&s->mode[i], &s->row[j].mode);
}

static int predict(struct jetwatt_search *s, uint64_t seed)
{
	int err = jetwatt_fit(&s->m, s->row, s->rows, seed);

	return err ? err : jetwatt_model_predict(s->m, s->mode, s->n, s->p);
}

static int choose(const struct jetwatt_search *s, uint64_t seed, struct jetwatt_plan_next *next)
{
	if (s->rows < JETWATT_DESIGN)
		return jetwatt_design_next(s, next);
	if (s->budget_w > 0)
		return jetwatt_improve_next(s, next);
	return jetwatt_explore_next(s, seed, next);
}

int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, double budget_w, size_t most, uint64_t seed,
		      struct jetwatt_plan_next *next)
{
	struct jetwatt_search s = { mode, n, row, rows, budget_w, NULL, NULL, NULL };
	int err;

	if (!n || !isfinite(budget_w) || budget_w < 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!mode[i].cores || !mode[i].cpu_khz || !mode[i].gpu_hz || !mode[i].emc_hz)
			return -EINVAL;
	if (rows >= most)
		return 1;
	s.seen = calloc(n, 1);
	s.p = calloc(n, sizeof(*s.p));
	err = s.seen && s.p ? 0 : -ENOMEM;
	if (err)
		goto out;
	mark_seen(&s);
	if (rows)
		err = predict(&s, seed);
	if (!err)
		err = choose(&s, seed, next);
out:
	jetwatt_model_free(s.m);
	free(s.seen);
	free(s.p);
	return err;
}
