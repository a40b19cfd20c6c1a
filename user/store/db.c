// SPDX-License-Identifier: GPL-2.0-only
/* Statements and transactions of the profile database, and the translation of SQLite's result codes
 * to errors with a reason and a fix. */
#include "store/db_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

struct refusal {
	int sqlite, rc;
	const char *why, *fix;
};

static const struct refusal refusals[] = {
	{ SQLITE_NOTADB, -EBADMSG, "the file is not an SQLite database",
	  JETWATT_DB_OTHER ", or move this file away" },
	{ SQLITE_CORRUPT, -EBADMSG, "the database is damaged",
	  "move the file away; sqlite3 FILE .recover extracts what can be read" },
	{ SQLITE_FULL, -ENOSPC, "no space left on the file system",
	  "free some space, or " JETWATT_DB_OTHER },
	{ SQLITE_BUSY, -EBUSY, "another process has been writing to the database for 10 s",
	  "wait for that process to end; lsof FILE shows it" },
	{ SQLITE_READONLY, -EROFS, "no write access to the file",
	  "run as root, or " JETWATT_DB_OTHER },
	{ SQLITE_PERM, -EPERM, "no permission", "run as root, or " JETWATT_DB_OTHER },
	{ SQLITE_NOMEM, -ENOMEM, "out of memory", "" },
	{ SQLITE_TOOBIG, -EINVAL, "a text is too long", "" },
};

/* Replace the fix in @err if root used the rights of the database's owner and these rights did not
 * suffice. */
static void set_owner_fix(const struct jetwatt_db_owner *o, struct jetwatt_error_text *err)
{
	if (o->uid)
		snprintf(err->fix, sizeof(err->fix),
			 "root opens it as the user %s, who owns a directory in its path: "
			 "chown -R %s its directory, or use another file",
			 o->name, o->name);
}

int jetwatt_db_refused_by_errno(int code, const struct jetwatt_db_owner *o,
				struct jetwatt_error_text *err)
{
	snprintf(err->why, sizeof(err->why), "%s", strerror(code));
	if (code == ENOSPC || code == EDQUOT || code == EFBIG)
		snprintf(err->fix, sizeof(err->fix),
			 "free some space, or " JETWATT_DB_OTHER);
	else if (code == EACCES || code == EPERM || code == EROFS)
		snprintf(err->fix, sizeof(err->fix), "run as root, or " JETWATT_DB_OTHER);
	else
		snprintf(err->fix, sizeof(err->fix), JETWATT_DB_OTHER);
	if (code == EACCES || code == EPERM)
		set_owner_fix(o, err);
	return code == EACCES ? -EPERM : -code;
}

int jetwatt_db_refused(struct jetwatt_db *db, int rc, struct jetwatt_error_text *err,
		       const char *what, ...)
{
	int code = db->sql ? sqlite3_system_errno(db->sql) : 0;
	struct jetwatt_error_text none;
	va_list ap;

	err = err ? err : &none;
	va_start(ap, what);
	vsnprintf(err->what, sizeof(err->what), what, ap);
	va_end(ap);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].sqlite == (rc & 0xff)) {
			snprintf(err->why, sizeof(err->why), "%s", refusals[i].why);
			snprintf(err->fix, sizeof(err->fix), "%s", refusals[i].fix);
			if (refusals[i].rc == -EROFS || refusals[i].rc == -EPERM)
				set_owner_fix(&db->owner, err);
			return refusals[i].rc;
		}
	if (((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_IOERR) && code)
		return jetwatt_db_refused_by_errno(code, &db->owner, err);
	snprintf(err->why, sizeof(err->why), "%s",
		 db->sql ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc));
	snprintf(err->fix, sizeof(err->fix),
		 "check whether the disk is full or failing: df; dmesg");
	return -EIO;
}

int jetwatt_db_run(struct jetwatt_db *db, const char *sql)
{
	return sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
}

int jetwatt_db_set_wal(struct jetwatt_db *db)
{
	uint64_t begun_ns = jetwatt_clock_ns();
	int rc;

	/* If two processes set WAL mode at the same time, one gets SQLITE_BUSY at once, without the busy
	 * timeout, so retry for this time. */
	while (((rc = jetwatt_db_run(db, "PRAGMA journal_mode = WAL")) & 0xff) == SQLITE_BUSY &&
	       jetwatt_clock_ns() - begun_ns <= JETWATT_DB_BUSY_MS * 1000000ull)
		usleep(10000);
	return rc;
}

int jetwatt_db_begin(struct jetwatt_db *db)
{
	return jetwatt_db_run(db, "BEGIN IMMEDIATE");
}

int jetwatt_db_end(struct jetwatt_db *db, int rc)
{
	if (rc == SQLITE_OK)
		rc = jetwatt_db_run(db, "COMMIT");
	if (rc != SQLITE_OK && !sqlite3_get_autocommit(db->sql))
		jetwatt_db_run(db, "ROLLBACK");
	return rc;
}
