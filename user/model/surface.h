/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One surface (log time or log power) over the modes: a form's parameters and
 * a Gaussian process on the rest, fitted together.
 */
#ifndef JETWATT_SURFACE_H
#define JETWATT_SURFACE_H

#include "form.h"
#include "gp.h"

struct jetwatt_surface;

/**
 * jetwatt_surface_fit() - fit a form plus a Gaussian process
 * @x, @y, @sd: n points, logarithms measured there, their standard errors
 * @noise: what a measurement varies beyond @sd
 * @n: at least 1; cost grows with its cube
 *
 * Return: 0, -ENOMEM, -EDOM: the values admit no fit.
 */
int jetwatt_surface_fit(struct jetwatt_surface **s, const struct jetwatt_form *form,
			const struct jetwatt_point *x, const double *y, const double *sd, size_t n);
void jetwatt_surface_free(struct jetwatt_surface *s);

/* @mean, @var: n entries, of the noise-free logarithm. Return: 0, -ENOMEM. */
int jetwatt_surface_predict(const struct jetwatt_surface *s, const struct jetwatt_point *x,
			    size_t n, double *mean, double *var);

/* The form alone at @x: what it says with its fitted parameters. */
double jetwatt_surface_form(const struct jetwatt_surface *s, const struct jetwatt_point *x,
			    double *grad);

#endif
