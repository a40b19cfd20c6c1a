/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of measured modes, and --reference FILE.csv: other workloads to learn from.
 */
#ifndef JETWATT_TUNE_CORPUS_H
#define JETWATT_TUNE_CORPUS_H

#include <argp.h>
#include "model/estimator.h"

/* As many as anybody needs. */
#define JETWATT_REFERENCES_MAX	16

/**
 * struct jetwatt_references - the files, as given
 */
struct jetwatt_references {
	const char *path[JETWATT_REFERENCES_MAX];
	size_t n;
};

struct jetwatt_csv_error;

/* Its input is a struct jetwatt_references. */
extern const struct argp jetwatt_references_argp;

/**
 * jetwatt_references_unreadable() - say why a file of modes or profiles cannot be read
 * @err: what jetwatt_csv_read() returned, and @e: where
 *
 * Return: an exit code.
 */
int jetwatt_references_unreadable(const char *path, int err, const struct jetwatt_csv_error *e);

/**
 * jetwatt_references_read() - rows of a file, all of them with time and power
 * @batch: of each row, NULL where all are of one size: no feature. May be NULL
 *
 * Rows have their batch size too where it is a feature. Caller frees both.
 * Return: rows, or the negative of an exit code after saying why.
 */
long jetwatt_references_read(const char *path, struct jetwatt_row **row, uint32_t **batch);

/* Does the predictor go with @n references? Return: 0, or an exit code after saying why not. */
int jetwatt_references_suit(const struct jetwatt_predictor *by, size_t n);

/* What the files teach becomes @e's prior, which stays as it is if there are none. Return: 0,
 * exit code. */
int jetwatt_references_learn(const struct jetwatt_references *r, struct jetwatt_estimator *e,
			     uint64_t seed);

#endif
