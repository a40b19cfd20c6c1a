/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of predictors: methods that predict time and power of all modes from a few measured
 * ones, with one set of operations, and baselines without a model. A new method is a file that
 * defines struct jetwatt_predictor jetwatt_predictor_NAME, and a row in JETWATT_MODEL_PREDICTORS.
 * estimator.h is the interface for other directories; user/plan/ and jetwatt eval also call some
 * operations directly.
 */
#ifndef JETWATT_PREDICTOR_H
#define JETWATT_PREDICTOR_H

#include "model/model.h"

/* Names of the predictors that fit a model; the first one is the default. */
#define JETWATT_MODEL_PREDICTORS(row)	\
	row(auto)			\
	row(powertrain)			\
	row(nn)				\
	row(linreg)			\
	row(trees)
/* Names of all predictors. */
#define JETWATT_PREDICTORS(row)	JETWATT_MODEL_PREDICTORS(row) row(rnd) row(maxn)

/**
 * struct jetwatt_corpus - rows of one workload on one board
 * @row: the rows
 * @batch: minibatch size of each row, as in the rows; NULL: the size is not a feature
 * @n: number of rows
 */
struct jetwatt_corpus {
	const struct jetwatt_row *row;
	const uint32_t *batch;
	size_t n;
};

/**
 * struct jetwatt_predictor_input - what a fit may use
 * @sample: measured rows of the new workload, in any order
 * @highest: highest level of each knob of the board of the rows
 * @prior: what the predictor has learned from references and rows of other devices; NULL: nothing
 * @seed: seed of all random choices
 * @max_rows: largest number of rows to use, an evenly spread selection of @sample; 0: the method's
 *	own limit. A method whose cost grows slowly with the number of rows may ignore @max_rows
 * @particles: as in struct jetwatt_estimator
 */
struct jetwatt_predictor_input {
	struct jetwatt_corpus sample;
	struct jetwatt_mode highest;
	const void *prior;
	uint64_t seed;
	size_t max_rows;
	int particles;
};

/**
 * enum jetwatt_predictor_kind - properties of a method
 * @JETWATT_PREDICTOR_REFERENCE: the predictor needs references, which are completely measured other
 *	workloads
 * @JETWATT_PREDICTOR_BATCH: can use the minibatch size as a feature
 * @JETWATT_PREDICTOR_INTERVAL: predicts standard deviations
 * @JETWATT_PREDICTOR_OBSERVED: the predictor predicts nothing, but chooses among measured modes
 * @JETWATT_PREDICTOR_FIXED: the predictor measures nothing and always gives the same answer
 * @JETWATT_PREDICTOR_OWN_MODES: jetwatt eval gives it the four modes of linreg
 * @JETWATT_PREDICTOR_SLOW: a fit takes a second of CPU time or more
 */
enum jetwatt_predictor_kind {
	JETWATT_PREDICTOR_REFERENCE = 1,
	JETWATT_PREDICTOR_BATCH = 2,
	JETWATT_PREDICTOR_INTERVAL = 4,
	JETWATT_PREDICTOR_OBSERVED = 8,
	JETWATT_PREDICTOR_FIXED = 16,
	JETWATT_PREDICTOR_OWN_MODES = 32,
	JETWATT_PREDICTOR_SLOW = 64,
};

/**
 * struct jetwatt_predictor_modes - modes and their predicted times
 * @mode: the modes
 * @time_ms: predicted time of a minibatch in each mode, in milliseconds
 * @n: number of modes
 */
struct jetwatt_predictor_modes {
	const struct jetwatt_mode *mode;
	const double *time_ms;
	size_t n;
};

