// SPDX-License-Identifier: GPL-2.0-only
/* Open and close the profile database. */
#include "store/db_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Take on the rights of the database's owner in this thread. Return: 0; negative errno: on
 * failure, @err receives why and fix. */
static int become_owner(const struct jetwatt_db_owner *o, struct jetwatt_db_rights *was,
			struct jetwatt_error_text *err)
{
	int rc = jetwatt_db_take_rights(o, was);

	if (rc) {
		snprintf(err->why, sizeof(err->why), "root may not take on the rights of the user %s (%s)", o->name,
			 strerror(-rc));
		snprintf(err->fix, sizeof(err->fix), "grant CAP_SETUID and CAP_SETGID, or run as the user %s, "
			 "or " JETWATT_DB_OTHER, o->name);
	}
	return rc;
}

/* Create the directories of a path. Root uses the rights of the user whom
 * jetwatt_db_owner_find() finds. */
static int make_dirs(const char *path, struct jetwatt_error_text *err)
{
	struct jetwatt_db_rights rights;
	struct jetwatt_db_owner owner;
	char dir[256];
	int bad;

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s/", (int)(p - path), path);
		bad = jetwatt_db_owner_find(path, &owner, err);
		if (!bad)
			bad = become_owner(&owner, &rights, err);
		if (bad)
			return bad;
		bad = mkdir(dir, 0755) ? errno : 0;
		jetwatt_db_restore_rights(&rights);
		if (bad && access(dir, F_OK))
			return -bad;
	}
	return 0;
}

/* Write @path as a URI that tells SQLite that no process writes to the file. */
static void immutable_uri(const char *path, char *uri, size_t len)
{
	size_t n = (size_t)snprintf(uri, len, "file:");

	for (; *path && n + 16 < len; path++)
		n += (size_t)snprintf(uri + n, len - n, strchr("?#%", *path) ? "%%%02x" : "%c",
				      (unsigned char)*path);
	snprintf(uri + n, len - n, "?immutable=1");
}

static int open_connection(struct jetwatt_db *db, bool write)
{
	char uri[3 * sizeof(db->path) + 32], wal[sizeof(db->path) + 8];
	int rc;

	rc = sqlite3_open_v2(db->path, &db->sql, SQLITE_OPEN_NOMUTEX | (write ?
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY), NULL);
	if (rc == SQLITE_OK) {
		sqlite3_extended_result_codes(db->sql, 1);
		sqlite3_busy_timeout(db->sql, JETWATT_DB_BUSY_MS);
		rc = jetwatt_db_run(db, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
					"PRAGMA synchronous = FULL");
	}
	if (rc == SQLITE_OK)
		rc = jetwatt_db_run(db, "PRAGMA user_version; SELECT count(*) FROM sqlite_master");
	if (((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY) || write)
		return rc;
	/* A process that only reads may lack the right to create the -wal and -shm files.
	 * Without a -wal file there is no writer, so the file can be opened as immutable. */
	snprintf(wal, sizeof(wal), "%s-wal", db->path);
	if (!access(wal, F_OK))
		return rc;
	sqlite3_close(db->sql);
	db->sql = NULL;
	immutable_uri(db->path, uri, sizeof(uri));
	return sqlite3_open_v2(uri, &db->sql, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY |
			       SQLITE_OPEN_URI, NULL);
}

int jetwatt_db_open(struct jetwatt_db **out, const char *path, bool write,
		    struct jetwatt_error_text *err)
{
	struct jetwatt_db_rights rights __attribute__((cleanup(jetwatt_db_restore_rights))) = { 0 };
	struct jetwatt_db_owner owner;
	struct jetwatt_error_text none;
	struct jetwatt_db *db;
	int rc = 0;

	err = err ? err : &none;
	*err = (struct jetwatt_error_text){ "", "", "" };
	path = path ? path : JETWATT_DB_PATH;
	snprintf(err->what, sizeof(err->what), "cannot open the profiles in %.200s", path);
	owner = (struct jetwatt_db_owner){ 0 };
	/* For SQLite, an empty name is a temporary database. */
	if (!*path || strlen(path) >= sizeof(db->path))
		return jetwatt_db_refused_by_errno(*path ? ENAMETOOLONG : ENOENT, &owner, err);
	if (write)
		rc = make_dirs(path, err);
	else if (access(path, F_OK))
		rc = -errno;
	if (!rc)
		rc = jetwatt_db_owner_find(path, &owner, err);
	if (!rc)
		rc = become_owner(&owner, &rights, err);
	if (rc == -ENOENT && !write) {
		snprintf(err->why, sizeof(err->why), "nothing has been measured here yet");
		snprintf(err->fix, sizeof(err->fix), JETWATT_DB_MEASURE);
		return rc;
	}
	/* If several users may write the directory, or root may not take on the rights of its owner,
	 * @err has its reason already. */
	if (rc)
		return *err->why ? rc : jetwatt_db_refused_by_errno(-rc, &owner, err);

	db = calloc(1, sizeof(*db));
	if (!db)
		return -ENOMEM;
	strcpy(db->path, path);
	db->owner = owner;
	rc = open_connection(db, write);
	if (rc != SQLITE_OK)
		rc = jetwatt_db_refused(db, rc, err, "cannot open the profiles in %.200s", path);
	else
		rc = jetwatt_db_schema(db, write, err);
	if (rc) {
		jetwatt_db_close(db);
		return rc;
	}
	*out = db;
	return 0;
}

void jetwatt_db_close(struct jetwatt_db *db)
{
	if (!db)
		return;

	JETWATT_DB_AS_OWNER(db);
	sqlite3_close(db->sql);
	free(db);
}
