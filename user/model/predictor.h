/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of predictors: every method that predicts time and power of all modes
 * from a few measured ones, behind one set of operations. A new method is a file
 * that defines struct jetwatt_predictor jetwatt_predictor_NAME, and a row in
 * JETWATT_PREDICTORS. Callers outside of user/model use estimator.h.
 */
#ifndef JETWATT_PREDICTOR_H
#define JETWATT_PREDICTOR_H

#include "model/model.h"

/* The table. The default comes first. */
#define JETWATT_PREDICTORS(row)	\
	row(auto)		\
	row(powertrain)		\
	row(nn)			\
	row(linreg)		\
	row(trees)		\
	row(rnd)		\
	row(maxn)

/**
 * struct jetwatt_corpus - rows of one workload on one board
 * @batch: of an inference workload, @n entries, as in the rows; NULL: not a feature
 */
struct jetwatt_corpus {
	const struct jetwatt_row *row;
	const uint32_t *batch;
	size_t n;
};

/**
 * struct jetwatt_predictor_input - what a fit may use
 * @sample: what was measured of the new workload, in any order
 * @most: the highest step of each knob of its board
 * @prior: what the method made of the references, NULL: nothing
 * @few: rows that are enough, evenly chosen among @sample; 0: use all of them. A
 *	method whose cost grows slowly with the number of rows may ignore it
 */
struct jetwatt_predictor_input {
	struct jetwatt_corpus sample;
	struct jetwatt_mode most;
	const void *prior;
	uint64_t seed;
	size_t few;
};

/**
 * enum jetwatt_predictor_kind - what a method can do
 * @JETWATT_PREDICTOR_REFERENCE: learns from whole other workloads, and must
 * @JETWATT_PREDICTOR_BATCH: takes the batch size as a feature
 * @JETWATT_PREDICTOR_INTERVAL: predicts spreads, which are meant to cover
 * @JETWATT_PREDICTOR_OBSERVED: predicts nothing, knows what was measured
 * @JETWATT_PREDICTOR_FIXED: measures nothing, has one answer
 * @JETWATT_PREDICTOR_OWN_MODES: says itself which modes to measure
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
 * struct jetwatt_predictor_modes - modes with the times predicted for them
 */
struct jetwatt_predictor_modes {
	const struct jetwatt_mode *mode;
	const double *time_ms;
	size_t n;
};

/**
 * struct jetwatt_predictor - one method
 * @name: as on the command line
 * @does: one line about it
 * @kind: enum jetwatt_predictor_kind
 * @least: rows that an answer needs where there is no prior
 * @prior: from @n >= 1 references; NULL: it learns nothing from them
 * @fit: to one row or more, or to none where @foresees or @foretells says yes; NULL with JETWATT_PREDICTOR_OBSERVED and _FIXED, as are
 *	the next two
 * @predict: @batch may be NULL; @out: @n entries, spreads 0 without
 *	JETWATT_PREDICTOR_INTERVAL
 *
 * The others are optional; what is done where they are NULL:
 * @twin: the same workload on other boards of this kind becomes part of *@prior,
 *	which may be NULL; else such rows are not used
 * @foretells: does @prior know the workload from there, and do @n own rows not
 *	contradict? else no
 * @foresees: does @prior say enough of modes from @lo to @hi, knob by knob, for a fit
 *	to no rows? else no
 * @foreseen: what other workloads say is such a share of @model, 0 to 1; else 0
 * @refit: @from through other rows, for less than a fit; else a fit
 * @outline: medians of @n modes, roughly, for less than a prediction; else a prediction
 * @reduce: add to @gain (@c->n entries) by how much the sum of the variances over
 *	@r falls if a mode of @c is measured with the standard error @sd; else a
 *	general estimate, from predictions alone (plan/explore.c)
 * @shares: jetwatt_model_shares(); else the time has no parts
 * @seen: modes of the rows that @model rests on, and how many; else of all rows
 * @save, @load: jetwatt_model_save(), jetwatt_model_load(); else it cannot be saved.
 *	With @load, @seen is needed
 *
 * Functions return 0 or: -EINVAL: a row that is not finite and positive;
 * -ENODATA: too few rows; -EDOM: training did not converge; -ENOTSUP: rows of
 * several batch sizes with references of one, or the reverse; -ENOMEM.
 */
struct jetwatt_predictor {
	const char *name, *does;
	unsigned int kind;
	size_t least;
	int (*prior)(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed);
	void (*prior_free)(void *prior);
	int (*fit)(void **model, const struct jetwatt_predictor_input *in);
	int (*predict)(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
		       size_t n, struct jetwatt_prediction *out);
	void (*free)(void *model);

	int (*twin)(void **prior, const struct jetwatt_row *row, size_t n, uint64_t seed);
	int (*foretells)(const void *prior, const struct jetwatt_row *row, size_t n);
	int (*foresees)(const void *prior, const struct jetwatt_mode *lo,
			const struct jetwatt_mode *hi);
	double (*foreseen)(const void *model);
	int (*refit)(void **model, const void *from, const struct jetwatt_row *row, size_t n);
	int (*outline)(const void *model, const struct jetwatt_mode *mode, size_t n,
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

/* Return: row @i of the table, NULL: there are no more. */
const struct jetwatt_predictor *jetwatt_predictor_at(size_t i);
/* Return: NULL: no such method. */
const struct jetwatt_predictor *jetwatt_predictor_find(const char *name);

/* The highest step of each knob. */
struct jetwatt_mode jetwatt_predictor_most(const struct jetwatt_row *row, size_t n);

#endif