/**
 * struct jetwatt_predictor - one method
 * @name: name of the predictor on the command line
 * @does: description of the predictor in a few words, lower case
 * @kind: bits of enum jetwatt_predictor_kind
 * @min_rows: smallest number of rows for an answer without a prior
 * @prior: learn from @n >= 1 references; NULL: the predictor learns nothing from references
 * @prior_free: free what @prior or @add_cross_device has allocated
 * @fit: fit to one or more rows, or to none if @references_cover or @cross_device_agrees returns 1; NULL for
 *	JETWATT_PREDICTOR_OBSERVED and JETWATT_PREDICTOR_FIXED, as are @predict and @free
 * @predict: predict @n modes. @batch may be NULL; the standard deviations of @out, which are those
 *	of log time and log power, are 0 without JETWATT_PREDICTOR_INTERVAL
 * @free: free a model
 * @add_cross_device: set the rows of the same workload from other devices in the prior *@prior, which
 *	may be NULL; earlier such rows are discarded
 * @cross_device_agrees: return 1 if @prior has rows of the same workload from other devices and the
 *	@n rows of this board agree with them; else 0
 * @references_cover: return 1 if the references in @prior cover the modes from @lo to @hi of every knob, so
 *	that a fit to no rows is possible
 * @reference_weight: return the weight of the references' prediction in @model, 0 to 1
 * @refit: warm-start fit to other rows, starting from @from
 * @predict_mean: predict approximate medians of @n modes, at less cost than @predict
 * @reduce: add to @gain (@c->n entries) the reduction of the summed variance over @r, if a mode of
 *	@c is measured with standard error @sd
 * @shares: as jetwatt_model_shares()
 * @seen: set @seen to the modes of the rows that @model was fitted to, and return the number of
 *	modes
 * @save: as jetwatt_model_save()
 * @load: as jetwatt_model_load(); needs @seen
 *
 * @add_cross_device and all operations after it may be NULL. The effect of NULL is:
 * - @add_cross_device: rows of other devices are not used;
 * - @cross_device_agrees, @references_cover, @reference_weight: the result is 0;
 * - @refit: a full fit is done; @predict_mean: @predict is used;
 * - @reduce: the reduction is estimated from the predicted variances (plan/explore.c);
 * - @shares: the time is not divided into parts;
 * - @seen: the model counts as fitted to the modes of all rows;
 * - @save, @load: models cannot be saved or loaded.
 *
 * The other operations return 0 or: -EINVAL if a row is not finite and positive or a required knob
 * is 0, -ENODATA for too few rows, -EDOM or (linreg) -EINVAL if the numbers admit no fit, -ENOTSUP
 * if the rows have minibatch sizes and the references have none, or the reverse, -ENOMEM.
 */
struct jetwatt_predictor {
	const char *name, *does;
	unsigned int kind;
	size_t min_rows;
	int (*prior)(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed);
	void (*prior_free)(void *prior);
	int (*fit)(void **model, const struct jetwatt_predictor_input *in);
	int (*predict)(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
		       size_t n, struct jetwatt_prediction *out);
	void (*free)(void *model);

	int (*add_cross_device)(void **prior, const struct jetwatt_row *row, size_t n,
				uint64_t seed);
	int (*cross_device_agrees)(const void *prior, const struct jetwatt_row *row, size_t n);
	int (*references_cover)(const void *prior, const struct jetwatt_mode *lo,
			const struct jetwatt_mode *hi);
	double (*reference_weight)(const void *model);
	int (*refit)(void **model, const void *from, const struct jetwatt_row *row, size_t n);
	int (*predict_mean)(const void *model, const struct jetwatt_mode *mode, size_t n,
			    double *time_ms, double *power_w);
	int (*reduce)(const void *model, const struct jetwatt_predictor_modes *c,
		      const struct jetwatt_predictor_modes *r, double sd, double *gain);
	int (*shares)(const void *model, const struct jetwatt_mode *mode, double *share);
	size_t (*seen)(const void *model, const struct jetwatt_seen_mode **seen);
	int (*save)(const void *model, unsigned char **out, size_t *len);
	int (*load)(void **model, const unsigned char *in, size_t len);
};

#define JETWATT_PREDICTOR_DECLARE(name)	\
	extern const struct jetwatt_predictor jetwatt_predictor_##name;
JETWATT_PREDICTORS(JETWATT_PREDICTOR_DECLARE)

/* Return: predictor @i of the table; NULL if @i is past the end of the table. */
const struct jetwatt_predictor *jetwatt_predictor_at(size_t i);
/* Return: the predictor with the given name; NULL if no predictor has this name. */
const struct jetwatt_predictor *jetwatt_predictor_find(const char *name);

/* Return: a mode with the highest level of each knob in @n rows. */
struct jetwatt_mode jetwatt_predictor_highest(const struct jetwatt_row *row, size_t n);

#endif
