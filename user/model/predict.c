// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predictions of the default model: the time surface first, then the power surface at the predicted
 * rate, then transferred rows and references.
 */
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/particles.h"
#include "model/transfer.h"
#include "model/cross_device.h"

/* Modes per block: the intermediate arrays fit into the cache. */
#define CHUNK	1024

/* Scratch arrays for the predictions of one block of modes. */
struct predict_work {
	struct jetwatt_features x[CHUNK];
	double mean[CHUNK], var[CHUNK];
};

/* Return: the change of log power if the time is longer by one standard deviation @time_sd; power
 * depends on the rate of minibatches. */
static double power_shift_by_time(const struct jetwatt_form *form, const double *coef,
				  struct jetwatt_features x, double time_sd)
{
	double at = form->eval(coef, &x, NULL);

	x.rate *= exp(-time_sd);
	return form->eval(coef, &x, NULL) - at;
}

/* Mix two log-normal distributions, @share of the second: set @v and @sd to the median and the
 * standard deviation of the mixture, by matching the moments of the logarithms. */
static void predict_mix(double *v, double *sd, double with, double with_sd, double share)
{
	double a = log(*v), b = log(with), by = b - a;

	*v = exp(a + share * by);
	*sd = sqrt((1 - share) * *sd * *sd + share * with_sd * with_sd + share * (1 - share) * by * by);
}

/* Mix the prediction from the references into @out, with the weights @trust of @m. */
static int predict_with_references(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
				   size_t n, struct jetwatt_prediction *out)
{
	struct jetwatt_prediction *said = malloc(n * sizeof(*said));
	int err = said ? jetwatt_transferred_predict(m->like, mode, n, said) : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		predict_mix(&out[i].time_ms, &out[i].time_sd, said[i].time_ms, said[i].time_sd,
			    m->trust[0]);
		predict_mix(&out[i].power_w, &out[i].power_sd, said[i].power_w, said[i].power_sd,
			    m->trust[1]);
	}
	free(said);
	return err;
}

/* Mix the prediction from few rows into @out. */
static int predict_from_few_rows(const struct jetwatt_model *m, struct jetwatt_features *x, size_t n,
				  struct jetwatt_prediction *out)
{
	struct jetwatt_prediction *few = malloc(n * sizeof(*few));
	int err = few ? jetwatt_particles_predict(m->few, x, n, few) : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		predict_mix(&out[i].time_ms, &out[i].time_sd, few[i].time_ms, few[i].time_sd, m->few_share);
		predict_mix(&out[i].power_w, &out[i].power_sd, few[i].power_w, few[i].power_sd, m->few_share);
	}
	free(few);
	return err;
}

static int predict_block(const struct jetwatt_model *m, struct predict_work *w,
			 const struct jetwatt_mode *mode, const uint32_t *batch, size_t n,
			 struct jetwatt_prediction *out)
{
	double coef[JETWATT_PARAMS_MAX];
	int err;

	m->power->form->prepare(m->power->theta, coef);
	for (size_t i = 0; i < n; i++) {
		err = jetwatt_features_of(&w->x[i], &mode[i]);
		if (err)
			return err;
		if (batch)
			jetwatt_features_batch(&w->x[i], batch[i]);
	}
	jetwatt_surface_set_cpu_sensitivity(m->time, w->x, n);
	err = jetwatt_surface_predict(m->time, w->x, n, w->mean, w->var);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		out[i].time_ms = exp(w->mean[i]);
		out[i].time_sd = sqrt(w->var[i]);
		w->x[i].rate = jetwatt_model_rate(m, out[i].time_ms);
	}
	err = jetwatt_surface_predict(m->power, w->x, n, w->mean, w->var);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		double off = power_shift_by_time(m->power->form, coef, w->x[i], out[i].time_sd);

		out[i].power_w = exp(w->mean[i]);
		out[i].power_sd = sqrt(w->var[i] + off * off);
		jetwatt_cross_device_combine(m, &mode[i], batch ? batch[i] : 0, &out[i]);
	}
	err = m->like ? predict_with_references(m, mode, n, out) : 0;
	return m->few && !err ? predict_from_few_rows(m, w->x, n, out) : err;
}

int jetwatt_model_predict(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *out)
{
	return jetwatt_model_predict_batch(m, mode, NULL, n, out);
}

int jetwatt_model_predict_batch(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
				const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	struct predict_work *w = malloc(sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	for (size_t at = 0; at < n && !err; at += CHUNK)
		err = predict_block(m, w, mode + at, batch ? batch + at : NULL,
				    n - at < CHUNK ? n - at : CHUNK, out + at);
	free(w);
	return err;
}

int jetwatt_model_shares(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			 double *share)
{
	double coef[JETWATT_PARAMS_MAX];
	struct jetwatt_features x;
	int err = jetwatt_features_of(&x, mode);

	if (err)
		return err;
	m->time->form->prepare(m->time->theta, coef);
	jetwatt_time_form_shares(coef, &x, share);
	return 0;
}

int jetwatt_model_mean(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  double *time_ms, double *power_w)
{
	double time[JETWATT_PARAMS_MAX], power[JETWATT_PARAMS_MAX];
	struct jetwatt_features x;

	m->time->form->prepare(m->time->theta, time);
	m->power->form->prepare(m->power->theta, power);
	for (size_t i = 0; i < n; i++) {
		int err = jetwatt_features_of(&x, &mode[i]);

		if (err)
			return err;
		time_ms[i] = exp(m->time->form->eval(time, &x, NULL));
		x.rate = jetwatt_model_rate(m, time_ms[i]);
		power_w[i] = exp(m->power->form->eval(power, &x, NULL));
	}
	return 0;
}
