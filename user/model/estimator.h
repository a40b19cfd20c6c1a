/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The predictor that a user has chosen, its prior, and models fitted by it: the interface for
 * searches, commands and jetwattd, equal for all predictors. A prediction always has standard
 * deviations: those of the predictor, or those of cross-validation (crossval.h) if it has none.
 */
#ifndef JETWATT_ESTIMATOR_H
#define JETWATT_ESTIMATOR_H

#include "model/predictor.h"

/**
 * struct jetwatt_estimator - a chosen predictor; all zero: the default one without a prior
 * @by: the predictor; NULL: the default
 * @prior: what the predictor has learned from references and rows of other devices; NULL: nothing
 * @highest: highest level of each knob of the board; all zero: the highest levels of the rows of a
 *	fit
 * @particles: 1: the rows are of one training program, whose minibatches are alike: if they are few,
 *	"auto" predicts from a sample of the posterior distribution (particles.h)
 */
struct jetwatt_estimator {
	const struct jetwatt_predictor *by;
	void *prior;
	struct jetwatt_mode highest;
	int particles;
};

/*
 * Return: the predictor of @e. In all functions that take a const @e, NULL is the default predictor
 * without a prior.
 */
const struct jetwatt_predictor *jetwatt_estimator_by(const struct jetwatt_estimator *e);

/*
 * Learn the prior from @n references @c; an earlier prior is discarded. Return: 0; -ENOTSUP if the
 * predictor learns nothing from references; an error of the predictor's operation @prior.
 */
int jetwatt_estimator_learn(struct jetwatt_estimator *e, const struct jetwatt_corpus *c, size_t n,
			    uint64_t seed);
/*
 * Set the prior's rows from other boards of this kind to @n rows of the same workload; earlier such
 * rows are discarded. Return: 0; -ENOTSUP if the predictor does not use such rows; an error of the
 * predictor's operation @add_cross_device.
 */
int jetwatt_estimator_add_cross_device(struct jetwatt_estimator *e, const struct jetwatt_row *row, size_t n,
			   uint64_t seed);
/*
 * Return: 1 if the prior has rows of the same workload from other devices and the @n rows @row of
 * this board agree with them; else 0.
 */
int jetwatt_estimator_cross_device_agrees(const struct jetwatt_estimator *e, const struct jetwatt_row *row,
				size_t n);
/*
 * Return: 1 if the references of the prior cover the range of the @n modes, so that a fit to no
 * rows is possible; else 0.
 */
int jetwatt_estimator_references_cover(const struct jetwatt_estimator *e, const struct jetwatt_mode *mode,
			       size_t n);
/* Free the prior of @e. */
void jetwatt_estimator_forget(struct jetwatt_estimator *e);

/*
 * Return: 1 if @n rows are enough to answer a query: at least the predictor's minimum, or any
 * number if the predictor has a prior. Searches also fit models to fewer rows.
 */
int jetwatt_estimator_enough(const struct jetwatt_estimator *e, size_t n);

/**
 * struct jetwatt_fitted - a model
 * @by: the predictor that fitted the model
 * @model: the predictor's model; NULL: @cross is set
 * @cross: fits of cross-validation, if the predictor @by gives no standard deviations
 * @seen: modes of the rows that the model was fitted to
 * @n: number of entries of @seen
 * @lo: lowest level of each knob, and smallest minibatch size, in @seen
 * @hi: highest level of each knob, and largest minibatch size, in @seen
 */
struct jetwatt_fitted {
	const struct jetwatt_predictor *by;
	void *model;
	struct jetwatt_crossval *cross;
	struct jetwatt_seen_mode *seen;
	size_t n;
	struct jetwatt_seen_mode lo, hi;
};

/**
 * jetwatt_estimator_fit() - fit to rows
 * @f: set to the model, or to NULL on error
 * @e: predictor and prior
 * @row: rows to fit to; if any has a minibatch size, the size is a feature
 * @n: number of rows
 * @max_rows: largest number of rows to use, an evenly spread selection; 0: the predictor's own
 *	limit. A predictor may ignore @max_rows; with @max_rows other than 0, "auto" uses no rows of
 *	other devices
 * @seed: seed of all random choices; equal rows and an equal seed give an equal model
 *
 * Return: 0; -ENOTSUP if the predictor does not predict, cannot use the minibatch size that a row
 * has, or lacks the references it needs; an error of the predictor's operation @fit;
 * -ENOMEM.
 */
int jetwatt_estimator_fit(struct jetwatt_fitted **f, const struct jetwatt_estimator *e,
			  const struct jetwatt_row *row, size_t n, size_t max_rows, uint64_t seed);

/**
 * jetwatt_estimator_refit() - fit to other rows, starting from a fitted model
 * @f: set to the model, or to NULL on error
 * @e: predictor and prior of a full fit; a warm-start fit takes both from @from
 * @from: the fitted model
 * @row: all rows that the new model is fitted to
 * @n: number of rows
 * @seed: as for jetwatt_estimator_fit(); not used by a warm-start fit
 *
 * A warm-start fit if the predictor of @from supports it, else a full fit.
 *
 * Return: as jetwatt_estimator_fit().
 */
int jetwatt_estimator_refit(struct jetwatt_fitted **f, const struct jetwatt_estimator *e,
			    const struct jetwatt_fitted *from, const struct jetwatt_row *row,
			    size_t n, uint64_t seed);

/**
 * jetwatt_fitted_predict() - predict modes
 * @f: the model
 * @mode: modes to predict
 * @batch: samples in a minibatch, @n entries; NULL: the minibatch size is not a feature
 * @n: number of modes
 * @out: @n predictions
 *
 * Return: 0; an error of the predictor's operation @predict; -ENOMEM.
 */
int jetwatt_fitted_predict(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			   const uint32_t *batch, size_t n, struct jetwatt_prediction *out);
/* Free a model. @f may be NULL. */
void jetwatt_fitted_free(struct jetwatt_fitted *f);

/*
 * Return: weight of the references' prediction in @f, 0 to 1: the smaller of the weights for time
 * and for power. The better the references agree with the rows, the larger the weight is. 0 if @f
 * is NULL or does not use references.
 */
double jetwatt_fitted_reference_weight(const struct jetwatt_fitted *f);

/*
 * Set @size to the minibatch sizes of the rows of @f, ascending, at most @max of them. Return: the
 * number of sizes in @size; 0 if the minibatch size is not a feature.
 */
size_t jetwatt_fitted_sizes(const struct jetwatt_fitted *f, uint32_t *size, size_t max);
/*
 * Return: 1 if a prediction for @mode and @batch (0: not a feature) is an extrapolation: a knob or
 * the minibatch size is outside of the range of the rows of @f; else 0.
 */
int jetwatt_fitted_beyond(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			  uint32_t batch);

/*
 * Write a model as bytes that are equal on every machine. @out: set to @len bytes, which the caller
 * frees.
 * Return: 0; -ENOTSUP if models of this predictor cannot be saved; else as jetwatt_model_save().
 */
int jetwatt_fitted_save(const struct jetwatt_fitted *f, unsigned char **out, size_t *len);
/* Read a saved model of any predictor. Return: as jetwatt_model_load(). */
int jetwatt_fitted_load(struct jetwatt_fitted **f, const unsigned char *in, size_t len);

#endif
