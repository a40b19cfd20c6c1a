/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measured modes of one or two workloads, from files: only modes that each file has at all minibatch
 * sizes of that file; of several rows of a mode, their mean. Used by jetwatt eval and jetwatt schedule.
 */
#ifndef JETWATT_TUNE_MODE_TABLE_H
#define JETWATT_TUNE_MODE_TABLE_H

#include "model/estimator.h"
#include "plan/observations.h"
#include "plan/slice.h"

/* Largest number of files in @reference. */
#define JETWATT_MODE_TABLE_REFERENCES	16

/**
 * struct jetwatt_mode_table_work - a workload, measured in all modes
 * @path: path of the CSV file
 * @size: minibatch sizes of the workload, ascending; training has one
 * @sizes: number of sizes
 * @time_ms: times of a minibatch in ms: for each minibatch size the times of all modes
 * @power_w: powers in W: for each minibatch size the powers of all modes
 * @clean_w: powers in W, in the order of @power_w, but NAN if the row is an outlier
 * @by: predictor and prior
 */
struct jetwatt_mode_table_work {
	const char *path;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
	double *time_ms, *power_w, *clean_w;
	const struct jetwatt_estimator *by;
};

/**
 * struct jetwatt_mode_table - the workloads that share a board
 * @train: file of the training workload; NULL: none
 * @infer: files of the inference workloads
 * @reference: files of references; jetwatt_mode_table_load() removes those of another kind of board
 * @references: number of references
 * @kind: kind of plan: the workloads that share the board
 * @seed: seed of learning from the references
 * @mode: modes that all files have
 * @n: number of modes
 * @method: predictor; NULL: the default
 * @by: predictor and prior, for training (0) and for inference (1)
 * @work: the workloads
 */
struct jetwatt_mode_table {
	const char *train, *infer[JETWATT_OBSERVED_WORKS];
	const char *reference[JETWATT_MODE_TABLE_REFERENCES];
	size_t references;
	enum jetwatt_slice_kind kind;
	uint64_t seed;
	struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_predictor *method;
	struct jetwatt_estimator by[2];
	struct jetwatt_mode_table_work work[JETWATT_OBSERVED_WORKS];
};

/* Read the files that @t names, and learn the priors from the references. Return: 0; exit code,
 * after printing the error. */
int jetwatt_mode_table_load(struct jetwatt_mode_table *t);
/* Free the contents of @t. */
void jetwatt_mode_table_free(struct jetwatt_mode_table *t);

#endif
