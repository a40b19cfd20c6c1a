/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A response surface: log time or log power over the modes as the sum of a parametric mean (form.h)
 * and a Gaussian process (gp.h) on its residuals, fitted together. fit.h combines the surfaces of
 * time and power into a model.
 */
#ifndef JETWATT_SURFACE_H
#define JETWATT_SURFACE_H

#include "model/form.h"
#include "model/gp.h"

/**
 * struct jetwatt_param_prior - prior of the parameters of a parametric mean
 * @mu: means of the normal distributions, one per parameter
 * @sd: their standard deviations
 */
struct jetwatt_param_prior {
	double mu[JETWATT_PARAMS_MAX], sd[JETWATT_PARAMS_MAX];
};

/**
 * struct jetwatt_surface - a fitted response surface
 * @form: the parametric mean
 * @gp: hyper-parameters of the Gaussian process
 * @prior: prior of the parameters
 * @theta: fitted parameters
 * @calibration: calibration factor of the predictive variance, from the leave-one-out errors
 * @evidence: log probability of the points under the prior (Laplace approximation), up to a
 *	constant, before outliers got less weight; copied by a warm-start fit, 0 after loading
 * @unexplained: sum of the squared leave-one-out errors as a share of the sum of squares of @y about its
 *	mean; 1 or more: the points do not predict each other. 0 after a warm-start fit or loading
 * @n: number of points
 * @x: feature vectors of the points
 * @y: measured logarithms
 * @sd: standard errors of @y
 * @outlier_weight: factor on the noise variance of each point; 1: no outlier, larger: an outlier
 * @l: Cholesky factor of C, the covariance of process and noise at the points: C = l l'
 * @jac: l^-1 J, with J the gradient of the parametric mean at the points
 * @res: l^-1 (y - mean)
 * @off: measured value @y minus the parametric mean at the parameters @there, for each point
 * @slope: J at the parameters @there
 * @there: parameters at which @off and @slope were computed. A search over hyper-parameters changes
 *	only covariances, so the search reuses @off and @slope
 * @known: 1: @off and @slope are valid
 * @hess: Cholesky factor of jac' jac + inverse prior covariance
 */
struct jetwatt_surface {
	const struct jetwatt_form *form;
	struct jetwatt_gp gp;
	struct jetwatt_param_prior prior;
	double theta[JETWATT_PARAMS_MAX], calibration, evidence, unexplained;
	size_t n;
	struct jetwatt_features *x;
	double *y, *sd, *outlier_weight, *l, *jac, *res, *off, *slope;
	double there[JETWATT_PARAMS_MAX];
	int known;
	double hess[JETWATT_PARAMS_MAX * JETWATT_PARAMS_MAX];
};

/**
 * jetwatt_surface_fit() - fit a parametric mean and a Gaussian process
 * @s: set to the new surface, or to NULL on error
 * @form: the parametric mean
 * @x: feature vectors of the measured points
 * @y: logarithms measured there
 * @sd: standard errors of @y
 * @n: number of points, at least 1; the cost grows with the cube of the number
 * @prior: prior of the parameters; NULL: the default prior of @form
 *
 * Return: 0; -EDOM if a covariance matrix or Hessian is not positive definite; -ENOMEM.
 */
int jetwatt_surface_fit(struct jetwatt_surface **s, const struct jetwatt_form *form,
			const struct jetwatt_features *x, const double *y, const double *sd, size_t n,
			const struct jetwatt_param_prior *prior);
/* Set @b to the default prior of @form, which uses no reference. */
void jetwatt_surface_default_prior(const struct jetwatt_form *form, struct jetwatt_param_prior *b);
/* Free a surface. @s may be NULL. */
void jetwatt_surface_free(struct jetwatt_surface *s);

/**
 * jetwatt_surface_predict() - predict a surface at points
 * @s: the surface
 * @x: feature vectors
 * @n: number of points
 * @mean: @n predicted logarithms
 * @var: variances of the predictions, without measurement noise, multiplied by the calibration
 *	factor
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_surface_predict(const struct jetwatt_surface *s, const struct jetwatt_features *x,
			    size_t n, double *mean, double *var);

/* Return: the parametric mean at @x, a logarithm, with the fitted parameters and without the
 * Gaussian process. */
double jetwatt_surface_form(const struct jetwatt_surface *s, const struct jetwatt_features *x);

/* Set @cpu_sensitivity of each of the @n feature vectors @x, if the parametric mean of @s has one. */
void jetwatt_surface_set_cpu_sensitivity(const struct jetwatt_surface *s, struct jetwatt_features *x, size_t n);

/**
 * jetwatt_surface_variance_reduction() - variance reduction by one more measurement
 * @s: the surface
 * @c: feature vectors of the candidates
 * @nc: number of candidates
 * @r: feature vectors of the points whose variances count
 * @nr: number of points in @r
 * @sd: standard error of a measurement of a candidate
 * @gain: @nc entries; the reduction of the summed variance over @r, if the candidate is measured,
 *	is added to each
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_surface_variance_reduction(const struct jetwatt_surface *s, const struct jetwatt_features *c, size_t nc,
			   const struct jetwatt_features *r, size_t nr, double sd, double *gain);

/* The following functions are steps of the fit, shared by surface.c, hyperparams.c, refit.c and
 * save.c. */

/* Allocate a surface for @n points, all zero. Return: NULL if memory is short. */
struct jetwatt_surface *jetwatt_surface_new(const struct jetwatt_form *form, size_t n);
/* Compute @l, @jac, @res and @hess of @s from its other fields. Return: 0, -ENOMEM, -EDOM. */
int jetwatt_surface_restore(struct jetwatt_surface *s);

/* Compute @l of @s from @gp, @x, @sd and @outlier_weight. Return: 0, -ENOMEM, -EDOM. */
int jetwatt_surface_factor(struct jetwatt_surface *s);
/**
 * jetwatt_surface_optimize() - find the most probable parameters by Levenberg-Marquardt
 * @s: the surface, with @l set; starts at @theta; sets @theta, @res, @jac, @hess, and
 *	@off, @slope, @there and @known
 * @steps: maximum number of iterations
 * @hopeless: stop before the first step if @cost plus the log determinant of the Hessian is
 *	unlikely to fall below this value; INFINITY: never
 * @cost: set to twice the negative log of likelihood times prior at the end
 *
 * Return: 0; -EDOM if the Hessian is not positive definite.
 */
int jetwatt_surface_optimize(struct jetwatt_surface *s, int steps, double hopeless, double *cost);

#endif
