/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and power of a new workload as a weighted sum of the predictions of the references' models,
 * plus a Gaussian process on the residuals (Alvarez, Rosasco and Lawrence 2012, doi
 * 10.1561/2200000036, section 4: the linear model of coregionalization with one known output).
 * Workloads of one board have more in common than the parameters of a parametric mean: voltage
 * steps and the cost of a core, for example. predict.c mixes the prediction of the weighted sum
 * with that of the default model; prior.c sets the weights of this mixture.
 */
#ifndef JETWATT_TRANSFER_H
#define JETWATT_TRANSFER_H

#include "model/model.h"

/*
 * Models of the references, shared by a prior and the models fitted with it, and freed with the
 * last user. The counter is atomic, the contents are read-only after the last
 * jetwatt_transfer_add(), except the stored predictions of the references, which one thread at a
 * time uses.
 */
struct jetwatt_transfer;

/* Allocate space for up to @n references, with one user. Return: NULL if memory is short. */
struct jetwatt_transfer *jetwatt_transfer_new(size_t n);
/*
 * Add a reference. @m: model fitted to the @n rows @row of one minibatch size; owned by @t from
 * here on.
 */
void jetwatt_transfer_add(struct jetwatt_transfer *t, struct jetwatt_model *m,
			  const struct jetwatt_row *row, size_t n);
/* Return: the number of references; 0 if @t is NULL. */
size_t jetwatt_transfer_count(const struct jetwatt_transfer *t);
/* Add a user. @t may be NULL. Return: @t. */
struct jetwatt_transfer *jetwatt_transfer_get(struct jetwatt_transfer *t);
/* Remove a user of the references; removing the last user frees the references. @t may be NULL. */
void jetwatt_transfer_put(struct jetwatt_transfer *t);

/* Weighted sum of the references, with weights that are fitted to rows of the new workload. */
struct jetwatt_transferred;

/**
 * jetwatt_transfer_fit() - fit the weighted sum of the references to measured rows
 * @f: set to the fitted sum, or to NULL on error
 * @t: the references; gains a user
 * @row: rows of the new workload, finite and positive, of one minibatch size
 * @n: number of entries of @row; 0: the references get equal weights
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0; -EDOM if no covariance matrix is positive
 * definite; -ENOMEM.
 */
int jetwatt_transfer_fit(struct jetwatt_transferred **f, struct jetwatt_transfer *t,
			 const struct jetwatt_row *row, size_t n);
/* Free a fitted sum. @f may be NULL. */
void jetwatt_transferred_free(struct jetwatt_transferred *f);

/* Return: the references of @f, without adding a user. */
struct jetwatt_transfer *jetwatt_transferred_by(const struct jetwatt_transferred *f);

/*
 * Set @time and @power to the log evidence of the measured times and powers, comparable with
 * @evidence of struct jetwatt_surface.
 */
void jetwatt_transferred_evidence(const struct jetwatt_transferred *f, double *time, double *power);

/**
 * jetwatt_transferred_predict() - predict modes from the weighted sum
 * @f: the fitted sum
 * @mode: modes to predict
 * @n: number of modes
 * @out: @n predictions
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0; -ENOMEM.
 */
int jetwatt_transferred_predict(const struct jetwatt_transferred *f, const struct jetwatt_mode *mode,
				size_t n, struct jetwatt_prediction *out);

/*
 * Return: 1 if the references cover the range of every knob from @lo to @hi, up to a factor of 1.5;
 * else 0. The check is needed because boards of another kind have other ranges of the knobs.
 */
int jetwatt_transfer_covers(const struct jetwatt_transfer *t, const struct jetwatt_mode *lo,
			    const struct jetwatt_mode *hi);

/* Return: of the modes of the first reference, the one whose log power is closest to the mean log
 * power. */
struct jetwatt_mode jetwatt_transfer_middle(const struct jetwatt_transfer *t);

#endif
