/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One surface (log time or log power) over the modes: a form's parameters and
 * a Gaussian process on the rest, fitted together.
 */
#ifndef JETWATT_SURFACE_H
#define JETWATT_SURFACE_H

#include "model/form.h"
#include "model/gp.h"

/**
 * struct jetwatt_belief - what is thought of a surface before it is measured
 * @mu, @sd: normal distributions of the form's parameters
 */
struct jetwatt_belief {
	double mu[JETWATT_PARAMS_MAX], sd[JETWATT_PARAMS_MAX];
};

/**
 * struct jetwatt_surface - a fitted surface
 * @scale: of the predictive variance, by what leaving points out says of it
 * @untold: how much of the points' variance is left in them where each is foretold by all others
 * @heavy: factor on each point's noise; 1: not suspicious
 * @evidence: logarithm of the probability of the points under the belief: how
 *	well each is foretold by the ones before it, in any order
 *
 * With theta the parameters, J the form's gradient at the points and C the
 * covariance of process and noise, C = l l':
 *	jac = l^-1 J, res = l^-1 (y - form), hess = chol(jac' jac + prior)
 * @off, @slope: y - form and J at the parameters @there (@known), from where the
 *	hyper-parameters are varied: covariances change, these do not
 */
struct jetwatt_surface {
	const struct jetwatt_form *form;
	struct jetwatt_gp gp;
	struct jetwatt_belief belief;
	double theta[JETWATT_PARAMS_MAX], scale, evidence, untold;
	size_t n;
	struct jetwatt_point *x;
	double *y, *sd, *heavy, *l, *jac, *res, *off, *slope;
	double there[JETWATT_PARAMS_MAX];
	int known;
	double hess[JETWATT_PARAMS_MAX * JETWATT_PARAMS_MAX];
};

/**
 * jetwatt_surface_fit() - fit a form plus a Gaussian process
 * @x, @y, @sd: n points, logarithms measured there, their standard errors
 * @n: at least 1; cost grows with its cube
 * @belief: NULL: that of the form
 *
 * Return: 0, -ENOMEM, -EDOM: the values admit no fit.
 */
int jetwatt_surface_fit(struct jetwatt_surface **s, const struct jetwatt_form *form,
			const struct jetwatt_point *x, const double *y, const double *sd, size_t n,
			const struct jetwatt_belief *belief);
/* What is thought without any reference. */
void jetwatt_surface_belief(const struct jetwatt_form *form, struct jetwatt_belief *b);
void jetwatt_surface_free(struct jetwatt_surface *s);

/* @mean, @var: n entries, of the noise-free logarithm. Return: 0, -ENOMEM. */
int jetwatt_surface_predict(const struct jetwatt_surface *s, const struct jetwatt_point *x,
			    size_t n, double *mean, double *var);

/* The form alone at @x: what it says with its fitted parameters. */
double jetwatt_surface_form(const struct jetwatt_surface *s, const struct jetwatt_point *x);

/* jetwatt_point's, by a form that can tell. */
double jetwatt_surface_rough(const struct jetwatt_surface *s, const struct jetwatt_point *x);

/**
 * jetwatt_surface_reduce() - what a measurement would teach about elsewhere
 * @c, @nc: where one could measure; @r, @nr: where one wants to know
 * @sd: standard error of such a measurement
 * @gain: nc entries, the fall of the sum of variances over @r is added
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_surface_reduce(const struct jetwatt_surface *s, const struct jetwatt_point *c, size_t nc,
			   const struct jetwatt_point *r, size_t nr, double sd, double *gain);

/* Steps of the fit, by the files that share it. */

/* Room for @n points, all zero. Return: NULL: no memory. */
struct jetwatt_surface *jetwatt_surface_new(const struct jetwatt_form *form, size_t n);
/* l, jac, res and hess from all the rest. Return: 0, -ENOMEM, -EDOM. */
int jetwatt_surface_restore(struct jetwatt_surface *s);

/* l from gp, sd and heavy. Return: 0, -EDOM. */
int jetwatt_surface_factor(struct jetwatt_surface *s);
/* Levenberg-Marquardt from theta; res, jac and hess are those of the end.
 * @hopeless: ends before its first step if @cost and the logarithm of hess'
 *	determinant are not likely to come below this together
 * @cost: twice the negative logarithm of likelihood times prior there. */
int jetwatt_surface_climb(struct jetwatt_surface *s, int steps, double hopeless, double *cost);
/* gp, heavy and scale, and with them all the rest. */
int jetwatt_surface_tune(struct jetwatt_surface *s);

#endif
