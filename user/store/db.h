/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile database: every mode that was ever measured, by workload. SQLite
 * in WAL mode: readers go on while one process writes, and what was committed
 * is on the disk when the call returns, whatever happens to the power.
 * pandas, DuckDB and Grafana read it through the view "profile".
 */
#ifndef JETWATT_DB_H
#define JETWATT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "store/workload.h"
#include "util/error.h"

#define JETWATT_DB_VERSION	3	/* of the schema: PRAGMA user_version */
#define JETWATT_DB_PATH		"/var/lib/jetwatt/profiles/profiles.db"

struct jetwatt_db;

/**
 * struct jetwatt_db_row - one measurement of a mode
 * @row: mode, time, power and their relative standard errors
 * @minibatches, @span_s: what it rests on; 0: not known (it came from a file)
 * @settled: power had settled before
 * @lost: power samples that were missing
 * @when_ms: since 1970, 0: not known
 * @key: its content as a hash: the same row, stored twice, is one. Written by
 *	the database, ignored when a row is added.
 * @source: the same for all rows of one device, where rows of several are read
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
 * struct jetwatt_db_profile - a workload and how much is known of it
 * @id: of the workload in this database; @key: everywhere
 * @modes: different ones; @rows: measurements, both of this device alone
 * @pooled: measurements of other devices, which jetwatt sync has brought
 * @first_ms, @last_ms: when, 0: not known
 */
struct jetwatt_db_profile {
	int64_t id;
	char key[JETWATT_WORKLOAD_KEY];
	struct jetwatt_workload workload;
	uint64_t modes, rows, pooled;
	int64_t first_ms, last_ms;
};

/**
 * jetwatt_db_open() - open the database, and make or update it if @write
 * @path: NULL: JETWATT_DB_PATH
 * @write: make the directory and the file if they are not there and bring an
 *	older schema up to date; else nothing is changed
 *
 * Return: 0; -ENOENT: not there, and not @write; -EPERM; -EBADMSG: not a database of
 * ours, or damaged; -EPROTO: its schema is newer than ours, or older and not
 * @write; -ENOSPC; -EBUSY; -EROFS; other negative errno. @err has words for all.
 */
int jetwatt_db_open(struct jetwatt_db **db, const char *path, bool write,
		    struct jetwatt_error_text *err);
void jetwatt_db_close(struct jetwatt_db *db);

/* The id of a workload, stored if it is new. Return: 0; as jetwatt_db_open(). */
int jetwatt_db_workload(struct jetwatt_db *db, const struct jetwatt_workload *w, int64_t *id,
			struct jetwatt_error_text *err);

/* Find a workload by the beginning of its key. Return: 0; -ENOENT: none has
 * such a key; -ENOTUNIQ: several have; as jetwatt_db_open(). */
int jetwatt_db_find(struct jetwatt_db *db, const char *key, struct jetwatt_db_profile *p,
		    struct jetwatt_error_text *err);

/* Add rows, all or none; those that are there already change nothing.
 * Return: how many were new; -EINVAL: a row that is not finite and positive;
 * as jetwatt_db_open(). */
int jetwatt_db_add(struct jetwatt_db *db, int64_t id, const struct jetwatt_db_row *row, size_t n,
		   struct jetwatt_error_text *err);

/* All rows of a workload that this device measured, in the order in which they were kept; those
 * whose time is not known (imported from a file) first. Caller frees. Return: how many; negative
 * errno. */
int jetwatt_db_rows(struct jetwatt_db *db, int64_t id, struct jetwatt_db_row **row,
		    struct jetwatt_error_text *err);

/* All workloads, the one of the row that was kept last first; caller frees. Return: how many; negative errno. */
int jetwatt_db_profiles(struct jetwatt_db *db, struct jetwatt_db_profile **p,
			struct jetwatt_error_text *err);

/* Is every page of it sound? Return: 0; -EBADMSG; as jetwatt_db_open(). */
int jetwatt_db_check(struct jetwatt_db *db, struct jetwatt_error_text *err);

#endif
