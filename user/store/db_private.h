/* SPDX-License-Identifier: GPL-2.0-only */
/* The database's inside: one connection, and SQLite's refusals as ours. */
#ifndef JETWATT_DB_PRIVATE_H
#define JETWATT_DB_PRIVATE_H

#include <sqlite3.h>

#include "store/db.h"

struct jetwatt_db {
	sqlite3 *sql;
	char path[256];
};

/* SQLite has refused: @err gets what it was about, why and what to do. @rc: its
 * result code. Return: a negative errno. */
int jetwatt_db_refused(struct jetwatt_db *db, int rc, struct jetwatt_db_error *err,
		       const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Run statements that give no rows. Return: SQLite's result code. */
int jetwatt_db_run(struct jetwatt_db *db, const char *sql);

/* A whole transaction that no other writer can come between; ended by
 * jetwatt_db_end(), which rolls back if @rc is not SQLITE_OK. Return: result codes. */
int jetwatt_db_begin(struct jetwatt_db *db);
int jetwatt_db_end(struct jetwatt_db *db, int rc);

/* db_schema.c: a new database gets its schema, an older one what is missing.
 * @write: else only look. Return: 0, negative errno. */
int jetwatt_db_schema(struct jetwatt_db *db, bool write, struct jetwatt_db_error *err);

#endif
