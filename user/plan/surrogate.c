// SPDX-License-Identifier: GPL-2.0-only
/*
 * Surrogate of one workload: full fits while there are few rows, warm-start fits later.
 */
#include "plan/surrogate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to EVERY rows, each fit is a full fit. With more rows, a full fit improves little for its
 * cost, which grows faster than the square of the number of rows: a full fit to at most WHOLE rows
 * is done only each time the number of rows has grown by the factor GROWTH. In between, and with
 * more than WHOLE rows also after a full fit, warm-start fits use the NEAREST rows closest in power
 * to the budget, which are all rows if there are fewer. */
#define EVERY	16
#define GROWTH	1.15
#define WHOLE	24
#define NEAREST	80

/* Free the model in use unless it is the base, and invalidate the predictions. */
static void view_drop_model(struct jetwatt_surrogate *v)
{
	if (v->m != v->base)
		jetwatt_fitted_free(v->m);
	v->m = NULL;
	memset(v->good, 0, sizeof(v->good));
}

int jetwatt_surrogate_init(struct jetwatt_surrogate *v, const struct jetwatt_workload_data *t, size_t n)
{
	*v = (struct jetwatt_surrogate){ .p = malloc(t->sizes * n * sizeof(*v->p)) };
	return v->p ? 0 : -ENOMEM;
}

void jetwatt_surrogate_free(struct jetwatt_surrogate *v)
{
	view_drop_model(v);
	jetwatt_fitted_free(v->base);
	free(v->p);
}

/* Copy up to NEAREST rows, those with power nearest to @budget, into @out. Return: their number. */
static size_t view_nearest_rows(const struct jetwatt_workload_data *t, double budget,
				struct jetwatt_row *out)
{
	double far[NEAREST];
	size_t n = 0;

	for (size_t i = 0; i < t->rows; i++) {
		double d = fabs(log(t->row[i].power_w / budget));
		size_t at = n < NEAREST ? n : NEAREST - 1;

		if (n == NEAREST && d >= far[at])
			continue;
		for (; at && far[at - 1] > d; at--) {
			far[at] = far[at - 1];
			out[at] = out[at - 1];
		}
		far[at] = d;
		out[at] = t->row[i];
		n += n < NEAREST;
	}
	return n;
}

int jetwatt_surrogate_fit(struct jetwatt_surrogate *v, const struct jetwatt_observed *k,
			  const struct jetwatt_workload_data *t, double budget, uint64_t seed,
			  int *full)
{
	struct jetwatt_estimator by = t->by ? *t->by : (struct jetwatt_estimator){ 0 };
	struct jetwatt_row near[NEAREST];
	int err = 0;

	by.particles = k->kind == JETWATT_SLICE_TRAIN;
	if (v->m && v->rows == t->rows && (t->rows <= NEAREST || v->budget == budget))
		return 0;
	view_drop_model(v);
	v->rows = t->rows;
	v->budget = budget;
	if (!t->rows && !jetwatt_estimator_references_cover(t->by, k->mode, k->n))
		return 0;
	if (!v->base || t->rows <= EVERY || (*full && t->rows > GROWTH * v->based)) {
		*full = 0;
		jetwatt_fitted_free(v->base);
		v->base = NULL;
		v->based = t->rows;
		err = jetwatt_estimator_fit(&v->base, &by, t->row, t->rows, WHOLE, seed);
	}
	if (!err && t->rows == v->based && t->rows <= WHOLE)
		v->m = v->base;
	else if (!err)
		err = jetwatt_estimator_refit(&v->m, t->by, v->base, near,
					      view_nearest_rows(t, budget, near), seed);
	return err;
}

int jetwatt_surrogate_predict(struct jetwatt_surrogate *v, const struct jetwatt_observed *k,
			      const struct jetwatt_workload_data *t, size_t size)
{
	uint32_t *batch = NULL;
	int err = 0;

	if (!v->m || v->good[size])
		return 0;
	if (t->sizes > 1) {
		batch = malloc(k->n * sizeof(*batch));
		err = batch ? 0 : -ENOMEM;
		for (size_t i = 0; i < k->n && !err; i++)
			batch[i] = t->size[size];
	}
	if (!err)
		err = jetwatt_fitted_predict(v->m, k->mode, batch, k->n, v->p + size * k->n);
	v->good[size] = !err;
	free(batch);
	return err;
}

struct jetwatt_estimate jetwatt_surrogate_estimate(const struct jetwatt_surrogate *v,
					const struct jetwatt_observed *k,
					const struct jetwatt_workload_data *t, size_t size, size_t mode)
{
	size_t at = size * k->n + mode;
	const struct jetwatt_prediction *p = &v->p[at];

	if (!isnan(t->time_ms[at]))
		return (struct jetwatt_estimate){ t->time_ms[at], 0, t->power_w[at], 0 };
	return (struct jetwatt_estimate){ p->time_ms, p->time_sd, p->power_w, p->power_sd };
}
