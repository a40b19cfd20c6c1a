// SPDX-License-Identifier: GPL-2.0-only
/*
 * The predictor "auto", the default: parametric means and Gaussian processes (model.h) behind the
 * operations of predictor.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/fit.h"
#include "model/predictor.h"
#include "model/refit.h"

static int auto_prior(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed)
{
	struct jetwatt_reference *ref = calloc(n, sizeof(*ref));
	struct jetwatt_prior *p = NULL;
	int err = -ENOMEM;

	for (size_t i = 0; ref && i < n; i++)
		ref[i] = (struct jetwatt_reference){ c[i].row, c[i].n };
	if (ref)
		err = jetwatt_prior_learn(&p, ref, n, seed);
	free(ref);
	*prior = p;
	return err;
}

static void auto_prior_free(void *prior)
{
	jetwatt_prior_free(prior);
}

static int auto_add_cross_device(void **prior, const struct jetwatt_row *row, size_t n,
				 uint64_t seed)
{
	struct jetwatt_prior *p = *prior;
	int err = jetwatt_prior_add_cross_device(&p, row, n, seed);

	*prior = p;
	return err;
}

static int auto_cross_device_agrees(const void *prior, const struct jetwatt_row *row, size_t n)
{
	return jetwatt_prior_agrees(prior, row, n);
}

static int auto_references_cover(const void *prior, const struct jetwatt_mode *lo,
				 const struct jetwatt_mode *hi)
{
	return jetwatt_prior_covers(prior, lo, hi);
}

static double auto_reference_weight(const void *model)
{
	const struct jetwatt_model *m = model;

	return m->like ? fmin(m->trust[0], m->trust[1]) : 0;
}

static int auto_fit(void **model, const struct jetwatt_predictor_input *in)
{
	const struct jetwatt_corpus *c = &in->sample;
	struct jetwatt_model *m = NULL;
	int err = in->max_rows ?
		  jetwatt_fit_subset(&m, c->row, c->n, in->max_rows, in->prior, in->seed) :
		  jetwatt_fit(&m, c->row, c->n, in->prior, in->seed);

	if (!err && in->particles)
		err = jetwatt_fit_particles(m, c->row, c->n, in->prior, in->seed);
	if (err) {
		jetwatt_model_free(m);
		m = NULL;
	}
	*model = m;
	return err;
}

static int auto_refit(void **model, const void *from, const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_model *m = NULL;
	int err = jetwatt_refit(&m, from, row, n);

	*model = m;
	return err;
}

static int auto_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			size_t n, struct jetwatt_prediction *out)
{
	return jetwatt_model_predict_batch(model, mode, batch, n, out);
}

static int auto_predict_mean(const void *model, const struct jetwatt_mode *mode, size_t n,
			     double *time_ms, double *power_w)
{
	return jetwatt_model_mean(model, mode, n, time_ms, power_w);
}

static struct jetwatt_features *auto_points(const struct jetwatt_model *m,
					 const struct jetwatt_predictor_modes *s, int *err)
{
	struct jetwatt_features *x = calloc(s->n ? s->n : 1, sizeof(*x));

	*err = x ? 0 : -ENOMEM;
	for (size_t i = 0; i < s->n && !*err; i++) {
		*err = jetwatt_features_of(&x[i], &s->mode[i]);
		if (!*err)
			jetwatt_model_features(m, s->time_ms[i], &x[i]);
	}
	return x;
}

static int auto_reduce(const void *model, const struct jetwatt_predictor_modes *c,
		       const struct jetwatt_predictor_modes *r, double sd, double *gain)
{
	const struct jetwatt_model *m = model;
	struct jetwatt_features *x, *y = NULL;
	int err;

	x = auto_points(m, c, &err);
	if (!err)
		y = auto_points(m, r, &err);
	if (!err)
		err = jetwatt_surface_variance_reduction(m->time, x, c->n, y, r->n, sd, gain);
	if (!err)
		err = jetwatt_surface_variance_reduction(m->power, x, c->n, y, r->n, sd, gain);
	free(x);
	free(y);
	return err;
}

static int auto_shares(const void *model, const struct jetwatt_mode *mode, double *share)
{
	return jetwatt_model_shares(model, mode, share);
}

static size_t auto_seen(const void *model, const struct jetwatt_seen_mode **seen)
{
	const struct jetwatt_model *m = model;

	*seen = m->seen;
	return jetwatt_model_rows(m);
}

static int auto_save(const void *model, unsigned char **out, size_t *len)
{
	return jetwatt_model_save(model, out, len);
}

static int auto_load(void **model, const unsigned char *in, size_t len)
{
	struct jetwatt_model *m = NULL;
	int err = jetwatt_model_load(&m, in, len);

	*model = m;
	return err;
}

static void auto_free(void *model)
{
	jetwatt_model_free(model);
}

const struct jetwatt_predictor jetwatt_predictor_auto = {
	.name = "auto", .does = "parametric mean and Gaussian process",
	.kind = JETWATT_PREDICTOR_INTERVAL | JETWATT_PREDICTOR_BATCH, .min_rows = 3,
	.prior = auto_prior, .prior_free = auto_prior_free,
	.add_cross_device = auto_add_cross_device,
	.cross_device_agrees = auto_cross_device_agrees,
	.references_cover = auto_references_cover, .reference_weight = auto_reference_weight,
	.fit = auto_fit, .refit = auto_refit, .predict = auto_predict, .free = auto_free,
	.predict_mean = auto_predict_mean, .reduce = auto_reduce, .shares = auto_shares,
	.seen = auto_seen, .save = auto_save, .load = auto_load,
};
