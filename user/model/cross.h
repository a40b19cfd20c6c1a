/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spreads for a predictor that has none of its own, by cross-validation: the rows
 * are split into folds of whole modes, and the predictor is fitted once to all rows
 * and once without each fold. The variance of a prediction is the mean square of
 * the errors on the rows left out, plus the variance of the fits without a fold at
 * the mode in question: that of the CV+ distribution (Barber, Candes, Ramdas and
 * Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 2021,
 * section 3). Near the rows the first term decides, far from them the second.
 */
#ifndef JETWATT_CROSS_H
#define JETWATT_CROSS_H

#include "model/predictor.h"

struct jetwatt_cross;

/**
 * jetwatt_cross_fit() - fit @by to the rows, and once more for each fold
 *
 * Costs up to six fits.
 * Return: 0; as @by's fit; -ENOMEM.
 */
int jetwatt_cross_fit(struct jetwatt_cross **c, const struct jetwatt_predictor *by,
		      const struct jetwatt_predictor_input *in);
/* As struct jetwatt_predictor's predict, with spreads. */
int jetwatt_cross_predict(const struct jetwatt_cross *c, const struct jetwatt_mode *mode,
			  const uint32_t *batch, size_t n, struct jetwatt_prediction *out);
void jetwatt_cross_free(struct jetwatt_cross *c);

#endif
