// SPDX-License-Identifier: GPL-2.0-only
#include "surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "linalg.h"

#define NP_MAX	JETWATT_PARAMS_MAX
#define CHUNK	256

/*
 * With theta the parameters, J the form's gradient at the points and C the
 * covariance of process and noise, C = l l':
 *	jac = l^-1 J, res = l^-1 (y - form), hess = chol(jac' jac + prior)
 */
struct jetwatt_surface {
	const struct jetwatt_form *form;
	struct jetwatt_gp gp;
	double theta[NP_MAX], scale;
	size_t n;
	struct jetwatt_point *x;
	double *y, *sd, *heavy, *l, *jac, *res;
	double hess[NP_MAX * NP_MAX];
};

static int factor(struct jetwatt_surface *s)
{
	size_t n = s->n;

	jetwatt_gp_cov(&s->gp, s->x, n, s->x, n, s->l);
	for (size_t i = 0; i < n; i++) {
		double own = s->gp.noise * s->gp.noise, v = s->sd[i] * s->sd[i];

		/* A heavy tail is the measurement's fault, as far as we know. */
		s->l[i * n + i] += v + (own + v) * (s->heavy[i] - 1) + 1e-9;
	}
	return jetwatt_linalg_chol(s->l, n);
}

/* Whitened residuals and (if @grad) gradients at theta.
 * Return: twice the negative logarithm of likelihood times prior. */
static double whiten(struct jetwatt_surface *s, const double *theta, int grad)
{
	int np = s->form->np;
	double cost = 0;

	for (size_t i = 0; i < s->n; i++)
		s->res[i] = s->y[i] - s->form->eval(theta, &s->x[i], grad ? s->jac + i * np : NULL);
	jetwatt_linalg_lower(s->l, s->n, s->res, 1);
	if (grad)
		jetwatt_linalg_lower(s->l, s->n, s->jac, np);
	cost = cblas_ddot(s->n, s->res, 1, s->res, 1);
	for (int k = 0; k < np; k++) {
		double z = (theta[k] - s->form->mu[k]) / s->form->sd[k];

		cost += z * z;
	}
	return cost;
}

/* hess = chol(jac' jac + prior + damp * diagonal) */
static int hessian(struct jetwatt_surface *s, double damp, double *h)
{
	int np = s->form->np;

	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, np, np, s->n, 1.0, s->jac, np, s->jac,
		    np, 0.0, h, np);
	for (int k = 0; k < np; k++) {
		h[k * np + k] += 1 / (s->form->sd[k] * s->form->sd[k]);
		h[k * np + k] *= 1 + damp;
	}
	return jetwatt_linalg_chol(h, np);
}

/* Levenberg-Marquardt from theta; res, jac and hess are those of the end. */
static int climb(struct jetwatt_surface *s, int steps, double *cost)
{
	int np = s->form->np, err;
	double damp = 1e-2, now = whiten(s, s->theta, 1);

	for (int it = 0; it < steps; it++) {
		double step[NP_MAX], next[NP_MAX], then;

		cblas_dgemv(CblasRowMajor, CblasTrans, s->n, np, 1.0, s->jac, np, s->res, 1, 0.0,
			    step, 1);
		for (int k = 0; k < np; k++)
			step[k] -= (s->theta[k] - s->form->mu[k]) /
				   (s->form->sd[k] * s->form->sd[k]);
		err = hessian(s, damp, s->hess);
		if (err)
			return err;
		jetwatt_linalg_lower(s->hess, np, step, 1);
		jetwatt_linalg_upper(s->hess, np, step, 1);
		for (int k = 0; k < np; k++)
			next[k] = s->theta[k] + step[k];
		then = whiten(s, next, 0);
		if (then < now) {
			int done = now - then < 1e-4;

			memcpy(s->theta, next, sizeof(*next) * np);
			damp = damp > 1e-6 ? damp / 5 : damp;
			now = whiten(s, s->theta, 1);
			if (done)
				break;
		} else if (damp > 1e6) {
			break;
		} else {
			damp *= 8;
			/* jac is still that of theta; res is not. */
			whiten(s, s->theta, 0);
		}
	}
	*cost = now;
	return hessian(s, 0, s->hess);
}

