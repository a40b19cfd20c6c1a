/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping what is measured: which workload this is, its rows into the profile
 * database and out of it again.
 */
#ifndef JETWATT_TUNE_PROFILE_STORE_H
#define JETWATT_TUNE_PROFILE_STORE_H

#include "measure/mode.h"
#include "model/predictor.h"
#include "plan/slice.h"
#include "store/db.h"
#include "util/args.h"

/**
 * struct jetwatt_keep_args - options of all verbs that measure modes
 * @path: --db: NULL: as set elsewhere; "none": keep nothing
 * @reuse: begin with what is known of the same workload
 * @batch: 0: as the command line says
 * @size: all that were given, ascending, @sizes of them
 * @beside: who else works on the GPU, by the words of their jobs; NULL, empty: nobody
 */
struct jetwatt_keep_args {
	const char *path, *beside;
	int reuse;
	long batch;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
};

extern const struct argp jetwatt_keep_argp;
/* --db alone, for verbs that only read or write; its input is a const char *. */
extern const struct argp jetwatt_keep_db_argp;

/**
 * struct jetwatt_keep - an open database and the workload that runs
 * @db: NULL: nothing is kept
 * @must: it was asked for by name: not to be able to is a failure, not a note
 */
struct jetwatt_keep {
	struct jetwatt_db *db;
	int must;
	int64_t id;
	struct jetwatt_workload workload;
	char key[JETWATT_WORKLOAD_KEY];
};

/* Where profiles are: the option, else what is set, else the usual place. */
const char *jetwatt_keep_path(const char *option, char *buf, size_t len);

/* A refusal of the database, said. @err: what its function returned. Return: exit code. */
int jetwatt_keep_error(int err, const struct jetwatt_error_text *e);

/* Open the database, before a job is started. Return: 0, exit code. */
int jetwatt_keep_open(struct jetwatt_keep *k, const struct jetwatt_keep_args *args);

/* Say which workload it is, once it runs. Return: 0, exit code. */
int jetwatt_keep_workload(struct jetwatt_keep *k, const struct jetwatt_keep_args *args,
			  const struct jetwatt_board *board, const struct jetwatt_watch *w,
			  const struct jetwatt_args_job *job);

/* How many modes of a running process's workload are known. */
uint64_t jetwatt_keep_known(struct jetwatt_keep *k, const struct jetwatt_keep_args *args,
			    const struct jetwatt_board *board, const char *scope, pid_t pid);

/* The words of a running job, as the workload is known by them. */
void jetwatt_keep_command(pid_t pid, char *buf, size_t len);

/* All that is known of it; caller frees. Return: how many rows; exit code as -1 - code. */
int jetwatt_keep_rows(struct jetwatt_keep *k, struct jetwatt_db_row **row);

/* What other devices know of it (jetwatt_pool_prior()); caller frees. Return: as above. */
int jetwatt_keep_prior(struct jetwatt_keep *k, struct jetwatt_row **row);

/**
 * jetwatt_keep_others() - what this device knows of other workloads on a board like this one
 * @c: @max entries; caller frees the rows of each
 *
 * Those that were measured last, in six modes at least, with the same power in the
 * same state of the board. Return: how many; exit code as -1 - code.
 */
int jetwatt_keep_others(struct jetwatt_keep *k, struct jetwatt_corpus *c, size_t max);

/* One more mode, @lost: samples missing while it was measured. Return: 0, exit code. */
int jetwatt_keep_add(struct jetwatt_keep *k, const struct jetwatt_measure *m, uint64_t lost);

void jetwatt_keep_close(struct jetwatt_keep *k);

#endif
