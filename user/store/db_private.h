/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of the profile database (db*.c, pool.c): the connection, the user whose rights
 * root uses for it, and the translation of SQLite's result codes. */
#ifndef JETWATT_DB_PRIVATE_H
#define JETWATT_DB_PRIVATE_H

#include <linux/capability.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "store/db.h"

/* The advice to use another file, for the fix in a message. */
#define JETWATT_DB_OTHER	"use another file (--db, JETWATT_DB or the setting db)"
/* The advice to measure, if there is nothing to read. */
#define JETWATT_DB_MEASURE	"run jetwatt profile -p PID, or jetwatt import FILE.csv"
/* Longest wait for the lock of the database, in ms. A writer holds it for one transaction, so a
 * longer wait means that the process that holds the lock hangs. The text for SQLITE_BUSY in db.c
 * states this time. */
#define JETWATT_DB_BUSY_MS	10000
/* Maximum number of supplementary groups of the calling process. */
#define JETWATT_DB_GROUPS	64

/**
 * struct jetwatt_db_owner - the user whose rights root uses for a database (db_owner.c says why)
 * @uid: id of that user; 0: the process keeps its own rights
 * @gid: group of that user, not 0; 0 if @uid is 0
 * @name: name of that user, or the user id as text if the user has no name
 */
struct jetwatt_db_owner {
	uid_t uid;
	gid_t gid;
	char name[64];
};

/**
 * struct jetwatt_db_rights - rights of a thread of root, to be restored by
 * jetwatt_db_restore_rights()
 * @taken: the thread has taken on other rights
 * @gid, @group, @groups: file system group and supplementary groups
 * @cap: capabilities
 */
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

/* db_owner.c: find the user whose rights root is to use for the file @path. Return: 0; -EPERM:
 * several users may write a directory in the path, and @err receives why and fix; other negative
 * errno. */
int jetwatt_db_owner_find(const char *path, struct jetwatt_db_owner *o,
			  struct jetwatt_error_text *err);
/* Take on the rights of @o in this thread; save the previous ones in @was. Return: 0; negative
 * errno. */
int jetwatt_db_take_rights(const struct jetwatt_db_owner *o, struct jetwatt_db_rights *was);
/* Restore the rights of this thread that are stored in @was. */
void jetwatt_db_restore_rights(struct jetwatt_db_rights *was);
/* Take on the rights of the owner of an open database. Return: the previous rights. */
struct jetwatt_db_rights jetwatt_db_become_owner(const struct jetwatt_db *db);

/* Used in the functions of db.h and pool.h that call SQLite (jetwatt_db_open() takes on the rights
 * itself): the thread has the rights of the owner until the function returns. SQLite may open, create
 * and delete files in any call. */
#define JETWATT_DB_AS_OWNER(db)							\
	struct jetwatt_db_rights rights __attribute__((cleanup(jetwatt_db_restore_rights), unused)) =	\
		jetwatt_db_become_owner(db)

/* db.c */
/* Translate SQLite's result code @rc, and set @err: what failed (the format @what), why, and a fix.
 * Return: a negative errno. */
int jetwatt_db_refused(struct jetwatt_db *db, int rc, struct jetwatt_error_text *err,
		       const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Set the reason and the fix of @err for the errno @code (positive), with which an access to the
 * database of the owner @o failed. Return: a negative errno. */
int jetwatt_db_refused_by_errno(int code, const struct jetwatt_db_owner *o,
				struct jetwatt_error_text *err);

/* Run statements, and ignore their rows. Return: SQLite's result code. */
int jetwatt_db_run(struct jetwatt_db *db, const char *sql);

/* Set WAL mode, a property that is stored in the file: only for a database of jetwatt, which
 * jetwatt_db_schema() checks first. Return: SQLite's result code. */
int jetwatt_db_set_wal(struct jetwatt_db *db);

/* Begin a transaction that excludes other writers. jetwatt_db_end() commits it, or rolls it back if
 * @rc is not SQLITE_OK or the commit fails. Return: SQLite's result code. */
int jetwatt_db_begin(struct jetwatt_db *db);
int jetwatt_db_end(struct jetwatt_db *db, int rc);

/* db_rows.c: columns of a measurement m, in the order that jetwatt_db_read_row() expects. */
#define JETWATT_DB_KNOB(ID, type, member, key, label, tag, hz, optional, text) " m." #member ","
#define JETWATT_DB_ROW \
	JETWATT_KNOB_ROWS(JETWATT_DB_KNOB) " m.time_ms, m.power_w, m.time_sd, m.power_sd," \
	" m.minibatches, m.span_s, m.settled, m.lost, m.when_ms, m.key"
void jetwatt_db_read_row(sqlite3_stmt *s, struct jetwatt_db_row *r);
#define JETWATT_DB_ROW_COLUMNS	(JETWATT_KNOBS + 10)
/* Run a statement that selects JETWATT_DB_ROW, and optionally the source of the row as one more
 * column. Rows that jetwatt_db_storable() refuses are skipped. The caller frees *out. Return:
 * SQLite's result code. */
int jetwatt_db_gather(sqlite3_stmt *s, struct jetwatt_db_row **out, size_t *n);
/* Check that all values of a measurement are finite and in range, and fit into SQLite's
 * integers. */
bool jetwatt_db_storable(const struct jetwatt_db_row *r);
/* Add storable rows within a transaction of the caller. @device: device that measured the rows,
 * "": this device. *@fresh: increased by the number of new rows. Return: SQLite's result code. */
int jetwatt_db_insert(struct jetwatt_db *db, int64_t id, const char *device,
		      const struct jetwatt_db_row *row, size_t n, int *fresh);

/* db_profiles.c: copy a text column of a result to @buf, truncated to @len - 1 bytes */
void jetwatt_db_text(sqlite3_stmt *s, int column, char *buf, size_t len);

/* db_schema.c: create the schema of a new database, or update an older one. @write: false: only
 * check the schema; a temporary view then has the missing columns. Return: 0; negative errno. */
int jetwatt_db_schema(struct jetwatt_db *db, bool write, struct jetwatt_error_text *err);

#endif
