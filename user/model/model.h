/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and power of every power mode from few measured ones.
 * Pure: arrays in, arrays out; seeded; no globals, files, clocks.
 */
#ifndef JETWATT_MODEL_H
#define JETWATT_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/**
 * struct jetwatt_row - one measured mode
 * @time_ms: per minibatch; @power_w: mean of the module
 * @time_sd, @power_sd: relative standard errors of the two (0: unknown)
 */
struct jetwatt_row {
	struct jetwatt_mode mode;
	double time_ms, power_w;
	double time_sd, power_sd;
};

/**
 * struct jetwatt_prediction - log-normal predictive distributions
 * @time_ms, @power_w: medians
 * @time_sd, @power_sd: standard deviations of the logarithms
 */
struct jetwatt_prediction {
	double time_ms, power_w;
	double time_sd, power_sd;
};

struct jetwatt_model;

/**
 * jetwatt_model_fit() - fit to @n measured rows
 * @seed: of all random choices: same rows, same seed, same model
 *
 * Return: 0; -EINVAL: a row that is not finite and positive; -ENODATA: n < 3;
 * -ENOMEM.
 */
int jetwatt_model_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		      uint64_t seed);
void jetwatt_model_free(struct jetwatt_model *m);

/* @out: n entries. Return: 0, -ENOMEM. */
int jetwatt_model_predict(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *out);

#endif
