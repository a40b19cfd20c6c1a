/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A parametric mean ("form"): a physical formula for log time or log power over all modes. The
 * parameters of a form are logarithms with a broad normal prior each. surface.h fits a parametric
 * mean together with a Gaussian process.
 */
#ifndef JETWATT_FORM_H
#define JETWATT_FORM_H

#include "model/model.h"

/* Number of knobs in the parametric means: all knobs that are not optional. */
#define JETWATT_DIMS		4
/* Number of features: all knobs and the minibatch size. */
#define JETWATT_FEATURES	(JETWATT_KNOBS + 1)
/* Upper bound of the number of parameters of a parametric mean. */
#define JETWATT_PARAMS_MAX	18

/**
 * struct jetwatt_features - feature vector of a mode
 * @lg: logarithms of cores / 8, CPU clock / 2 GHz, GPU clock / 1 GHz, EMC clock / 2 GHz,
 *	minibatch size / 16, and optional knobs / 1 GHz; 0 if the quantity is not a feature
 * @v: features without logarithm: cores / 8, CPU clock / 2 GHz, and so on as in @lg
 * @rate: rate of minibatches, as a ratio to the workload's rate at the reference point @lg = 0;
 *	only the power's parametric mean reads it
 * @cpu_sensitivity: sensitivity of the time to the CPU clock: the exponent of 1 / CPU clock, 0: the
 *	time does not depend on it. Other programs, caches and the scheduler disturb the CPU's part
 *	of the time, so both the parametric mean and measurements are less accurate if this is large
 * @serves: 1: an inference workload, which is one with a minibatch size; 0: training
 */
struct jetwatt_features {
	double lg[JETWATT_FEATURES];
	double v[JETWATT_FEATURES];
	double rate, cpu_sensitivity;
	int serves;
};

/* Indices of the features; the optional knobs follow. */
enum { JETWATT_CORES, JETWATT_CPU, JETWATT_GPU, JETWATT_EMC, JETWATT_BATCH };

/*
 * Return: the feature index of knob @k. Features are in the order of the knobs; the minibatch size
 * comes before the optional knobs.
 */
static inline int jetwatt_feature(enum jetwatt_knob k)
{
	return (int)k < JETWATT_BATCH ? (int)k : (int)k + 1;
}

/**
 * struct jetwatt_form - a parametric mean
 * @np: number of parameters
 * @own: index of the parameter that references say nothing about, which is the scale of the time;
 *	-1: the mean has no such parameter
 * @mu: mean of the normal prior of each parameter
 * @sd: standard deviation of the normal prior of each parameter
 * @prepare: convert the parameters @theta to the coefficients that @eval reads, once for many
 *	points
 * @eval: return the logarithm of time or power at @x; fill @grad (np derivatives with respect to
 *	the parameters) unless it is NULL
 * @of_board: bit k is set if parameter k describes the board rather than the workload: the static and the
 *	clocks' power, which are alike for all workloads of a board
 * @cpu_sensitivity: return @cpu_sensitivity of struct jetwatt_features; NULL: this parametric mean
 *	has none
 * @growth_prior: prior median of @growth in struct jetwatt_gp: at sensitivity r, the residuals are
 *	expected to be 1 + @growth_prior * r times as large as at 0
 */
struct jetwatt_form {
	int np, own;
	uint32_t of_board;
	const double *mu, *sd;
	void (*prepare)(const double *theta, double *coef);
	double (*eval)(const double *coef, const struct jetwatt_features *x, double *grad);
	double (*cpu_sensitivity)(const double *coef, const struct jetwatt_features *x);
	double growth_prior;
};

/* Parametric mean of the time: a GPU chain that overlaps with a data loader (time_form.c). */
extern const struct jetwatt_form jetwatt_time_form;
/* Fill @share as in jetwatt_model_shares(), from prepared coefficients of jetwatt_time_form. */
void jetwatt_time_form_shares(const double *coef, const struct jetwatt_features *x, double *share);
/* Parametric mean of the power: non-negative terms in clocks and rate (power_form.c). */
extern const struct jetwatt_form jetwatt_power_form;

/*
 * Fill the feature vector @x of mode @m, with no minibatch size, @rate 1 and @cpu_sensitivity 0.
 * Return: 0; -EINVAL if a required knob is 0.
 */
int jetwatt_features_of(struct jetwatt_features *x, const struct jetwatt_mode *m);
/* Set the minibatch size in @x. @batch: samples in a minibatch; 0: not a feature. */
void jetwatt_features_batch(struct jetwatt_features *x, uint32_t batch);

/**
 * jetwatt_form_work() - growth of the work of a minibatch with its size
 * @fixed: work per minibatch that does not depend on the size, in units of the work of 16 samples
 * @x: feature vector, of which only the minibatch size is read
 * @slope: set to the derivative of the returned logarithm with respect to log @fixed
 *
 * Return: log of the work of a minibatch, relative to that of 16 samples.
 */
double jetwatt_form_work(double fixed, const struct jetwatt_features *x, double *slope);

#endif