static double log_normal(double v, double mid, double sd)
{
	double z = (log(v) - log(mid)) / sd;

	return z * z;
}

/* Twice the negative log evidence (Laplace) of gp, form refitted from theta. */
static int evidence(struct jetwatt_surface *s, int steps, double *e)
{
	int np = s->form->np, err;

	err = factor(s);
	if (!err)
		err = climb(s, steps, e);
	if (err)
		return err;
	*e += jetwatt_linalg_logdet(s->l, s->n) + jetwatt_linalg_logdet(s->hess, np);
	*e += log_normal(s->gp.amp, 0.06, 0.7) + log_normal(s->gp.noise, 0.015, 0.5);
	for (int d = 0; d < JETWATT_DIMS; d++)
		*e += log_normal(s->gp.len[d], 1.2, 0.7);
	return 0;
}

/* Coordinate search over the logarithms of the hyper-parameters. */
static int tune(struct jetwatt_surface *s)
{
	double *h[] = { &s->gp.amp, &s->gp.noise, &s->gp.len[0], &s->gp.len[1], &s->gp.len[2],
			&s->gp.len[3] };
	double best, e, keep[NP_MAX];
	int err = evidence(s, 60, &best);

	for (int round = 0; round < 2 && !err; round++) {
		int moved = 0;

		for (size_t k = 0; k < sizeof(h) / sizeof(*h) && !err; k++)
			for (int dir = 0; dir < 2; dir++) {
				double was = *h[k], by = dir ? 1 / 1.7 : 1.7;
				int tries = 0;

				for (; tries < 3; tries++) {
					memcpy(keep, s->theta, sizeof(keep));
					was = *h[k];
					*h[k] *= by;
					err = evidence(s, 4, &e);
					if (err || e >= best - 1e-3) {
						*h[k] = was;
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
		err = evidence(s, 30, &best);
	return err;
}

/*
 * Leave-one-out z of each point (Rasmussen and Williams 5.4.2, the form's
 * parameters linearised and integrated out): a point that the others contradict
 * gets a heavier tail, as under a Student-t with 4 degrees of freedom.
 */
static int loo(struct jetwatt_surface *s, double *z2)
{
	size_t n = s->n;
	int np = s->form->np;
	double *a = calloc(np * n, sizeof(*a)), *inv = calloc(n * n, sizeof(*inv));
	double *al = calloc(n, sizeof(*al));
	int err = -ENOMEM;

	if (!a || !inv || !al)
		goto out;
	/* A^-1 = l^-T (1 - jac hess^-1 jac') l^-1, with l^-1 = inv */
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
			z2[j] = 0;
			for (size_t i = 0; i < n; i++)
				z2[j] += inv[i * n + j] * inv[i * n + j];
			for (int k = 0; k < np; k++)
				z2[j] -= a[k * n + j] * a[k * n + j];
		}
		free(w);
	}
	memcpy(al, s->res, n * sizeof(*al));
	/* At the optimum alpha = C^-1 (y - form) is A^-1 z as well. */
	jetwatt_linalg_upper(s->l, n, al, 1);
	for (size_t j = 0; j < n; j++)
		z2[j] = z2[j] > 1e-12 ? al[j] * al[j] / z2[j] : 0;
	err = 0;
out:
	free(a);
	free(inv);
	free(al);
	return err;
}

static int settle(struct jetwatt_surface *s)
{
	double *z2 = calloc(s->n, sizeof(*z2)), e, sum = 0;
	int err = -ENOMEM;

	if (!z2)
		return err;
	err = tune(s);
	for (int it = 0; it < 3 && !err; it++) {
		int heavy = 0;

		err = loo(s, z2);
		if (err)
			break;
		for (size_t i = 0; i < s->n; i++) {
			double h = (4 + z2[i]) / 5;

			h = z2[i] > 6 ? h * s->heavy[i] : s->heavy[i];
			heavy |= h > 1.2 * s->heavy[i];
			s->heavy[i] = h > 400 ? 400 : h;
		}
		if (!heavy)
			break;
		err = evidence(s, 30, &e);
	}
	if (!err)
		err = loo(s, z2);
	for (size_t i = 0; i < s->n; i++)
		sum += z2[i] < 9 ? z2[i] : 9;
	/* Ten points' worth of belief that the spread is right as it is. */
	s->scale = (10 + sum) / (10 + s->n);
	if (s->scale < 1)
		s->scale = 1;
	free(z2);
	return err;
}

int jetwatt_surface_fit(struct jetwatt_surface **out, const struct jetwatt_form *form,
			const struct jetwatt_point *x, const double *y, const double *sd, size_t n)
{
	struct jetwatt_surface *s = calloc(1, sizeof(*s));
	int np = form->np, err = -ENOMEM;

	if (!s)
		return err;
	s->form = form;
	s->n = n;
	s->x = malloc(n * sizeof(*s->x));
	s->y = malloc((n * (5 + np) + n * n) * sizeof(*s->y));
	if (!s->x || !s->y)
		goto out;
	s->sd = s->y + n;
	s->heavy = s->sd + n;
	s->res = s->heavy + n;
	s->jac = s->res + n;
	s->l = s->jac + n * np;
	memcpy(s->x, x, n * sizeof(*x));
	memcpy(s->y, y, n * sizeof(*y));
	memcpy(s->sd, sd, n * sizeof(*sd));
	for (size_t i = 0; i < n; i++)
		s->heavy[i] = 1;
	memcpy(s->theta, form->mu, np * sizeof(*s->theta));
	s->gp = (struct jetwatt_gp){ .amp = 0.06, .noise = 0.015, .len = { 1.2, 1.2, 1.2, 1.2 } };
	err = settle(s);
out:
	if (err) {
		jetwatt_surface_free(s);
		s = NULL;
	}
	*out = s;
	return err;
}

void jetwatt_surface_free(struct jetwatt_surface *s)
{
	if (!s)
		return;
	free(s->x);
	free(s->y);
	free(s);
}

double jetwatt_surface_form(const struct jetwatt_surface *s, const struct jetwatt_point *x,
			    double *grad)
{
	return s->form->eval(s->theta, x, grad);
}

int jetwatt_surface_predict(const struct jetwatt_surface *s, const struct jetwatt_point *x,
			    size_t count, double *mean, double *var)
{
	size_t n = s->n;
	int np = s->form->np;
	double *k = malloc((n + np) * CHUNK * sizeof(*k) + CHUNK * np * sizeof(*k));
	double *h = k + n * CHUNK, *g = h + np * CHUNK;

	if (!k)
		return -ENOMEM;
	for (size_t at = 0; at < count; at += CHUNK) {
		size_t c = count - at < CHUNK ? count - at : CHUNK;

		for (size_t i = 0; i < c; i++) {
			mean[at + i] = s->form->eval(s->theta, &x[at + i], g);
			for (int p = 0; p < np; p++)
				h[p * c + i] = g[p];
		}
		jetwatt_gp_cov(&s->gp, s->x, n, x + at, c, k);
		jetwatt_linalg_lower(s->l, n, k, c);
		cblas_dgemv(CblasRowMajor, CblasTrans, n, c, 1.0, k, c, s->res, 1, 1.0, mean + at, 1);
		/* What the form's parameters leave open, seen past the process. */
		cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, np, c, n, -1.0, s->jac, np, k, c,
			    1.0, h, c);
		jetwatt_linalg_lower(s->hess, np, h, c);
		for (size_t i = 0; i < c; i++)
			var[at + i] = s->gp.amp * s->gp.amp + s->gp.noise * s->gp.noise;
		for (size_t r = 0; r < n; r++)
			for (size_t i = 0; i < c; i++)
				var[at + i] -= k[r * c + i] * k[r * c + i];
		for (int r = 0; r < np; r++)
			for (size_t i = 0; i < c; i++)
				var[at + i] += h[r * c + i] * h[r * c + i];
		for (size_t i = 0; i < c; i++) {
			if (!(var[at + i] > 1e-8))
				var[at + i] = 1e-8;
			var[at + i] *= s->scale;
		}
	}
	free(k);
	return 0;
}
