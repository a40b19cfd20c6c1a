// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fit of a response surface: hyper-parameters by maximum marginal likelihood, outlier weights, and the
 * calibration factor of the predictive variance.
 */
#include "model/surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "model/linalg.h"
#include "model/order.h"

/* Prior medians and initial values of the amplitude and the nugget. */
#define AMP	0.03
#define NOISE	0.01

/* Return: -2 log density of a prior on a hyper-parameter @v, up to a constant: Student's t with 8
 * degrees of freedom in log v. With few points, the prior keeps the hyper-parameter near its median
 * @mid. Many points that agree can move it far away; with a normal prior they could not. */
static double hyper_log_prior(double v, double mid, double sd)
{
	double z = (log(v) - log(mid)) / sd;

	return 9 * log1p(z * z / 8);
}

/* Set @e to -2 log of the evidence (Laplace approximation) times the prior of the current hyper-parameters.
 * The parameters are fitted again, starting at s->theta, in at most @steps iterations. If @e
 * is unlikely to fall below @best, the fit is skipped, and @e then exceeds @best. Return: 0, -ENOMEM,
 * -EDOM. */
static int tune_evidence(struct jetwatt_surface *s, int steps, double best, double *e)
{
	int err = jetwatt_surface_factor(s);
	double gp;

	if (err)
		return err;
	gp = jetwatt_linalg_logdet(s->l, s->n) + hyper_log_prior(s->gp.amp, AMP, 0.5) +
	     hyper_log_prior(s->gp.noise, NOISE, 0.25) +
	     hyper_log_prior(s->gp.growth, s->form->growth_prior, 1);
	for (int d = 0; d < JETWATT_FEATURES; d++)
		gp += hyper_log_prior(s->gp.len[d], JETWATT_GP_LEN, 0.7);
	err = jetwatt_surface_optimize(s, steps, best - gp, e);
	if (!err)
		*e += gp + jetwatt_linalg_logdet(s->hess, s->form->np);
	return err;
}

/* Return: 1 if the points differ in feature @d; minibatch size and optional knobs are often
 * constant. */
static int tune_feature_varies(const struct jetwatt_surface *s, int d)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->x[i].lg[d] != s->x[0].lg[d])
			return 1;
	return 0;
}

/* Scale amplitude and nugget so that their geometric mean over the points stays as with the
 * hyper-parameters @was: the search over @growth then changes only how the variance is distributed
 * over the points. */
static void tune_keep_level(struct jetwatt_surface *s, const struct jetwatt_gp *was)
{
	double by = 0;

	for (size_t i = 0; i < s->n; i++)
		by += log(jetwatt_gp_scale(was, &s->x[i]) / jetwatt_gp_scale(&s->gp, &s->x[i]));
	by = exp(by / s->n);
	s->gp.amp *= by;
	s->gp.noise *= by;
}

/* Coordinate search over the logarithms of the hyper-parameters: at most two rounds, steps of a
 * factor of 1.7, at most three steps in a direction. */
static int tune_search(struct jetwatt_surface *s)
{
	double *h[3 + JETWATT_FEATURES] = { &s->gp.amp, &s->gp.noise, &s->gp.growth };
	double best, e, keep[JETWATT_PARAMS_MAX];
	int err = tune_evidence(s, 60, INFINITY, &best);
	size_t nr = 3;

	for (int d = 0; d < JETWATT_FEATURES; d++)
		if (d < JETWATT_DIMS || tune_feature_varies(s, d))
			h[nr++] = &s->gp.len[d];
	if (!err && s->form->cpu_sensitivity) {
		jetwatt_surface_set_cpu_sensitivity(s, s->x, s->n);
		err = tune_evidence(s, 30, INFINITY, &best);
	}
	for (int round = 0; round < 2 && !err; round++) {
		int moved = 0;

		for (size_t k = 0; k < nr && !err; k++)
			for (int dir = 0; dir < 2; dir++) {
				double by = dir ? 1 / 1.7 : 1.7;
				int tries = 0;

				for (; tries < 3; tries++) {
					struct jetwatt_gp was = s->gp;

					memcpy(keep, s->theta, sizeof(keep));
					*h[k] *= by;
					if (h[k] == &s->gp.growth)
						tune_keep_level(s, &was);
					err = tune_evidence(s, 4, best, &e);
					if (err || e >= best - 1e-3) {
						s->gp = was;
						memcpy(s->theta, keep, sizeof(keep));
						err = 0;
						break;
					}
					best = e;
					moved = 1;
				}
				if (tries)
					break;
			}
		if (!moved)
			break;
	}
	if (!err)
		err = tune_evidence(s, 30, INFINITY, &best);
	/* The evidence leaves out constants that are equal for all priors of a parametric mean. */
	s->evidence = -best / 2;
	for (int k = 0; k < s->form->np; k++)
		s->evidence -= log(s->prior.sd[k]);
	return err;
}

