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
	struct jetwatt_model *m = NULL;
	int err = jetwatt_fit(&m, s->row, s->rows, seed);

	if (!err)
		err = jetwatt_model_predict(m, s->mode, s->n, s->p);
	jetwatt_model_free(m);
	return err;
}

int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, double budget_w, size_t most, uint64_t seed,
		      struct jetwatt_plan_next *next)
{
	struct jetwatt_search s = { mode, n, row, rows, budget_w, NULL, NULL };
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
		err = rows < JETWATT_DESIGN ? jetwatt_design_next(&s, next) :
					      jetwatt_improve_next(&s, next);
out:
	free(s.seen);
	free(s.p);
	return err;
}
