// SPDX-License-Identifier: GPL-2.0-only
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"
#include "model/refit.h"
#include "model/transfer.h"
#include "model/twin.h"

static int valid(const struct jetwatt_row *r)
{
	return isfinite(r->time_ms) && r->time_ms > 0 && isfinite(r->power_w) && r->power_w > 0 &&
	       isfinite(r->time_sd) && r->time_sd >= 0 && isfinite(r->power_sd) &&
	       r->power_sd >= 0;
}

/* Every row there is, or an even selection, in an order of its own: the result
 * must not depend on the caller's. */
static struct jetwatt_row *select_rows(const struct jetwatt_row *row, size_t *n, size_t most,
				       uint64_t seed)
{
	struct jetwatt_row *r = malloc(*n * sizeof(*r));
	size_t keep = *n < most ? *n : most;

	if (!r)
		return NULL;
	memcpy(r, row, *n * sizeof(*r));
	qsort(r, *n, sizeof(*r), jetwatt_order_rows);
	for (size_t i = 0; i < keep && keep < *n; i++) {
		/* One of each stretch of the order, which one differs. */
		uint64_t h = (seed + i + 1) * 0x9e3779b97f4a7c15ull;
		size_t lo = i * *n / keep, hi = (i + 1) * *n / keep;

		r[i] = r[lo + (h >> 33) % (hi - lo)];
	}
	*n = keep;
	return r;
}

double jetwatt_model_rate(const struct jetwatt_model *m, double time_ms)
{
	return exp(m->at_ref) / time_ms;
}

void jetwatt_model_point(const struct jetwatt_model *m, double time_ms, struct jetwatt_point *x)
{
	x->rate = jetwatt_model_rate(m, time_ms);
	x->rough = jetwatt_surface_rough(m->time, x);
}

static int fit(struct jetwatt_model **out, const struct jetwatt_row *row, size_t n, size_t most,
	       const struct jetwatt_prior *prior, uint64_t seed)
{
	struct jetwatt_row *r = NULL;
	struct jetwatt_point *x = NULL, ref = { .rate = 1, .v = { 1, 1, 1, 1, 1 } };
	struct jetwatt_model *m = NULL;
	double *y = NULL, *sd;
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < n; i++)
		if (!valid(&row[i]))
			return -EINVAL;
	if (!n)
		return -ENODATA;
	err = -ENOMEM;
	r = select_rows(row, &n, most, seed);
	x = calloc(n, sizeof(*x));
	y = calloc(2 * n, sizeof(*y));
	m = calloc(1, sizeof(*m));
	if (!r || !x || !y || !m)
		goto out;
	m->seen = calloc(n, sizeof(*m->seen));
	if (!m->seen)
		goto out;
	sd = y + n;
	for (size_t i = 0; i < n; i++) {
		err = jetwatt_point_of(&x[i], &r[i].mode);
		if (err)
			goto out;
		jetwatt_point_batch(&x[i], r[i].batch);
		m->seen[i] = (struct jetwatt_seen_mode){ r[i].mode, r[i].batch };
		y[i] = log(r[i].time_ms);
		sd[i] = r[i].time_sd > 0 ? r[i].time_sd : JETWATT_SD_UNKNOWN;
	}
	err = jetwatt_prior_fit(&m->time, &jetwatt_roof, x, y, sd, n, prior);
	if (err)
		goto out;
	m->at_ref = jetwatt_surface_form(m->time, &ref);
	for (size_t i = 0; i < n; i++) {
		jetwatt_model_point(m, r[i].time_ms, &x[i]);
		y[i] = log(r[i].power_w);
		sd[i] = r[i].power_sd > 0 ? r[i].power_sd : JETWATT_SD_UNKNOWN;
	}
	err = jetwatt_prior_fit(&m->power, &jetwatt_watts, x, y, sd, n, prior);
out:
	if (err) {
		jetwatt_model_free(m);
		m = NULL;
	}
	*out = m;
	free(r);
	free(x);
	free(y);
	return err;
}

/* With what other workloads say of it, before there is a row as well. */
static int fit_like(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n, size_t most,
		    const struct jetwatt_prior *prior, uint64_t seed)
{
	struct jetwatt_row none;
	int err;

	if (!n && !jetwatt_prior_row(prior, &none))
		err = fit(m, &none, 1, most, prior, seed);
	else
		err = fit(m, row, n, most, prior, seed);
	if (!err)
		err = jetwatt_prior_tell(prior, row, n, *m);
	if (err) {
		jetwatt_model_free(*m);
		*m = NULL;
	}
	return err;
}

int jetwatt_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		const struct jetwatt_prior *prior, uint64_t seed)
{
	const struct jetwatt_twin *twin = jetwatt_prior_has(prior);
	struct jetwatt_row *all;
	int err;

	if (!twin)
		return fit_like(m, row, n, JETWATT_FIT_MAX, prior, seed);
	*m = NULL;
	for (size_t i = 0; i < n; i++)
		if (!valid(&row[i]))
			return -EINVAL;
	all = malloc((n + twin->n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	err = jetwatt_twin_join(twin, row, n, all);
	/* What the others say of the surface's character is not asked again for each row. */
	if (err > (int)n)
		err = jetwatt_refit(m, twin->m, all, (size_t)err);
	else if (err >= 0)
		err = fit(m, all, (size_t)err, JETWATT_FIT_MAX, prior, seed);
	free(all);
	if (!err)
		err = jetwatt_twin_tell(twin, row, n, *m);
	if (err) {
		jetwatt_model_free(*m);
		*m = NULL;
	}
	return err;
}

int jetwatt_fit_few(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n, size_t most,
		    const struct jetwatt_prior *prior, uint64_t seed)
{
	return fit_like(m, row, n, most, prior, seed);
}

int jetwatt_model_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		      uint64_t seed)
{
	*m = NULL;
	return n < 3 ? -ENODATA : jetwatt_fit(m, row, n, NULL, seed);
}

int jetwatt_model_fit_prior(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
			    const struct jetwatt_prior *prior, uint64_t seed)
{
	*m = NULL;
	return n < 3 && !prior ? -ENODATA : jetwatt_fit(m, row, n, prior, seed);
}

void jetwatt_model_free(struct jetwatt_model *m)
{
	if (!m)
		return;
	jetwatt_surface_free(m->time);
	jetwatt_surface_free(m->power);
	free(m->seen);
	free(m->heard);
	jetwatt_transferred_free(m->like);
	free(m);
}
