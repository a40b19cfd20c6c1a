// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fits the default model: chooses the rows, builds feature vectors, fits the surface of log time,
 * then that of log power, which needs the rate from the times. Adds the rows of other devices in the
 * prior (cross_device.h), or if there are none its references (transfer.h).
 */
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"
#include "model/particles.h"
#include "model/refit.h"
#include "model/transfer.h"
#include "model/cross_device.h"

/* Share of the particles in a prediction from 1 to JETWATT_PARTICLES_ROWS rows: without references, or if
 * the weight @trust of their weighted sum is below BELIEVED; and with at most FEW_REFERENCES references that
 * are believed. More references foretell a workload better than particles do. */
#define FEW_REFERENCES	2
#define BELIEVED	0.5
static const double few_share[2][JETWATT_PARTICLES_ROWS] = {
	{ 1, 1, 1, 1, 0.7, 0.4, 0.2 }, { 1, 1, 0.7, 0.5, 0.3, 0.2, 0.1 },
};

static int fit_row_valid(const struct jetwatt_row *r)
{
	return isfinite(r->time_ms) && r->time_ms > 0 && isfinite(r->power_w) && r->power_w > 0 &&
	       isfinite(r->time_sd) && r->time_sd >= 0 && isfinite(r->power_sd) &&
	       r->power_sd >= 0;
}

/* Copy all rows, or an evenly spread selection of at most @max_rows, in sorted order: the result
 * must not depend on the order of the caller's rows. */
static struct jetwatt_row *fit_select_rows(const struct jetwatt_row *row, size_t *n,
					   size_t max_rows, uint64_t seed)
{
	struct jetwatt_row *r = malloc(*n * sizeof(*r));
	size_t nr_kept = *n < max_rows ? *n : max_rows;

	if (!r)
		return NULL;
	memcpy(r, row, *n * sizeof(*r));
	qsort(r, *n, sizeof(*r), jetwatt_order_rows);
	for (size_t i = 0; i < nr_kept && nr_kept < *n; i++) {
		/* One pseudo-random row of each of the equal intervals of the sorted rows. */
		uint64_t h = (seed + i + 1) * 0x9e3779b97f4a7c15ull;
		size_t lo = i * *n / nr_kept, hi = (i + 1) * *n / nr_kept;

		r[i] = r[lo + (h >> 33) % (hi - lo)];
	}
	*n = nr_kept;
	return r;
}

double jetwatt_model_rate(const struct jetwatt_model *m, double time_ms)
{
	return exp(m->at_ref) / time_ms;
}

void jetwatt_model_features(const struct jetwatt_model *m, double time_ms, struct jetwatt_features *x)
{
	x->rate = jetwatt_model_rate(m, time_ms);
	jetwatt_surface_set_cpu_sensitivity(m->time, x, 1);
}

static int fit_surfaces(struct jetwatt_model **out, const struct jetwatt_row *row, size_t n,
			size_t max_rows, const struct jetwatt_prior *prior, uint64_t seed)
{
	struct jetwatt_row *r = NULL;
	struct jetwatt_features *x = NULL, ref = { .rate = 1, .v = { 1, 1, 1, 1, 1 } };
	struct jetwatt_model *m = NULL;
	double *y = NULL, *sd;
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < n; i++)
		if (!fit_row_valid(&row[i]))
			return -EINVAL;
	if (!n)
		return -ENODATA;
	err = -ENOMEM;
	r = fit_select_rows(row, &n, max_rows, seed);
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
		err = jetwatt_features_of(&x[i], &r[i].mode);
		if (err)
			goto out;
		jetwatt_features_batch(&x[i], r[i].batch);
		m->seen[i] = (struct jetwatt_seen_mode){ r[i].mode, r[i].batch };
		y[i] = log(r[i].time_ms);
		sd[i] = r[i].time_sd > 0 ? r[i].time_sd : JETWATT_SD_UNKNOWN;
	}
	err = jetwatt_prior_fit(&m->time, &jetwatt_time_form, x, y, sd, n, prior);
	if (err)
		goto out;
	m->at_ref = jetwatt_surface_form(m->time, &ref);
	for (size_t i = 0; i < n; i++) {
		jetwatt_model_features(m, r[i].time_ms, &x[i]);
		y[i] = log(r[i].power_w);
		sd[i] = r[i].power_sd > 0 ? r[i].power_sd : JETWATT_SD_UNKNOWN;
	}
	err = jetwatt_prior_fit(&m->power, &jetwatt_power_form, x, y, sd, n, prior);
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

