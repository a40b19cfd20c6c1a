/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All ways to know a workload's modes from a few measured ones, under one
 * shape: ours, those of the papers, and the baselines.
 */
#ifndef JETWATT_METHOD_H
#define JETWATT_METHOD_H

#include "model/model.h"

/**
 * struct jetwatt_corpus - rows of one workload on one board
 * @batch: of an inference workload, @n entries; NULL: not a feature
 */
struct jetwatt_corpus {
	const struct jetwatt_row *row;
	const uint32_t *batch;
	size_t n;
};

/**
 * struct jetwatt_method_input - what a fit may use
 * @sample: what was measured of the new workload, in any order
 * @most: the highest step of each knob of its board
 * @prior: what the method made of the references, NULL: nothing
 */
struct jetwatt_method_input {
	struct jetwatt_corpus sample;
	struct jetwatt_mode most;
	const void *prior;
	uint64_t seed;
};

/**
 * enum jetwatt_method_kind - what a method can do
 * @JETWATT_METHOD_REFERENCE: learns from whole other workloads, and must
 * @JETWATT_METHOD_BATCH: takes the batch size as a feature
 * @JETWATT_METHOD_INTERVAL: its spreads are meant to cover
 * @JETWATT_METHOD_OBSERVED: predicts nothing, knows what was measured
 * @JETWATT_METHOD_FIXED: measures nothing, has one answer
 * @JETWATT_METHOD_OWN_MODES: says itself which modes to measure
 */
enum jetwatt_method_kind {
	JETWATT_METHOD_REFERENCE = 1,
	JETWATT_METHOD_BATCH = 2,
	JETWATT_METHOD_INTERVAL = 4,
	JETWATT_METHOD_OBSERVED = 8,
	JETWATT_METHOD_FIXED = 16,
	JETWATT_METHOD_OWN_MODES = 32,
};

/**
 * struct jetwatt_method - one of them
 * @name: as on the command line
 * @does: one line about it
 * @kind: enum jetwatt_method_kind
 * @prior: from @n >= 1 references; NULL: it learns nothing from them
 * @fit: NULL with JETWATT_METHOD_OBSERVED and _FIXED, as are the next two
 * @predict: @batch may be NULL; @out: @n entries, spreads 0 without
 *	JETWATT_METHOD_INTERVAL
 *
 * Functions return 0 or: -EINVAL: a row that is not finite and positive;
 * -ENODATA: too few rows; -EDOM: training did not converge; -ENOMEM.
 */
struct jetwatt_method {
	const char *name, *does;
	unsigned int kind;
	int (*prior)(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed);
	void (*prior_free)(void *prior);
	int (*fit)(void **model, const struct jetwatt_method_input *in);
	int (*predict)(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
		       size_t n, struct jetwatt_prediction *out);
	void (*free)(void *model);
};

/* The default comes first. @n: how many. */
const struct jetwatt_method *jetwatt_methods(size_t *n);
/* Return: NULL: no such method. */
const struct jetwatt_method *jetwatt_method_find(const char *name);

/* The highest step of each knob. */
struct jetwatt_mode jetwatt_method_most(const struct jetwatt_row *row, size_t n);

#endif
