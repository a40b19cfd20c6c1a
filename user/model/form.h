/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A form: what physics says about the shape of time or power over the modes,
 * with parameters that are logarithms and a broad prior on each.
 */
#ifndef JETWATT_FORM_H
#define JETWATT_FORM_H

#include "model.h"

#define JETWATT_DIMS		4
#define JETWATT_PARAMS_MAX	16

/**
 * struct jetwatt_point - a mode as the forms see it
 * @lg: logarithms of cores / 8, CPU / 2 GHz, GPU / 1 GHz, EMC / 2 GHz
 * @v: the same, not logarithms
 * @rate: minibatches per second, relative to the workload's at lg = 0
 *	(power only)
 */
struct jetwatt_point {
	double lg[JETWATT_DIMS];
	double v[JETWATT_DIMS];
	double rate;
};

enum { JETWATT_CORES, JETWATT_CPU, JETWATT_GPU, JETWATT_EMC };

/**
 * struct jetwatt_form - a family of surfaces
 * @np: parameters; @mu, @sd: their normal prior
 * @prepare: what @eval wants of the parameters, once for many points
 * @eval: logarithm of the surface at @x; @grad (np, or NULL): by parameter
 */
struct jetwatt_form {
	int np;
	const double *mu, *sd;
	void (*prepare)(const double *theta, double *coef);
	double (*eval)(const double *coef, const struct jetwatt_point *x, double *grad);
};

/* Time: a GPU chain beside a loader pipeline (roof.c). */
extern const struct jetwatt_form jetwatt_roof;
/* Power: non-negative terms in clocks and rate (watts.c). */
extern const struct jetwatt_form jetwatt_watts;

/* Return: 0, -EINVAL: a knob that is zero. */
int jetwatt_point_of(struct jetwatt_point *x, const struct jetwatt_mode *m);

#endif
