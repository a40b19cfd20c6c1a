// SPDX-License-Identifier: GPL-2.0-only
#include "plan/view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows up to which every one is worth a whole fit. With more of them its cost, which
 * grows faster than their square, buys little: the surfaces are fitted to WHOLE of them
 * at most, whenever there are so many more, and pass through all that there are, or
 * those that lie nearest to the budget. */
#define EVERY	16
#define GROWTH	1.15
#define WHOLE	24
#define NEAREST	80

/* The model in use, if it is another than the base. */
static void drop(struct jetwatt_view *v)
{
	if (v->m != v->base)
		jetwatt_fitted_free(v->m);
	v->m = NULL;
	memset(v->good, 0, sizeof(v->good));
}

int jetwatt_view_init(struct jetwatt_view *v, const struct jetwatt_tenant *t, size_t n)
{
	*v = (struct jetwatt_view){ .p = malloc(t->sizes * n * sizeof(*v->p)) };
	return v->p ? 0 : -ENOMEM;
}

void jetwatt_view_free(struct jetwatt_view *v)
{
	drop(v);
	jetwatt_fitted_free(v->base);
	free(v->p);
}

/* Rows of a query's budget: those of the nearest power. @out: NEAREST entries. */
static size_t nearest(const struct jetwatt_tenant *t, double budget, struct jetwatt_row *out)
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

int jetwatt_view_fit(struct jetwatt_view *v, const struct jetwatt_known *k,
		     const struct jetwatt_tenant *t, double budget, uint64_t seed, int *whole)
{
	struct jetwatt_row near[NEAREST];
	int err = 0;

	if (v->m && v->rows == t->rows && (t->rows <= NEAREST || v->budget == budget))
		return 0;
	drop(v);
	v->rows = t->rows;
	v->budget = budget;
	if (!t->rows && !jetwatt_estimator_foresees(t->by, k->mode, k->n))
		return 0;
	if (!v->base || t->rows <= EVERY || (*whole && t->rows > GROWTH * v->based)) {
		*whole = 0;
		jetwatt_fitted_free(v->base);
		v->base = NULL;
		v->based = t->rows;
		err = jetwatt_estimator_fit(&v->base, t->by, t->row, t->rows, WHOLE, seed);
	}
	if (!err && t->rows == v->based && t->rows <= WHOLE)
		v->m = v->base;
	else if (!err)
		err = jetwatt_estimator_refit(&v->m, t->by, v->base, near,
					      nearest(t, budget, near), seed);
	return err;
}

int jetwatt_view_predict(struct jetwatt_view *v, const struct jetwatt_known *k,
			 const struct jetwatt_tenant *t, size_t size)
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

struct jetwatt_guess jetwatt_view_guess(const struct jetwatt_view *v,
					const struct jetwatt_known *k,
					const struct jetwatt_tenant *t, size_t size, size_t mode)
{
	size_t at = size * k->n + mode;
	const struct jetwatt_prediction *p = &v->p[at];

	if (!isnan(t->time_ms[at]))
		return (struct jetwatt_guess){ t->time_ms[at], 0, t->power_w[at], 0 };
	return (struct jetwatt_guess){ p->time_ms, p->time_sd, p->power_w, p->power_sd };
}
