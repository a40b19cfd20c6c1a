/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile database: all measurements of power modes, by workload. SQLite in WAL mode: readers
 * continue while one process writes. A committed transaction is on the disk when the call returns,
 * so the transaction survives a power failure. Other programs (pandas, DuckDB, Grafana) can read
 * the view "profile". Context: one thread at a time uses a struct jetwatt_db.
 */
#ifndef JETWATT_DB_H
#define JETWATT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "store/workload.h"
#include "util/error.h"

#define JETWATT_DB_VERSION	3	/* schema version: PRAGMA user_version */
#define JETWATT_DB_PATH		"/var/lib/jetwatt/profiles/profiles.db"

struct jetwatt_db;

/**
 * struct jetwatt_db_row - one measurement of a mode
 * @row: the mode, its time and power, and their relative standard errors
 * @minibatches, @span_s: number of minibatches and length in seconds of the measurement; 0: not
 *	known (the measurement was imported from a file)
 * @settled: the power had settled before the measurement began
 * @lost: number of power samples that were missing
 * @when_ms: time of the measurement, in ms since 1970; 0: not known
 * @key: hash of the content, so that a measurement that is added twice is stored once. The
 *	database sets the key; it is ignored when a row is added
 * @source: number of the row's device and workload, if rows of several are read; else 0
 */
struct jetwatt_db_row {
	struct jetwatt_row row;
	uint32_t minibatches;
	double span_s;
	bool settled;
	uint64_t lost;
	int64_t when_ms;
	char key[JETWATT_WORKLOAD_KEY];
	int64_t source;
};

/**
 * struct jetwatt_db_profile - a workload and the number of its measurements
 * @id: id of the workload in this database
 * @key: key of the workload, the same in all databases
 * @workload: the workload
 * @modes, @rows: number of different modes and of measurements, counted for this device only
 * @pooled: number of measurements of other devices, fetched by jetwatt-sync
 * @first_ms, @last_ms: time of the first and last measurement by any device, in ms since 1970; 0: not
 *	known; @first_ms is 0 also if the time of one measurement is not known
 */
struct jetwatt_db_profile {
	int64_t id;
	char key[JETWATT_WORKLOAD_KEY];
	struct jetwatt_workload workload;
	uint64_t modes, rows, pooled;
	int64_t first_ms, last_ms;
};

/**
 * jetwatt_db_open() - open the profile database
 * @db: gets the database; the caller closes it
 * @path: NULL: JETWATT_DB_PATH
 * @write: create the directory and the file if they are missing, and update an older schema;
 *	false: change nothing
 * @err: gets what failed, why and a fix, except for -ENOMEM; may be NULL
 *
 * Return: 0; -ENOENT: no such file, and @write is false; -EPERM; -EBADMSG: not a database of
 * jetwatt, or damaged; -EPROTO: the schema is newer than this jetwatt, or older and @write is
 * false; -ENOSPC; -EBUSY: another process has been writing for 10 s; -EROFS; other negative errno.
 */
int jetwatt_db_open(struct jetwatt_db **db, const char *path, bool write,
		    struct jetwatt_error_text *err);
void jetwatt_db_close(struct jetwatt_db *db);

/* Get the id of a workload; add the workload if it is new. Return: 0; errors as
 * jetwatt_db_open(). */
int jetwatt_db_workload(struct jetwatt_db *db, const struct jetwatt_workload *w, int64_t *id,
			struct jetwatt_error_text *err);

/* Find a workload by the first digits of its key. Return: 0; -ENOENT: no such key; -ENOTUNIQ:
 * several keys begin with these digits; other errors as jetwatt_db_open(). */
int jetwatt_db_find(struct jetwatt_db *db, const char *key, struct jetwatt_db_profile *p,
		    struct jetwatt_error_text *err);

/* Add rows, all or none. Rows that are in the database already are skipped. Return: number of new
 * rows; -EINVAL, without setting @err: a value of a row is not finite or out of range; other errors
 * as jetwatt_db_open(). */
int jetwatt_db_add(struct jetwatt_db *db, int64_t id, const struct jetwatt_db_row *row, size_t n,
		   struct jetwatt_error_text *err);

/* Delete the rows of a workload that this device measured, except the @keep rows added last.
 * Return: number of deleted rows; errors as jetwatt_db_open(). */
int jetwatt_db_forget(struct jetwatt_db *db, int64_t id, size_t keep, struct jetwatt_error_text *err);

/* Read the rows of a workload that this device measured, in the order in which they were added.
 * Rows without a time (imported from a file) come first; rows with invalid values are skipped. The
 * caller frees *row. Return: number of rows; negative errno. */
int jetwatt_db_rows(struct jetwatt_db *db, int64_t id, struct jetwatt_db_row **row,
		    struct jetwatt_error_text *err);

/* List all workloads, beginning with the one whose row was added last. The caller frees *p. Return:
 * number of workloads; negative errno. */
int jetwatt_db_profiles(struct jetwatt_db *db, struct jetwatt_db_profile **p,
			struct jetwatt_error_text *err);

/* Check the integrity of the database file. Return: 0; -EBADMSG: damaged; other errors as
 * jetwatt_db_open(). */
int jetwatt_db_check(struct jetwatt_db *db, struct jetwatt_error_text *err);

#endif
