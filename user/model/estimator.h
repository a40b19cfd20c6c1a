/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A predictor that was chosen, with what it has learned from references, and a
 * model that it has fitted: what searches, commands and jetwattd work with, whichever
 * predictor it is. Predictions always have spreads: those of the predictor, or of
 * cross-validation (cross.h) where it has none.
 */
#ifndef JETWATT_ESTIMATOR_H
#define JETWATT_ESTIMATOR_H

#include "model/predictor.h"

/**
 * struct jetwatt_estimator - a predictor that was chosen; all zero: the default one
 * @by: NULL: the default
 * @prior: what it has learned from references and other boards, NULL: nothing
 * @most: the highest step of each knob of the board; zero: that of the rows
 */
struct jetwatt_estimator {
	const struct jetwatt_predictor *by;
	void *prior;
	struct jetwatt_mode most;
};

/* The predictor. @e: NULL: the default one, as in all that follows. */
const struct jetwatt_predictor *jetwatt_estimator_by(const struct jetwatt_estimator *e);

/* Learn from @n references; what was learned before is forgotten. Return: 0; as the
 * predictor's prior; -ENOTSUP: it learns nothing from them. */
int jetwatt_estimator_learn(struct jetwatt_estimator *e, const struct jetwatt_corpus *c, size_t n,
			    uint64_t seed);
/* Rows of the same workload on other boards of this kind. Return: 0; as the predictor's
 * twin; -ENOTSUP: it does not use them. */
int jetwatt_estimator_twin(struct jetwatt_estimator *e, const struct jetwatt_row *row, size_t n,
			   uint64_t seed);
/* Is the workload known from there, and do @n own rows not contradict? */
int jetwatt_estimator_foretells(const struct jetwatt_estimator *e, const struct jetwatt_row *row,
				size_t n);
/* Do other workloads let expect something of this one in @n modes, before it has rows? */
int jetwatt_estimator_foresees(const struct jetwatt_estimator *e, const struct jetwatt_mode *mode,
			       size_t n);
void jetwatt_estimator_forget(struct jetwatt_estimator *e);

/* Are @n rows enough for an answer? A search fits to fewer. */
int jetwatt_estimator_enough(const struct jetwatt_estimator *e, size_t n);

/**
 * struct jetwatt_fitted - a model
 * @model: what the predictor has made of the rows; NULL: @cross is set
 * @cross: the same with spreads
 * @seen, @n: modes of the rows that it rests on
 * @lo, @hi: lowest and highest step of each knob, and batch size, among them
 */
struct jetwatt_fitted {
	const struct jetwatt_predictor *by;
	void *model;
	struct jetwatt_cross *cross;
	struct jetwatt_seen_mode *seen;
	size_t n;
	struct jetwatt_seen_mode lo, hi;
};

/**
 * jetwatt_estimator_fit() - fit to @n rows
 * @few: rows that are enough, evenly chosen; 0: use all of them
 * @seed: of all random choices: same rows, same seed, same model
 *
 * Return: 0; as the predictor's fit; -ENOTSUP: also where rows have a batch size and it
 * is no feature, the predictor does not predict, or it lacks its references.
 */
int jetwatt_estimator_fit(struct jetwatt_fitted **f, const struct jetwatt_estimator *e,
			  const struct jetwatt_row *row, size_t n, size_t few, uint64_t seed);

/* @from through other rows, for less than the cost of a fit where the predictor can do
 * that. Return: as jetwatt_estimator_fit(). */
int jetwatt_estimator_refit(struct jetwatt_fitted **f, const struct jetwatt_estimator *e,
			    const struct jetwatt_fitted *from, const struct jetwatt_row *row,
			    size_t n, uint64_t seed);

/* @batch: n entries, NULL: no feature. @out: n entries. Return: 0, -EINVAL: a mode with a
 * knob at zero, -ENOMEM. */
int jetwatt_fitted_predict(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			   const uint32_t *batch, size_t n, struct jetwatt_prediction *out);
void jetwatt_fitted_free(struct jetwatt_fitted *f);

/* The share of what other workloads say in it, 0 to 1: as far as the rows bear that out. */
double jetwatt_fitted_foreseen(const struct jetwatt_fitted *f);

/* Minibatch sizes that it has seen, ascending, at most @max. Return: how many; 0:
 * the size is no feature of it. */
size_t jetwatt_fitted_sizes(const struct jetwatt_fitted *f, uint32_t *size, size_t max);
/* Is a knob of @mode, or @batch (0: no feature), beyond all that the model has seen
 * of it? What it says there is extrapolated. */
int jetwatt_fitted_beyond(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			  uint32_t batch);

/* As bytes, the same on every machine; @out: @len bytes, caller frees. Return: 0;
 * -ENOTSUP: models of this predictor cannot be saved; -ENOMEM. */
int jetwatt_fitted_save(const struct jetwatt_fitted *f, unsigned char **out, size_t *len);
/* A model that was saved, of whichever predictor. Return: 0; as jetwatt_model_load(). */
int jetwatt_fitted_load(struct jetwatt_fitted **f, const unsigned char *in, size_t len);

#endif
