/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The covariance of what a form leaves unexplained: a product of Matern-5/2 over
 * the logarithms of the knobs (Rasmussen and Williams, Gaussian Processes for
 * Machine Learning, eq. 4.17 and 4.2.4).
 */
#ifndef JETWATT_GP_H
#define JETWATT_GP_H

#include "model/form.h"

/* Where a length scale is expected, and begins. */
#define JETWATT_GP_LEN	1.2

/**
 * struct jetwatt_gp - hyper-parameters, all in units of log time or log power
 * @amp: standard deviation of the residual surface
 * @len: length scale of each feature's logarithm
 * @noise: standard deviation of what is a mode's own: no neighbour shares it,
 *	measuring the mode again finds it again
 * @rough: amp and noise are 1 + rough * x->rough times as much at a point
 */
struct jetwatt_gp {
	double amp, len[JETWATT_FEATURES], noise, rough;
};

/* What amp and noise are to be multiplied by at a point. */
static inline double jetwatt_gp_scale(const struct jetwatt_gp *gp, const struct jetwatt_point *x)
{
	return 1 + gp->rough * x->rough;
}

/* @k: na x nb covariances between two sets of points, the noise of measurements
 * not included. Quickest with the shorter set first. Return: 0, -ENOMEM. */
int jetwatt_gp_cov(const struct jetwatt_gp *gp, const struct jetwatt_point *a, size_t na,
		   const struct jetwatt_point *b, size_t nb, double *k);

#endif
