// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predictions of a fitted surface and their variances (Rasmussen and Williams 2006, section 2.7: a
 * Gaussian process with explicit basis functions; here the basis is the parametric mean linearised
 * at its optimum).
 */
#include "model/surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <cblas.h>

#include "model/linalg.h"

/* Number of points that are predicted in one block; bounds the memory of a prediction. */
#define CHUNK	1024

/*
 * Compute for @c points x: s->n rows s->l^-1 k(., x), then one row for each parameter of the form. At each
 * point, the sum of squares of the latter is the variance due to the uncertainty of the parameters.
 * @mean: set to the parametric mean at each point; may be NULL. Return: the computed rows, NULL if
 *	memory is short.
 */
static double *posterior_rows(const struct jetwatt_surface *s, const struct jetwatt_features *x,
			      size_t c, double *mean)
{
	size_t n = s->n;
	int np = s->form->np;
	double *k = malloc((n + np) * c * sizeof(*k)), *h = k + n * c, g[JETWATT_PARAMS_MAX];
	double coef[JETWATT_PARAMS_MAX];

	if (!k)
		return NULL;
	s->form->prepare(s->theta, coef);
	for (size_t i = 0; i < c; i++) {
		double v = s->form->eval(coef, &x[i], g);

		if (mean)
			mean[i] = v;
		for (int p = 0; p < np; p++)
			h[p * c + i] = g[p];
	}
	if (jetwatt_gp_cov(&s->gp, s->x, n, x, c, k)) {
		free(k);
		return NULL;
	}
	jetwatt_linalg_lower(s->l, n, k, c);
	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, np, c, n, -1.0, s->jac, np, k, c, 1.0,
		    h, c);
	jetwatt_linalg_lower(s->hess, np, h, c);
	return k;
}

int jetwatt_surface_predict(const struct jetwatt_surface *s, const struct jetwatt_features *x,
			    size_t count, double *mean, double *var)
{
	size_t n = s->n, np = s->form->np;
	double own = s->gp.amp * s->gp.amp + s->gp.noise * s->gp.noise;

	for (size_t at = 0; at < count; at += CHUNK) {
		size_t c = count - at < CHUNK ? count - at : CHUNK;
		double *k = posterior_rows(s, x + at, c, mean + at);

		if (!k)
			return -ENOMEM;
		for (size_t i = 0; i < c; i++) {
			double by = jetwatt_gp_scale(&s->gp, &x[at + i]);

			var[at + i] = own * by * by;
		}
		cblas_dgemv(CblasRowMajor, CblasTrans, n, c, 1.0, k, c, s->res, 1, 1.0, mean + at, 1);
		for (size_t r = 0; r < n; r++)
			for (size_t i = 0; i < c; i++)
				var[at + i] -= k[r * c + i] * k[r * c + i];
		for (size_t r = n; r < n + np; r++)
			for (size_t i = 0; i < c; i++)
				var[at + i] += k[r * c + i] * k[r * c + i];
		for (size_t i = 0; i < c; i++)
			var[at + i] = s->calibration * fmax(var[at + i], 1e-8);
		free(k);
	}
	return 0;
}

int jetwatt_surface_variance_reduction(const struct jetwatt_surface *s, const struct jetwatt_features *c, size_t nc,
			   const struct jetwatt_features *r, size_t nr, double sd, double *gain)
{
	size_t n = s->n, np = s->form->np;
	double *pc = posterior_rows(s, c, nc, NULL), *pr = posterior_rows(s, r, nr, NULL);
	double *cov = malloc(nc * nr * sizeof(*cov));
	double own = s->gp.amp * s->gp.amp + s->gp.noise * s->gp.noise;
	int err = pc && pr && cov ? 0 : -ENOMEM;

	if (!err)
		err = jetwatt_gp_cov(&s->gp, c, nc, r, nr, cov);
	if (err)
		goto out;
	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, nc, nr, n, -1.0, pc, nc, pr, nr, 1.0,
		    cov, nr);
	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, nc, nr, np, 1.0, pc + n * nc, nc,
		    pr + n * nr, nr, 1.0, cov, nr);
	for (size_t i = 0; i < nc; i++) {
		double by = jetwatt_gp_scale(&s->gp, &c[i]), var = own * by * by + sd * sd;

		for (size_t k = 0; k < n; k++)
			var -= pc[k * nc + i] * pc[k * nc + i];
		for (size_t k = n; k < n + np; k++)
			var += pc[k * nc + i] * pc[k * nc + i];
		gain[i] += cblas_ddot(nr, cov + i * nr, 1, cov + i * nr, 1) / fmax(var, sd * sd);
	}
out:
	free(pc);
	free(pr);
	free(cov);
	return err;
}
