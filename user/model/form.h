/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A form: what physics says about the shape of time or power over the modes,
 * with parameters that are logarithms and a broad prior on each.
 */
#ifndef JETWATT_FORM_H
#define JETWATT_FORM_H

#include "model/model.h"

/* The knobs that the forms know: all but optional ones. */
#define JETWATT_DIMS		4
/* All knobs and the batch size. */
#define JETWATT_FEATURES	(JETWATT_KNOBS + 1)
#define JETWATT_PARAMS_MAX	18

/**
 * struct jetwatt_point - a mode as the forms see it
 * @lg: logarithms of cores / 8, CPU / 2 GHz, GPU / 1 GHz, EMC / 2 GHz, batch
 *	size / 16, optional knobs / 1 GHz (0 where it is no feature)
 * @v: the same, not logarithms
 * @rate: minibatches per second, relative to the workload's at lg = 0
 *	(power only)
 * @serves: inference, which is what has a batch size
 * @rough: how far the time hangs on the CPU's clock, 0: not at all. There other
 *	programs, caches and the scheduler meddle: forms are less exact, and
 *	measurements less repeatable
 */
struct jetwatt_point {
	double lg[JETWATT_FEATURES];
	double v[JETWATT_FEATURES];
	double rate, rough;
	int serves;
};

enum { JETWATT_CORES, JETWATT_CPU, JETWATT_GPU, JETWATT_EMC, JETWATT_BATCH };

/* Features of knobs in their order, with the batch size before the optional ones. */
static inline int jetwatt_feature(enum jetwatt_knob k)
{
	return (int)k < JETWATT_BATCH ? (int)k : (int)k + 1;
}

/**
 * struct jetwatt_form - a family of surfaces
 * @np: parameters; @mu, @sd: their normal prior
 * @prepare: what @eval wants of the parameters, once for many points
 * @eval: logarithm of the surface at @x; @grad (np, or NULL): by parameter
 * @rough: jetwatt_point's; NULL: this form cannot tell
 * @own: the parameter that no other workload can know, -1: none
 * @unease: how many times further off it may be at rough = 1 than at 0
 */
struct jetwatt_form {
	int np, own;
	const double *mu, *sd;
	void (*prepare)(const double *theta, double *coef);
	double (*eval)(const double *coef, const struct jetwatt_point *x, double *grad);
	double (*rough)(const double *coef, const struct jetwatt_point *x);
	double unease;
};

/* Time: a GPU chain beside a loader pipeline (roof.c). */
extern const struct jetwatt_form jetwatt_roof;
/* jetwatt_model_shares() of that form. */
void jetwatt_roof_shares(const double *coef, const struct jetwatt_point *x, double *share);
/* Power: non-negative terms in clocks and rate (watts.c). */
extern const struct jetwatt_form jetwatt_watts;

/* Return: 0, -EINVAL: a knob that is zero. */
int jetwatt_point_of(struct jetwatt_point *x, const struct jetwatt_mode *m);
/* @batch: 0: no feature */
void jetwatt_point_batch(struct jetwatt_point *x, uint32_t batch);

/**
 * jetwatt_form_work() - how work grows with the batch size: so much for each
 * minibatch, so much for each item of it
 * @fixed: work that does not grow, in items of 16
 * @slope: derivative by the logarithm of @fixed
 *
 * Return: its logarithm, relative to a batch size of 16.
 */
double jetwatt_form_work(double fixed, const struct jetwatt_point *x, double *slope);

#endif
