/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uncertainty by cross-validation, for a predictor that gives none of its own. The rows are divided
 * into folds of whole modes; the predictor is fitted to all rows, and once more without each fold.
 * The variance of a prediction is the mean squared error on the rows left out, averaged with a
 * prior error of 10 %, plus the variance of the leave-one-fold-out predictions for that mode: the
 * variance of the CV+ distribution (Barber, Candes, Ramdas and Tibshirani, Predictive inference
 * with the jackknife+, Annals of Statistics 2021, section 3). Near the measured rows the first term
 * of this sum dominates, far from the rows the second term. Used by estimator.c and trees.c.
 */
#ifndef JETWATT_CROSSVAL_H
#define JETWATT_CROSSVAL_H

#include "model/predictor.h"

/* The fits to all rows and without each fold. */
struct jetwatt_crossval;

/**
 * jetwatt_crossval_fit() - fit a predictor to all rows and without each fold
 * @c: set to the fits, or to NULL on error
 * @by: the predictor; needs @fit, @predict and @free
 * @in: rows and settings for the fits
 *
 * The function does up to six fits.
 *
 * Return: 0; an error of the operation @fit or @predict of @by; -ENOMEM.
 */
int jetwatt_crossval_fit(struct jetwatt_crossval **c, const struct jetwatt_predictor *by,
		      const struct jetwatt_predictor_input *in);
/* Predict @n modes as the operation @predict of the predictor does, with standard deviations. */
int jetwatt_crossval_predict(const struct jetwatt_crossval *c, const struct jetwatt_mode *mode,
			  const uint32_t *batch, size_t n, struct jetwatt_prediction *out);
/* Free the fits. @c may be NULL. */
void jetwatt_crossval_free(struct jetwatt_crossval *c);

#endif
