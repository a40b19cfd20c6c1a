/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The surrogate of one workload for the strategy "auto": a model that is fitted again after the
 * measurements of each mode, and its predictions for all cells. A cell is a mode at one minibatch
 * size.
 */
#ifndef JETWATT_SURROGATE_H
#define JETWATT_SURROGATE_H

#include "plan/observations.h"

/**
 * struct jetwatt_surrogate - surrogate of one workload
 * @base: model of the last full fit, to an evenly spread selection of the first @based rows
 * @m: the model in use: @base, or a model from jetwatt_estimator_refit() of it; NULL: none
 * @based: number of rows when @base was fitted
 * @rows: number of rows when @m was fitted
 * @budget: power budget in watts; if @m uses only a part of the rows, those closest to this power
 * @p: for each minibatch size the predictions of all modes
 * @good: 1: the predictions @p are valid for this minibatch size
 */
struct jetwatt_surrogate {
	struct jetwatt_fitted *base, *m;
	size_t based, rows;
	double budget;
	struct jetwatt_prediction *p;
	unsigned char good[JETWATT_SLICE_SIZES];
};

/**
 * struct jetwatt_estimate - time and power of a cell, measured or predicted
 * @time_ms: mean of the measured or median of the predicted time of a minibatch, in milliseconds
 * @time_sd: standard deviation of log time; 0: the cell was measured
 * @power_w: mean of the measured or median of the predicted power, in watts
 * @power_sd: standard deviation of log power; 0: the cell was measured
 */
struct jetwatt_estimate {
	double time_ms, time_sd, power_w, power_sd;
};

/* Create a surrogate for workload @t and @n modes. Return: 0, -ENOMEM. */
int jetwatt_surrogate_init(struct jetwatt_surrogate *v, const struct jetwatt_workload_data *t, size_t n);
/* Free the contents of @v. */
void jetwatt_surrogate_free(struct jetwatt_surrogate *v);

/**
 * jetwatt_surrogate_fit() - fit the surrogate to the measurements
 * @v: the surrogate
 * @k: measurements of the board
 * @t: the workload
 * @budget: power budget of the query, in watts: rows with power near the budget are preferred
 * @seed: seed of all random choices
 * @full: 1: the caller permits a full fit that could also be postponed; set to 0 after any full fit
 *
 * Without any measured row, the surrogate gets a model only if the references cover the modes. Rows of
 * other devices in the prior are not used.
 *
 * Return: 0, negative errno.
 */
int jetwatt_surrogate_fit(struct jetwatt_surrogate *v, const struct jetwatt_observed *k,
			  const struct jetwatt_workload_data *t, double budget, uint64_t seed,
			  int *full);

/*
 * Predict all modes at the minibatch size of index @size, unless the predictions are valid already
 * or there is no model. Return: 0, negative errno.
 */
int jetwatt_surrogate_predict(struct jetwatt_surrogate *v, const struct jetwatt_observed *k,
			      const struct jetwatt_workload_data *t, size_t size);

/*
 * Return: time and power of a cell: the mean of its measurements; if the cell was not measured, its
 * prediction, which must be valid.
 */
struct jetwatt_estimate jetwatt_surrogate_estimate(const struct jetwatt_surrogate *v,
					const struct jetwatt_observed *k,
					const struct jetwatt_workload_data *t, size_t size, size_t mode);

#endif
