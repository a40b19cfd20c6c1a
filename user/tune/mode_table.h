/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in which every mode of one or two workloads was measured, on the modes that all of
 * them have.
 */
#ifndef JETWATT_TUNE_MODE_TABLE_H
#define JETWATT_TUNE_MODE_TABLE_H

#include "model/estimator.h"
#include "plan/known.h"
#include "plan/slice.h"

#define JETWATT_MODE_TABLE_REFERENCES	16

/**
 * struct jetwatt_mode_table_work - a workload, measured in all modes
 * @size: its @sizes minibatch sizes, ascending; training has one
 * @time_ms, @power_w: size by size, all modes each
 * @clean_w: the same, NAN where the row is dirty
 * @by: the predictor, with what references say of such workloads
 */
struct jetwatt_mode_table_work {
	const char *path;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
	double *time_ms, *power_w, *clean_w;
	const struct jetwatt_estimator *by;
};

/**
 * struct jetwatt_mode_table - the workloads of one schedule
 * @train, @infer: files as given; @reference: @references others to learn from
 * @kind: which workloads there are; @seed: of what is learned from the references
 * @mode: @n modes, which all files have
 * @method: NULL: the default; @by: it, with what it has learned of training, and of inference
 */
struct jetwatt_mode_table {
	const char *train, *infer[JETWATT_KNOWN_WORKS];
	const char *reference[JETWATT_MODE_TABLE_REFERENCES];
	size_t references;
	enum jetwatt_slice_kind kind;
	uint64_t seed;
	struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_predictor *method;
	struct jetwatt_estimator by[2];
	struct jetwatt_mode_table_work work[JETWATT_KNOWN_WORKS];
};

/* Read the files that @t names. Return: 0, or an exit code after saying why. */
int jetwatt_mode_table_load(struct jetwatt_mode_table *t);
void jetwatt_mode_table_free(struct jetwatt_mode_table *t);

#endif