/*
 * Compute the leave-one-out errors: each point is predicted from all other points (Rasmussen and
 * Williams 2006, section 5.4.2, with the parameters of the mean linearised and integrated out).
 *
 * @e2: set to the n squared leave-one-out errors
 * @var: set to the expected values of the n squared errors
 *
 * Return: 0, -ENOMEM.
 */
static int tune_leave_one_out(struct jetwatt_surface *s, double *e2, double *var)
{
	size_t n = s->n;
	int np = s->form->np;
	double *a = calloc(np * n, sizeof(*a)), *inv = calloc(n * n, sizeof(*inv));
	double *al = calloc(n, sizeof(*al));
	int err = -ENOMEM;

	if (!a || !inv || !al)
		goto out;
	/*
	 * A = C + J B J' is the covariance of the points when the parameters of the mean are
	 * integrated out; C is the covariance of process and noise, J the gradient of the mean, and
	 * B the prior covariance of the parameters.
	 * A^-1 = l^-T (1 - jac hess^-1 jac') l^-1, with l^-1 = inv
	 */
	for (size_t i = 0; i < n; i++)
		inv[i * n + i] = 1;
	jetwatt_linalg_lower(s->l, n, inv, n);
	{
		double *w = calloc(n * np, sizeof(*w));

		if (!w)
			goto out;
		/* w = hess^-1 (chol) jac' : np x n */
		for (size_t i = 0; i < n; i++)
			for (int k = 0; k < np; k++)
				w[k * n + i] = s->jac[i * np + k];
		jetwatt_linalg_lower(s->hess, np, w, n);
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, np, n, n, 1.0, w, n, inv, n,
			    0.0, a, n);
		/* diag(A^-1) = colsum(inv^2) - colsum((w inv)^2) */
		for (size_t j = 0; j < n; j++) {
			double d = 0;

			for (size_t i = 0; i < n; i++)
				d += inv[i * n + j] * inv[i * n + j];
			for (int k = 0; k < np; k++)
				d -= a[k * n + j] * a[k * n + j];
			var[j] = 1 / fmax(d, 1e-12);
		}
		free(w);
	}
	memcpy(al, s->res, n * sizeof(*al));
	/*
	 * At the fitted parameters, C^-1 (y - mean) equals A^-1 z, where z is @y minus the
	 * linearised mean at the prior's parameters. C^-1 (y - mean) is computed, because it needs
	 * only the factor of C.
	 */
	jetwatt_linalg_upper(s->l, n, al, 1);
	for (size_t j = 0; j < n; j++)
		e2[j] = al[j] * al[j] * var[j] * var[j];
	err = 0;
out:
	free(a);
	free(inv);
	free(al);
	return err;
}

/* Raise the outlier weight of points that contradict the other points, as a Student-t likelihood
 * with 4 degrees of freedom does, to at most 400. Return: 1 if a weight rose by more than 20 %
 * before this bound was applied, else 0. */
static int tune_weigh_outliers(struct jetwatt_surface *s, const double *e2, const double *var)
{
	int any = 0;

	for (size_t i = 0; i < s->n; i++) {
		double z2 = e2[i] / var[i], h = s->outlier_weight[i];

		if (z2 > 4)
			h *= (4 + z2) / 5;
		any |= h > 1.2 * s->outlier_weight[i];
		s->outlier_weight[i] = fmin(h, 400);
	}
	return any;
}

