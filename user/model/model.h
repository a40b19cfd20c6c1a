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
 * @batch: items of a minibatch, where rows differ in that (0: no feature)
 */
struct jetwatt_row {
	struct jetwatt_mode mode;
	double time_ms, power_w;
	double time_sd, power_sd;
	uint32_t batch;
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

/* More rows than this say nothing new about a surface in four knobs that
 * would be worth the cube of their number. */
#define JETWATT_FIT_MAX	400

/* A mode in which a model's row was measured; @batch: 0: no feature. */
struct jetwatt_seen_mode {
	struct jetwatt_mode mode;
	uint32_t batch;
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

struct jetwatt_prior;

/**
 * struct jetwatt_reference - another workload, measured in many modes
 *
 * On this board or another one: other steps of the knobs are no matter.
 */
struct jetwatt_reference {
	const struct jetwatt_row *row;
	size_t n;
};

/**
 * jetwatt_prior_learn() - what @n workloads have in common with ones to come
 *
 * Return: 0; -EINVAL: a row that is not finite and positive; -ENODATA: a
 * reference without rows, or none; -ENOMEM.
 */
int jetwatt_prior_learn(struct jetwatt_prior **p, const struct jetwatt_reference *ref, size_t n,
			uint64_t seed);

/**
 * jetwatt_prior_twin() - what the same workload did on other boards of this kind
 * @p: gets it too; NULL: there were no references
 * @n: at least 3; one row a mode
 *
 * Where rows of a new board fit it, it stands in for those that were not measured.
 * Return: 0; as jetwatt_model_fit().
 */
int jetwatt_prior_twin(struct jetwatt_prior **p, const struct jetwatt_row *row, size_t n, uint64_t seed);
/* Does it know the workload from elsewhere, and do @n own rows not contradict? */
int jetwatt_prior_fits(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n);
void jetwatt_prior_free(struct jetwatt_prior *p);

/**
 * jetwatt_model_fit_prior() - jetwatt_model_fit() with references
 * @prior: NULL: none. Believed as far as it foretells the rows, against no
 *	reference.
 *
 * Return: as jetwatt_model_fit(), but with @prior one row is enough, and none with
 *	one that knows the workload from elsewhere or has references.
 */
int jetwatt_model_fit_prior(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
			    const struct jetwatt_prior *prior, uint64_t seed);

/* @out: n entries. Return: 0, -EINVAL: a mode with a knob at zero, -ENOMEM. */
int jetwatt_model_predict(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *out);
/* The same at batch sizes; @batch: n entries, NULL: no feature. */
int jetwatt_model_predict_batch(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
				const uint32_t *batch, size_t n, struct jetwatt_prediction *out);

/**
 * jetwatt_model_save() - a model as bytes, the same on every machine
 * @out: @len bytes, some 100 for each row; caller frees
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_model_save(const struct jetwatt_model *m, unsigned char **out, size_t *len);

/**
 * jetwatt_model_load() - the model that was saved; it predicts to the bit what
 * it did, where the arithmetic is the same
 *
 * Return: 0; -EINVAL: no model, or a damaged one; -EPROTONOSUPPORT: of another
 * version; -ENOMEM.
 */
int jetwatt_model_load(struct jetwatt_model **m, const unsigned char *in, size_t len);

/* What the time of a minibatch hangs on. */
enum jetwatt_share {
	JETWATT_SHARE_GPU,	/* arithmetic, with the GPU's clock */
	JETWATT_SHARE_EMC,	/* the network's traffic to memory */
	JETWATT_SHARE_LAUNCH,	/* launches, with the CPU's clock */
	JETWATT_SHARE_LOADER,	/* loading, with the CPU's clock, cores, and memory */
	JETWATT_SHARE_FIXED,	/* no clock at all */
	JETWATT_SHARES,
};

/**
 * jetwatt_model_shares() - how far the time in a mode hangs on each
 * @share: JETWATT_SHARES entries, which add up to 1: by how many percent the time
 *	grows if that part of the work grows by one
 *
 * By the model's form alone: what its process adds has no parts.
 * Return: 0, -EINVAL: a knob at zero.
 */
int jetwatt_model_shares(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			 double *share);

/* Rows that it rests on. */
size_t jetwatt_model_rows(const struct jetwatt_model *m);

#endif
