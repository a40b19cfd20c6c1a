/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The default model predicts time and power of every power mode of a board from a few measured
 * modes. The functions of this file fit the model, predict with it, save it and load it. Outside
 * user/model/, only tests call them; other code uses the types, and reaches the functions through
 * estimator.h and predictor.h.
 *
 * Pure functions: no globals, files or clocks. All random choices come from the seed argument.
 * Functions block for the length of the computation and may be called from any thread.
 */
#ifndef JETWATT_MODEL_H
#define JETWATT_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/**
 * struct jetwatt_row - one measured mode
 * @mode: the power mode
 * @time_ms: time of a minibatch, in milliseconds
 * @power_w: mean of the total power, in watts
 * @time_sd: relative standard error of @time_ms (0: unknown)
 * @power_sd: relative standard error of @power_w (0: unknown)
 * @batch: samples in a minibatch, if the minibatch size is a feature of the model; else 0
 */
struct jetwatt_row {
	struct jetwatt_mode mode;
	double time_ms, power_w;
	double time_sd, power_sd;
	uint32_t batch;
};

/**
 * struct jetwatt_prediction - log-normal predictive distributions of a mode
 * @time_ms: median of the time of a minibatch, in milliseconds
 * @power_w: median of the power of the module, in watts
 * @time_sd: standard deviation of log time (0: unknown)
 * @power_sd: standard deviation of log power (0: unknown)
 */
struct jetwatt_prediction {
	double time_ms, power_w;
	double time_sd, power_sd;
};

/*
 * Largest number of rows in a full fit; a warm-start fit (refit.h) has no limit. The cost of a fit
 * grows with the cube of the number of rows; further rows hardly improve the fits of time and power
 * over four knobs.
 */
#define JETWATT_FIT_MAX	400

/**
 * struct jetwatt_seen_mode - the mode of one row that a model was fitted to
 * @mode: the power mode
 * @batch: samples in a minibatch; 0: the minibatch size is not a feature
 */
struct jetwatt_seen_mode {
	struct jetwatt_mode mode;
	uint32_t batch;
};

struct jetwatt_model;

/**
 * jetwatt_model_fit() - fit a model to measured rows
 * @m: set to the new model, or to NULL on error
 * @row: rows to fit to
 * @n: number of rows
 * @seed: seed of all random choices; equal rows and an equal seed give an equal model
 *
 * If @n exceeds JETWATT_FIT_MAX, an evenly spread selection of the rows is used.
 *
 * Return: 0; -EINVAL if a time or power is not finite and positive, a standard error is negative or
 * not finite, or a required knob is 0; -ENODATA if @n < 3; -EDOM if the numbers admit no fit;
 * -ENOMEM.
 */
int jetwatt_model_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		      uint64_t seed);
/* Free a model. @m may be NULL. */
void jetwatt_model_free(struct jetwatt_model *m);

struct jetwatt_prior;

/**
 * struct jetwatt_reference - rows of another workload, a source of prior knowledge
 * @row: rows of one workload, on this board or on another one
 * @n: number of rows
 *
 * The frequency levels of the knobs may differ from those of this board.
 */
struct jetwatt_reference {
	const struct jetwatt_row *row;
	size_t n;
};

/**
 * jetwatt_prior_learn() - learn a prior from other workloads
 * @p: set to the new prior, or to NULL on error
 * @ref: the reference workloads
 * @n: number of references
 * @seed: seed of all random choices
 *
 * A reference whose rows do not predict each other in leave-one-out cross-validation is left out of
 * the prior.
 *
 * Return: 0; -EINVAL for a row as in jetwatt_model_fit(); -ENODATA if a reference has no rows or @n
 * is 0; -EDOM if the numbers admit no fit; -ENOMEM.
 */
int jetwatt_prior_learn(struct jetwatt_prior **p, const struct jetwatt_reference *ref, size_t n,
			uint64_t seed);

/**
 * jetwatt_prior_add_cross_device() - set the rows of a prior that are from other devices
 * @p: the prior; if *@p is NULL, a prior without references is created
 * @row: rows of the workload on other boards of the same kind, at one minibatch size; of several
 *	rows of one mode, the geometric mean is transferred
 * @n: number of rows, at least 3
 * @seed: seed of all random choices
 *
 * Rows of an earlier call are discarded. While the rows of a new board agree with @row, the
 * transferred rows stand in for modes that were not measured on the new board.
 *
 * Return: 0; else as jetwatt_model_fit().
 */