/* Calibration factor of the predictive variance, as in conformal prediction (Vovk, Gammerman and
 * Shafer, Algorithmic Learning in a Random World, 2005): the leave-one-out error that 95 % of the
 * points stay within, which is the 0.95 (n + 1)-th of n sorted errors, relative to the 1.96
 * standard deviations that it would be for exact standard deviations; the ratio is squared, and
 * limited to 6. The calibration factor is averaged with PRIOR_POINTS points that are calibrated
 * exactly. An outlier counts with its full error, because the next measurement may be an outlier
 * too. Since all points have shaped the hyper-parameters, leave-one-out errors are too small by
 * about FITTED_PARAMS / n. */
#define PRIOR_POINTS	100
#define FITTED_PARAMS	1.5
#define Z2_95	3.841

/* Return: the calibration factor. @e2 is sorted and normalised in place. */
static double tune_calibrate(const struct jetwatt_surface *s, double *e2, const double *var)
{
	size_t n = s->n, at = ceil(0.95 * (n + 1)) - 1;

	for (size_t i = 0; i < n; i++) {
		double own = s->gp.noise * jetwatt_gp_scale(&s->gp, &s->x[i]);
		double doubted = (own * own + s->sd[i] * s->sd[i]) * (s->outlier_weight[i] - 1);

		e2[i] /= fmax(var[i] - doubted, 1e-9);
	}
	qsort(e2, n, sizeof(*e2), jetwatt_order_doubles);
	return (PRIOR_POINTS + n * fmin(e2[at < n ? at : n - 1] / Z2_95, 6)) / (PRIOR_POINTS + n) *
	       pow(1 + FITTED_PARAMS / n, 2);
}

/* Return: sum of squared leave-one-out errors over the sum of squares of y about its mean; 1 if all
 * y are equal. */
static double tune_unexplained(const struct jetwatt_surface *s, const double *e2)
{
	double mean = 0, var = 0, left = 0;

	for (size_t i = 0; i < s->n; i++)
		mean += s->y[i] / s->n;
	for (size_t i = 0; i < s->n; i++) {
		var += pow(s->y[i] - mean, 2);
		left += e2[i];
	}
	return var > 0 ? left / var : 1;
}

/* Fit the hyper-parameters, the outlier weights and the calibration factor, and with them all other
 * computed fields. Return: 0, -ENOMEM, -EDOM. */
static int fit_hyperparams(struct jetwatt_surface *s)
{
	double *e2 = calloc(2 * s->n, sizeof(*e2)), *var = e2 + s->n, first = 0;
	int err = e2 ? 0 : -ENOMEM;

	if (err)
		return err;
	s->gp = (struct jetwatt_gp){ .amp = AMP, .noise = NOISE, .growth = s->form->growth_prior };
	for (int d = 0; d < JETWATT_FEATURES; d++)
		s->gp.len[d] = JETWATT_GP_LEN;
	for (int it = 0; it < 4 && !err; it++) {
		err = tune_search(s);
		/* The evidence is that of the first round: later rounds give outliers less weight,
		 * and this must not raise the evidence of a prior. */
		first = it ? first : s->evidence;
		if (!err)
			err = tune_leave_one_out(s, e2, var);
		if (err || it == 3 || !tune_weigh_outliers(s, e2, var))
			break;
	}
	s->evidence = first;
	if (!err)
		s->unexplained = tune_unexplained(s, e2);
	if (!err)
		s->calibration = tune_calibrate(s, e2, var);
	free(e2);
	return err;
}

int jetwatt_surface_fit(struct jetwatt_surface **out, const struct jetwatt_form *form,
			const struct jetwatt_features *x, const double *y, const double *sd, size_t n,
			const struct jetwatt_param_prior *prior)
{
	struct jetwatt_surface *s = jetwatt_surface_new(form, n);
	int err;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	memcpy(s->x, x, n * sizeof(*x));
	memcpy(s->y, y, n * sizeof(*y));
	memcpy(s->sd, sd, n * sizeof(*sd));
	for (size_t i = 0; i < n; i++)
		s->outlier_weight[i] = 1;
	if (prior)
		s->prior = *prior;
	else
		jetwatt_surface_default_prior(form, &s->prior);
	memcpy(s->theta, s->prior.mu, sizeof(s->theta));
	err = fit_hyperparams(s);
	if (err)
		jetwatt_surface_free(s);
	else
		*out = s;
	return err;
}