int jetwatt_fit_particles(struct jetwatt_model *m, const struct jetwatt_row *row, size_t n,
			  const struct jetwatt_prior *prior, uint64_t seed)
{
	struct jetwatt_particle_prior time, power;
	size_t refs = 0;
	double trust;
	int err;

	/* Rows of the same workload from other devices foretell it better than particles do. */
	if (!n || n > JETWATT_PARTICLES_ROWS || m->transferred)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (row[i].batch)
			return 0;
	jetwatt_prior_of_particles(prior, &jetwatt_time_form, &time);
	jetwatt_prior_of_particles(prior, &jetwatt_power_form, &power);
	if (m->like)
		refs = jetwatt_transfer_count(jetwatt_transferred_by(m->like));
	if (refs > FEW_REFERENCES)
		return 0;
	trust = refs ? fmin(m->trust[0], m->trust[1]) : 0;
	m->few_share = few_share[trust >= BELIEVED][n - 1];
	err = jetwatt_particles_fit(&m->few, row, n, &time, &power, seed);
	/* Without particles, @m predicts as before. */
	return err == -EDOM ? 0 : err;
}

/* Fit a model to the rows of this board, and mix in the prediction from the references. Without any
 * row, the model is fitted to one row that is predicted from the references. */
static int fit_with_references(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
			       size_t max_rows, const struct jetwatt_prior *prior, uint64_t seed)
{
	struct jetwatt_row none;
	int err;

	if (!n && !jetwatt_prior_row(prior, &none))
		err = fit_surfaces(m, &none, 1, max_rows, prior, seed);
	else
		err = fit_surfaces(m, row, n, max_rows, prior, seed);
	if (!err)
		err = jetwatt_prior_mix_references(prior, row, n, *m);
	if (err) {
		jetwatt_model_free(*m);
		*m = NULL;
	}
	return err;
}

int jetwatt_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		const struct jetwatt_prior *prior, uint64_t seed)
{
	const struct jetwatt_cross_device *profile = jetwatt_prior_cross_device(prior);
	struct jetwatt_row *all;
	int err;

	*m = NULL;
	for (size_t i = 0; i < n; i++)
		if (!fit_row_valid(&row[i]))
			return -EINVAL;
	/* Rows of other devices that contradict those of this board must not hide the references. */
	if (!profile || !jetwatt_one_batch(row, n) || !jetwatt_cross_device_agrees(profile, row, n))
		return fit_with_references(m, row, n, JETWATT_FIT_MAX, prior, seed);
	all = malloc((n + profile->n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	err = jetwatt_cross_device_join(profile, row, n, all);
	/* With transferred rows, a warm-start fit keeps the hyper-parameters of the fit to the other
	 * devices' rows. A full fit leaves out rows beyond JETWATT_FIT_MAX. */
	if (err > (int)n && err <= JETWATT_FIT_MAX)
		err = jetwatt_refit(m, profile->m, all, (size_t)err);
	else if (err >= 0)
		err = fit_surfaces(m, all, (size_t)err, JETWATT_FIT_MAX, prior, seed);
	free(all);
	if (!err)
		err = jetwatt_cross_device_transfer(profile, row, n, *m);
	if (err) {
		jetwatt_model_free(*m);
		*m = NULL;
	}
	return err;
}

int jetwatt_fit_subset(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		    size_t max_rows, const struct jetwatt_prior *prior, uint64_t seed)
{
	return fit_with_references(m, row, n, max_rows, prior, seed);
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
	free(m->transferred);
	jetwatt_transferred_free(m->like);
	jetwatt_particles_free(m->few);
	free(m);
}
