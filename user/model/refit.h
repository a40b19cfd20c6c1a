/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Warm-start fit: fit to other rows, starting from a fitted model, for a fraction of the cost of a
 * full fit. Used by the strategy "auto" (plan/surrogate.c), and for rows of other devices (fit.c).
 */
#ifndef JETWATT_REFIT_H
#define JETWATT_REFIT_H

#include "model/fit.h"

/**
 * jetwatt_refit() - fit a model to other rows, starting from a fitted model
 * @m: set to the new model, or to NULL on error
 * @from: the fitted model. The new model keeps the hyper-parameters, parameter priors and
 *	calibration factor of @from, and the weights of its references' prediction, but not its
 *	transferred rows; the parameters of @from are the starting point. A row that @from was fitted
 *	to keeps its outlier weight
 * @row: all rows that the new model is fitted to
 * @n: number of rows, at least 1
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0 or @n is 0; -EDOM; -ENOMEM.
 */
int jetwatt_refit(struct jetwatt_model **m, const struct jetwatt_model *from,
		  const struct jetwatt_row *row, size_t n);

#endif
