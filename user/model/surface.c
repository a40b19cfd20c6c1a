// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fit of the parameters of a response surface for given hyper-parameters: Levenberg-Marquardt on
 * residuals whitened by the covariance. hyperparams.c searches the hyper-parameters.
 */
#include "model/surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "model/linalg.h"

#define NP_MAX	JETWATT_PARAMS_MAX
/* Levenberg-Marquardt damping of the first step. */
#define DAMP	1e-2
/* Bound of the improvement of the cost by a fit, as a multiple of the improvement that the
 * linearised mean predicts. Far from the optimum a parametric mean is strongly curved, so the bound
 * is wide. */
#define BENT	16

int jetwatt_surface_factor(struct jetwatt_surface *s)
{
	size_t n = s->n;
	int err = jetwatt_gp_cov(&s->gp, s->x, n, s->x, n, s->l);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		double own = s->gp.noise * jetwatt_gp_scale(&s->gp, &s->x[i]);
		double v = s->sd[i] * s->sd[i];

		/* The weight of an outlier multiplies nugget and measurement variance, because an
		 * outlier is assumed to be an error of the measurement. */
		s->l[i * n + i] += v + (own * own + v) * (s->outlier_weight[i] - 1) + 1e-9;
	}
	return jetwatt_linalg_chol(s->l, n);
}

/* Set @off to the measured values y minus the parametric mean, and @slope to the gradients of the
 * mean, both at the parameters @theta. */
static void surface_residuals(const struct jetwatt_surface *s, const double *theta, double *off,
			      double *slope)
{
	double coef[NP_MAX];

	s->form->prepare(theta, coef);
	for (size_t i = 0; i < s->n; i++)
		off[i] = s->y[i] - s->form->eval(coef, &s->x[i], slope + i * s->form->np);
}

/* Whiten the residuals @s->res and their gradients @s->jac, both at the parameters @theta: multiply
 * them by l^-1. Return: twice the negative logarithm of likelihood times prior at @theta. */
static double surface_whiten(struct jetwatt_surface *s, const double *theta)
{
	int np = s->form->np;
	double cost;

	jetwatt_linalg_lower(s->l, s->n, s->res, 1);
	jetwatt_linalg_lower(s->l, s->n, s->jac, np);
	cost = cblas_ddot(s->n, s->res, 1, s->res, 1);
	for (int k = 0; k < np; k++) {
		double z = (theta[k] - s->prior.mu[k]) / s->prior.sd[k];

		cost += z * z;
	}
	return cost;
}

/* Compute the cost of the fit (twice the negative log of likelihood times prior) at the parameters
 * @theta, and set @res and @jac. */
static double surface_cost_at(struct jetwatt_surface *s, const double *theta)
{
	surface_residuals(s, theta, s->res, s->jac);
	return surface_whiten(s, theta);
}

/* Compute the cost of the fit at the current parameters, from @off and @slope if these were
 * computed at the current parameters. */
static double surface_cost_here(struct jetwatt_surface *s)
{
	size_t np = s->form->np;

	if (!s->known || memcmp(s->there, s->theta, np * sizeof(*s->there))) {
		surface_residuals(s, s->theta, s->off, s->slope);
		memcpy(s->there, s->theta, np * sizeof(*s->there));
		s->known = 1;
	}
	memcpy(s->res, s->off, s->n * sizeof(*s->res));
	memcpy(s->jac, s->slope, s->n * np * sizeof(*s->jac));
	return surface_whiten(s, s->theta);
}

/* Set @h to the Cholesky factor of the Hessian: jac' jac + inverse prior covariance + damp *
 * diagonal. */
static int surface_hessian(struct jetwatt_surface *s, double damp, double *h)
{
	int np = s->form->np;

	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, np, np, s->n, 1.0, s->jac, np, s->jac,
		    np, 0.0, h, np);
	for (int k = 0; k < np; k++) {
		h[k * np + k] += 1 / (s->prior.sd[k] * s->prior.sd[k]);
		h[k * np + k] *= 1 + damp;
	}
	return jetwatt_linalg_chol(h, np);
}

