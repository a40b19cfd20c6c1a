/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The option --reference FILE.csv: measured modes of other workloads, from which the predictor
 * learns a prior.
 */
#ifndef JETWATT_TUNE_CORPUS_H
#define JETWATT_TUNE_CORPUS_H

#include <argp.h>
#include "model/estimator.h"

/* Largest number of references. */
#define JETWATT_REFERENCES_MAX	16

/**
 * struct jetwatt_references - files given with --reference
 * @path: paths of the files, as given on the command line
 * @n: number of files
 */
struct jetwatt_references {
	const char *path[JETWATT_REFERENCES_MAX];
	size_t n;
};

struct jetwatt_csv_error;

/* Parser of the option --reference; the parser's input is a struct jetwatt_references. */
extern const struct argp jetwatt_references_argp;

/**
 * jetwatt_references_unreadable() - print why a file of modes or rows cannot be read
 * @path: the file
 * @err: return value of jetwatt_csv_read()
 * @e: position and cause
 *
 * Return: an exit code.
 */
int jetwatt_references_unreadable(const char *path, int err, const struct jetwatt_csv_error *e);

/**
 * jetwatt_references_read() - read a file in which every row has time and power
 * @path: the file
 * @row: set to the rows; the caller frees them, also after an error
 * @batch: set to the minibatch size of each row, NULL if all sizes are equal; the caller frees the
 *	array. May be NULL
 *
 * If the minibatch sizes differ, the size is a feature and is set in the rows too.
 *
 * Return: number of rows; negative exit code, after printing the error.
 */
long jetwatt_references_read(const char *path, struct jetwatt_row **row, uint32_t **batch);

/*
 * Check that the predictor can use @n references, or that it needs none if @n is 0. Return: 0; exit
 * code, after printing the error.
 */
int jetwatt_references_suit(const struct jetwatt_predictor *by, size_t n);

/*
 * Return: 1 if the @n rows @row are of another kind of board than the @modes candidates @mode: of the
 * GPU clocks in the range that both have, less than half are the same; else 0.
 */
int jetwatt_references_foreign(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode,
			       size_t modes);

/*
 * Check whether a search among the @modes candidates @mode leaves out a reference, because it is of
 * another kind of board. Few measured modes do not show how far such a reference misleads. A predictor
 * that is fine-tuned to the measured modes needs it nevertheless. Return: 1, after a notice that names
 * @path; else 0.
 */
int jetwatt_references_leave_out(const struct jetwatt_predictor *by, const char *path,
				 const struct jetwatt_row *row, size_t n,
				 const struct jetwatt_mode *mode, size_t modes);

/*
 * Learn the prior of @e from the files given with --reference; without files @e is unchanged.
 * @mode: the @modes candidates of a search, see jetwatt_references_leave_out(); NULL: there is no
 * search. Return: 0, exit code.
 */
int jetwatt_references_learn(const struct jetwatt_references *r, struct jetwatt_estimator *e,
			     const struct jetwatt_mode *mode, size_t modes, uint64_t seed);

#endif
