/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Covariance of the residuals of a parametric mean: a product of Matern-5/2 functions of the
 * logarithms of the features (Rasmussen and Williams, Gaussian Processes for Machine Learning,
 * 2006, equation 4.17 and section 4.2.4), plus a nugget.
 */
#ifndef JETWATT_GP_H
#define JETWATT_GP_H

#include "model/form.h"

/* Prior median and initial value of a length scale, in units of a feature's natural logarithm. */
#define JETWATT_GP_LEN	1.2

/**
 * struct jetwatt_gp - hyper-parameters, in units of log time or log power
 * @amp: standard deviation of the residual surface
 * @len: length scale for the logarithm of each feature
 * @noise: nugget: standard deviation of the part that is peculiar to a mode. Neighbouring modes do
 *	not share it, but repeated measurements of the mode reproduce it
 * @growth: at a point x, @amp and @noise are multiplied by 1 + growth * x->cpu_sensitivity
 */
struct jetwatt_gp {
	double amp, len[JETWATT_FEATURES], noise, growth;
};

/* Return: the factor on @amp and @noise at point @x. */
static inline double jetwatt_gp_scale(const struct jetwatt_gp *gp, const struct jetwatt_features *x)
{
	return 1 + gp->growth * x->cpu_sensitivity;
}

/**
 * jetwatt_gp_cov() - covariances between two sets of points
 * @gp: hyper-parameters
 * @a: first set; the shorter one, for speed
 * @na: number of points in @a
 * @b: second set
 * @nb: number of points in @b
 * @k: @na x @nb covariances, row-major; the noise of measurements is not included
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_gp_cov(const struct jetwatt_gp *gp, const struct jetwatt_features *a, size_t na,
		   const struct jetwatt_features *b, size_t nb, double *k);

#endif