int jetwatt_surface_optimize(struct jetwatt_surface *s, int steps, double hopeless, double *cost)
{
	int np = s->form->np, err;
	double damp = DAMP, now = surface_cost_here(s);

	for (int it = 0; it < steps; it++) {
		double step[NP_MAX], next[NP_MAX], slope[NP_MAX], then;

		cblas_dgemv(CblasRowMajor, CblasTrans, s->n, np, 1.0, s->jac, np, s->res, 1, 0.0,
			    step, 1);
		for (int k = 0; k < np; k++)
			step[k] -= (s->theta[k] - s->prior.mu[k]) /
				   (s->prior.sd[k] * s->prior.sd[k]);
		memcpy(slope, step, np * sizeof(*slope));
		err = surface_hessian(s, damp, s->hess);
		if (err)
			return err;
		jetwatt_linalg_lower(s->hess, np, step, 1);
		jetwatt_linalg_upper(s->hess, np, step, 1);
		/* If the parametric mean were linear, the cost of the fit would fall by the product
		 * of slope and step. */
		if (!it && now + jetwatt_linalg_logdet(s->hess, np) - np * log1p(DAMP) -
			   BENT * cblas_ddot(np, slope, 1, step, 1) > hopeless)
			break;
		for (int k = 0; k < np; k++)
			next[k] = s->theta[k] + step[k];
		/* Most steps of the optimiser are accepted, so the gradients at the new parameters
		 * are computed before the step is judged. */
		then = surface_cost_at(s, next);
		if (then < now) {
			int done = now - then < 1e-4;

			memcpy(s->theta, next, sizeof(*next) * np);
			damp = damp > 1e-6 ? damp / 5 : damp;
			now = then;
			if (done)
				break;
		} else {
			surface_cost_at(s, s->theta);
			if (damp > 1e6)
				break;
			damp *= 8;
		}
	}
	*cost = now;
	return surface_hessian(s, 0, s->hess);
}

void jetwatt_surface_default_prior(const struct jetwatt_form *form, struct jetwatt_param_prior *b)
{
	*b = (struct jetwatt_param_prior){ 0 };
	memcpy(b->mu, form->mu, form->np * sizeof(*b->mu));
	memcpy(b->sd, form->sd, form->np * sizeof(*b->sd));
}

struct jetwatt_surface *jetwatt_surface_new(const struct jetwatt_form *form, size_t n)
{
	struct jetwatt_surface *s = calloc(1, sizeof(*s));
	int np = form->np;

	if (!s)
		return NULL;
	s->form = form;
	s->n = n;
	s->x = calloc(n, sizeof(*s->x));
	s->y = calloc(n * (5 + 2 * np) + n * n, sizeof(*s->y));
	if (!s->x || !s->y) {
		jetwatt_surface_free(s);
		return NULL;
	}
	s->sd = s->y + n;
	s->outlier_weight = s->sd + n;
	s->res = s->outlier_weight + n;
	s->jac = s->res + n;
	s->off = s->jac + n * np;
	s->slope = s->off + n;
	s->l = s->slope + n * np;
	return s;
}

int jetwatt_surface_restore(struct jetwatt_surface *s)
{
	double cost;
	int err = jetwatt_surface_factor(s);

	return err ? err : jetwatt_surface_optimize(s, 0, INFINITY, &cost);
}

void jetwatt_surface_free(struct jetwatt_surface *s)
{
	if (!s)
		return;
	free(s->x);
	free(s->y);
	free(s);
}

double jetwatt_surface_form(const struct jetwatt_surface *s, const struct jetwatt_features *x)
{
	double coef[NP_MAX];

	s->form->prepare(s->theta, coef);
	return s->form->eval(coef, x, NULL);
}

void jetwatt_surface_set_cpu_sensitivity(const struct jetwatt_surface *s, struct jetwatt_features *x, size_t n)
{
	double coef[NP_MAX];

	if (!s->form->cpu_sensitivity)
		return;
	s->form->prepare(s->theta, coef);
	for (size_t i = 0; i < n; i++)
		x[i].cpu_sensitivity = s->form->cpu_sensitivity(coef, &x[i]);
}