int jetwatt_prior_add_cross_device(struct jetwatt_prior **p, const struct jetwatt_row *row, size_t n, uint64_t seed);
/*
 * Return: 1 if @p holds rows of the workload from other devices, and @n is 0 or the @n rows @row of
 * this board agree with them; else 0.
 */
int jetwatt_prior_agrees(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n);
/* Free a prior. @p may be NULL. */
void jetwatt_prior_free(struct jetwatt_prior *p);

/**
 * jetwatt_model_fit_prior() - fit a model to measured rows with a prior
 * @m: set to the new model, or to NULL on error
 * @row: rows to fit to
 * @n: number of rows
 * @prior: prior knowledge, or NULL. References are weighted by how well they predict @row, compared
 *	with the default prior of the parametric means; rows of other devices are used instead if
 *	@row agrees with them
 * @seed: seed of all random choices
 *
 * Return: as jetwatt_model_fit(), except that with a @prior one row is enough. No row is needed if
 * @prior has references of one minibatch size, or rows of the same workload from other devices.
 */
int jetwatt_model_fit_prior(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
			    const struct jetwatt_prior *prior, uint64_t seed);

/**
 * jetwatt_model_predict() - predict time and power of modes
 * @m: the model
 * @mode: modes to predict
 * @n: number of modes
 * @out: @n predictions
 *
 * For a model in which the minibatch size is not a feature.
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0; -ENOMEM.
 */
int jetwatt_model_predict(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *out);
/**
 * jetwatt_model_predict_batch() - predict time and power of modes at minibatch sizes
 * @m: the model
 * @mode: modes to predict
 * @batch: samples in a minibatch, @n entries; NULL: the minibatch size is not a feature
 * @n: number of modes
 * @out: @n predictions
 *
 * Return: as jetwatt_model_predict().
 */
int jetwatt_model_predict_batch(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
				const uint32_t *batch, size_t n, struct jetwatt_prediction *out);

/**
 * jetwatt_model_save() - write a model as bytes that are equal on every machine
 * @m: the model
 * @out: set to the bytes, about 100 for each row; the caller frees them
 * @len: set to the number of bytes
 *
 * Return: 0; -EFBIG: a warm-start fit to more than JETWATT_FIT_MAX rows; -ENOMEM.
 */
int jetwatt_model_save(const struct jetwatt_model *m, unsigned char **out, size_t *len);

/**
 * jetwatt_model_load() - read a model that jetwatt_model_save() has written
 * @m: set to the model, or to NULL on error
 * @in: the bytes
 * @len: number of bytes
 *
 * Transferred rows, references and particles (particles.h) are not saved. Apart from these, with the
 * same floating-point arithmetic, the predictions of the loaded model equal those of the saved model bit
 * for bit.
 *
 * Return: 0; -EINVAL if the bytes are no model or are damaged; -EPROTONOSUPPORT if they have
 * another format version or more optional knobs; -ENOMEM.
 */
int jetwatt_model_load(struct jetwatt_model **m, const unsigned char *in, size_t len);

/* Parts of the time of a minibatch, by what limits them. */
enum jetwatt_share {
	JETWATT_SHARE_GPU,	/* part of arithmetic: its speed scales with the GPU clock */
	/* part of the network's memory traffic: its speed scales with the EMC clock */
	JETWATT_SHARE_EMC,
	JETWATT_SHARE_LAUNCH,	/* part of kernel launches: its speed scales with the CPU clock */
	/* part of the data loader: its speed scales with CPU clock, cores and EMC clock */
	JETWATT_SHARE_LOADER,
	JETWATT_SHARE_FIXED,	/* scales with no clock */
	JETWATT_SHARES,
};

/**
 * jetwatt_model_shares() - divide the time of a mode among its parts
 * @m: the model
 * @mode: the mode
 * @share: JETWATT_SHARES entries, which add up to 1; each is the growth of the time, in percent, if
 *	the work of its part grows by 1 %
 *
 * Only the parametric mean of the time is divided among the parts; the Gaussian process that is
 * added to the mean has no parts.
 *
 * Return: 0; -EINVAL if a required knob of @mode is 0.
 */
int jetwatt_model_shares(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			 double *share);

/* Return: the number of rows that @m was fitted to. */
size_t jetwatt_model_rows(const struct jetwatt_model *m);

#endif
