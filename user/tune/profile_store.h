/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stores measured rows in the profile database and reads them back: identifies the workload of the
 * job, adds rows, and finds rows of the same workload, here and elsewhere, and of other workloads.
 */
#ifndef JETWATT_TUNE_PROFILE_STORE_H
#define JETWATT_TUNE_PROFILE_STORE_H

#include "measure/mode.h"
#include "model/predictor.h"
#include "plan/slice.h"
#include "store/db.h"
#include "util/args.h"

/* Smallest number of modes of a reference: fewer modes do not cover the board. */
#define JETWATT_REFERENCE_MODES	6

/**
 * struct jetwatt_profile_store_args - options of the verbs that measure modes
 * @path: --db; NULL: as configured; "none": store nothing
 * @corunners: commands of other jobs on the GPU, part of the workload's identity; NULL or "": none
 * @reuse: 1: start from earlier rows of the same workload
 * @batch: minibatch size; 0: not given or several given, use that of the job's command line
 * @size: all minibatch sizes given with --batch, ascending
 * @sizes: number of sizes
 */
struct jetwatt_profile_store_args {
	const char *path, *corunners;
	int reuse;
	long batch;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
};

/* Parser of the options --db, --reuse and --batch; the parser's input is a struct
 * jetwatt_profile_store_args. */
extern const struct argp jetwatt_profile_store_argp;
/* Parser of the option --db alone; the parser's input is a const char *. */
extern const struct argp jetwatt_profile_store_db_argp;

/**
 * struct jetwatt_profile_store - an open database and the workload of the job
 * @db: the database; NULL: nothing is stored
 * @must: 1: the user asked for the database, so a failure ends the verb; 0: a failure is reported,
 *	and nothing more is stored
 * @id: number of the workload in the database
 * @workload: the workload
 * @key: key of the workload
 */
struct jetwatt_profile_store {
	struct jetwatt_db *db;
	int must;
	int64_t id;
	struct jetwatt_workload workload;
	char key[JETWATT_WORKLOAD_KEY];
};

/* Return: path of the database: that of --db, else of the variable JETWATT_DB, else of "db" in the
 * configuration, else the default. */
const char *jetwatt_profile_store_path(const char *option, char *buf, size_t len);

/* Print an error of the database. @err: error code that a database function returned. Return: exit
 * code. */
int jetwatt_profile_store_error(int err, const struct jetwatt_error_text *e);

/* Open the database; call before a job is started. Return: 0, exit code. */
int jetwatt_profile_store_open(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args);

/* Identify the workload of the running job. Return: 0, exit code. */
int jetwatt_profile_store_workload(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args,
			  const struct jetwatt_board *board, const struct jetwatt_session *w,
			  const struct jetwatt_args_job *job);

/* Use the calibration workload @name instead of the workload of a job. Return: 0, exit code. */
int jetwatt_profile_store_calibration(struct jetwatt_profile_store *k, const struct jetwatt_board *board,
				      const struct jetwatt_session *w, const char *name);

/* Delete this device's rows of the workload, except the @keep rows added last. Return: 0, exit
 * code. */
int jetwatt_profile_store_forget(struct jetwatt_profile_store *k, size_t keep);

/* Return: number of stored modes of the workload of process @pid; 0 if none are found. */
uint64_t jetwatt_profile_store_known(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args,
			    const struct jetwatt_board *board, const char *scope, pid_t pid);

/* Format the command of a running job in the form that identifies the workload. */
void jetwatt_profile_store_command(pid_t pid, char *buf, size_t len);

/* Read this device's rows of the workload in order of time; the caller frees them. @outdated: if not NULL, the rows
 * from before the last drift (plan/drift.h) are left out, and it is set to their number. Return: number of rows; on
 * an error, -1 minus the exit code. */
int jetwatt_profile_store_rows(struct jetwatt_profile_store *k, struct jetwatt_row **row, int *outdated);

/*
 * Read the medians of the workload's rows from other devices, releases and cgroups
 * (jetwatt_pool_read_prior()); the caller frees them. Return: as above.
 */
int jetwatt_profile_store_prior(struct jetwatt_profile_store *k, struct jetwatt_row **row);

/**
 * jetwatt_profile_store_others() - read rows of other workloads on this kind of board
 * @k: the database and the current workload
 * @c: array of @max workloads; the caller frees the rows of each workload
 * @max: largest number of workloads
 *
 * Selects the latest workloads with at least JETWATT_REFERENCE_MODES modes, measured with the same
 * software release, power rails and board settings. Calibration workloads follow after all others.
 *
 * Return: number of workloads; on an error, -1 minus the exit code.
 */
int jetwatt_profile_store_others(struct jetwatt_profile_store *k, struct jetwatt_corpus *c, size_t max);

/* Store a measured mode. @lost: samples lost during the measurement. Return: 0, exit code. */
int jetwatt_profile_store_add(struct jetwatt_profile_store *k, const struct jetwatt_measure *m, uint64_t lost);

/* Close the database. */
void jetwatt_profile_store_close(struct jetwatt_profile_store *k);

#endif
