/* SPDX-License-Identifier: GPL-2.0-only */
/* The database's inside: one connection, and SQLite's refusals as ours. */
#ifndef JETWATT_DB_PRIVATE_H
#define JETWATT_DB_PRIVATE_H

#include <linux/capability.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "store/db.h"

#define JETWATT_DB_GROUPS	64

/**
 * struct jetwatt_db_owner - the user with whose rights root uses a database
 * @uid: 0: this process's own rights
 * @gid: the user's group, never 0
 */
struct jetwatt_db_owner {
	uid_t uid;
	gid_t gid;
	char name[64];
};

/* The rights that a thread of root had before. */
struct jetwatt_db_rights {
	bool taken;
	gid_t gid, group[JETWATT_DB_GROUPS];
	int groups;
	struct __user_cap_data_struct cap[2];
};

struct jetwatt_db {
	sqlite3 *sql;
	char path[256];
	struct jetwatt_db_owner owner;
};

/* db_owner.c: for root, find the user whose rights suffice. Return: 0; -EPERM: several users
 * may write the directory, @err has why and fix; other negative errno. */
int jetwatt_db_owner_find(const char *path, struct jetwatt_db_owner *o,
			  struct jetwatt_error_text *err);
/* Take on these rights until jetwatt_db_leave(). Return: 0; negative errno. */
int jetwatt_db_enter(const struct jetwatt_db_owner *o, struct jetwatt_db_rights *was);
void jetwatt_db_leave(struct jetwatt_db_rights *was);
struct jetwatt_db_rights jetwatt_db_again(const struct jetwatt_db *db);

/* In every function that calls SQLite for a caller: until it returns, the thread has the
 * owner's rights. SQLite opens, makes and deletes files in any of them. */
#define JETWATT_DB_AS_OWNER(db)							\
	struct jetwatt_db_rights rights __attribute__((cleanup(jetwatt_db_leave), unused)) =	\
		jetwatt_db_again(db)

/* SQLite has refused: @err gets what it was about, why and what to do. @rc: its
 * result code. Return: a negative errno. */
int jetwatt_db_refused(struct jetwatt_db *db, int rc, struct jetwatt_error_text *err,
		       const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Run statements that give no rows. Return: SQLite's result code. */
int jetwatt_db_run(struct jetwatt_db *db, const char *sql);

/* A whole transaction that no other writer can come between; ended by
 * jetwatt_db_end(), which rolls back if @rc is not SQLITE_OK. Return: result codes. */
int jetwatt_db_begin(struct jetwatt_db *db);
int jetwatt_db_end(struct jetwatt_db *db, int rc);

/* db_rows.c: what jetwatt_db_read_row() reads, of a measurement m. */
#define JETWATT_DB_KNOB(ID, type, member, key, label, tag, hz, optional) " m." #member ","
#define JETWATT_DB_ROW \
	JETWATT_KNOB_ROWS(JETWATT_DB_KNOB) " m.time_ms, m.power_w, m.time_sd, m.power_sd," \
	" m.minibatches, m.span_s, m.settled, m.lost, m.when_ms, m.key"
void jetwatt_db_read_row(sqlite3_stmt *s, struct jetwatt_db_row *r);
#define JETWATT_DB_ROW_COLUMNS	(JETWATT_KNOBS + 10)
/* All that a statement gives and that can be a measurement, with its source if there is a
 * column behind JETWATT_DB_ROW; caller frees. Return: SQLite's result code. */
int jetwatt_db_gather(sqlite3_stmt *s, struct jetwatt_db_row **out, size_t *n);
/* Finite, positive, and small enough for SQLite. */
bool jetwatt_db_storable(const struct jetwatt_db_row *r);
/* Storable rows of a device, "": this one, within a transaction of the caller's.
 * @fresh: grows by those that were new. Return: SQLite's result code. */
int jetwatt_db_insert(struct jetwatt_db *db, int64_t id, const char *device,
		      const struct jetwatt_db_row *row, size_t n, int *fresh);

/* db_profiles.c: a text of a result, however long. */
void jetwatt_db_text(sqlite3_stmt *s, int column, char *buf, size_t len);

/* db_schema.c: a new database gets its schema, an older one what is missing.
 * @write: else only look. Return: 0, negative errno. */
int jetwatt_db_schema(struct jetwatt_db *db, bool write, struct jetwatt_error_text *err);

#endif
