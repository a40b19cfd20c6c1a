// SPDX-License-Identifier: GPL-2.0-only
/* Exchange of profiles with a pool: the queries on the profile database. */
#include "store/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db_private.h"

/* Columns after those of JETWATT_DB_ROW: the workload, and the device and the id of the row. */
#define WORKLOAD	"w.command, w.batch, w.cgroup, w.board, w.release, w.params, m.device, m.id"
#define LEFT(ID, type, member, key, label, tag, hz, optional, text) " AND m." #member " = 0"

#define WORKLOAD_AT	JETWATT_DB_ROW_COLUMNS

static int pool_refused(struct jetwatt_db *db, int rc, struct jetwatt_error_text *err)
{
	return jetwatt_db_refused(db, rc, err, "cannot share the profiles in %s", db->path);
}

int jetwatt_pool_progress(struct jetwatt_db *db, const char *pool, struct jetwatt_pool_progress *p,
		       struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "SELECT pushed, seen FROM pool WHERE id = ?", -1, &s, NULL);

	*p = (struct jetwatt_pool_progress){ .pushed = 0 };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, pool, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		p->pushed = sqlite3_column_int64(s, 0);
		jetwatt_db_text(s, 1, p->seen, sizeof(p->seen));
	}
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : pool_refused(db, rc, err);
}

int jetwatt_pool_progress_store(struct jetwatt_db *db, const char *pool, const struct jetwatt_pool_progress *p,
		      struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] = "INSERT OR REPLACE INTO pool(id, pushed, seen) VALUES(?, ?, ?)";
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, pool, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 2, p->pushed);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 3, p->seen, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : pool_refused(db, rc, err);
}

int jetwatt_pool_read_own(struct jetwatt_db *db, int64_t after, int max, struct jetwatt_pool_row **out,
		     struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] =
		"SELECT " JETWATT_DB_ROW ", " WORKLOAD " FROM measurement m"
		" JOIN workload w ON w.id = m.workload WHERE m.id > ? AND m.device = ''"
		/* The table of the pool has no columns for optional knobs. */
		JETWATT_KNOB_OPTIONAL(LEFT)
		" ORDER BY m.id LIMIT ?";
	struct jetwatt_pool_row *row = calloc((size_t)max, sizeof(*row));
	sqlite3_stmt *s = NULL;
	int n = 0, rc = row ? sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, after);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int(s, 2, max);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct jetwatt_pool_row *r = &row[n++];
		struct jetwatt_workload *w = &r->workload;

		jetwatt_db_read_row(s, &r->row);
		jetwatt_db_text(s, WORKLOAD_AT, w->command, sizeof(w->command));
		w->batch = (uint32_t)sqlite3_column_int64(s, WORKLOAD_AT + 1);
		jetwatt_db_text(s, WORKLOAD_AT + 2, w->cgroup, sizeof(w->cgroup));
		jetwatt_db_text(s, WORKLOAD_AT + 3, w->board, sizeof(w->board));
		jetwatt_db_text(s, WORKLOAD_AT + 4, w->release, sizeof(w->release));
		jetwatt_db_text(s, WORKLOAD_AT + 5, w->params, sizeof(w->params));
		jetwatt_db_text(s, WORKLOAD_AT + 6, r->device, sizeof(r->device));
		r->id = sqlite3_column_int64(s, WORKLOAD_AT + 7);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	if (rc != SQLITE_DONE) {
		free(row);
		return pool_refused(db, rc, err);
	}
	*out = row;
	return n;
}

int jetwatt_pool_store(struct jetwatt_db *db, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *skipped, struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	int rc = jetwatt_db_begin(db), fresh = 0, bad = 0;
	uint64_t invalid = 0;

	for (size_t i = 0; i < n && rc == SQLITE_OK && !bad; i++) {
		int64_t id;

		/* Do not trust the server: check the row. An empty device name would stand for this
		 * device. */
		if (!jetwatt_db_storable(&row[i].row) || !*row[i].device) {
			invalid++;
			continue;
		}
		bad = jetwatt_db_workload(db, &row[i].workload, &id, err);
		if (!bad)
			rc = jetwatt_db_insert(db, id, row[i].device, &row[i].row, 1, &fresh);
	}
	rc = jetwatt_db_end(db, bad ? SQLITE_ABORT : rc);
	if (bad)
		return bad;
	*skipped += invalid;
	return rc == SQLITE_OK ? fresh : pool_refused(db, rc, err);
}

int jetwatt_pool_read_prior(struct jetwatt_db *db, const struct jetwatt_workload *w,
		       struct jetwatt_row **out, struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] =
		"SELECT " JETWATT_DB_ROW ", dense_rank() OVER (ORDER BY m.device, w.key)"
		" FROM measurement m JOIN workload w ON w.id = m.workload"
		" WHERE w.command = ? AND w.board = ? AND w.params = ? AND w.batch = ?"
		" AND (m.device != '' OR w.key != ?)";
	const char *word[] = { w->command, w->board, w->params };
	char key[JETWATT_WORKLOAD_KEY];
	struct jetwatt_db_row *found = NULL;
	struct jetwatt_row *row;
	sqlite3_stmt *s = NULL;
	int64_t *source = NULL;
	size_t n = 0;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL), left;

	jetwatt_workload_key(w, key);
	for (int i = 0; i < 3 && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_text(s, i + 1, word[i], -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 4, w->batch);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 5, key, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = jetwatt_db_gather(s, &found, &n);
	sqlite3_finalize(s);
	if (rc != SQLITE_OK)
		return pool_refused(db, rc, err);
	row = calloc(n + 1, sizeof(*row));
	source = calloc(n + 1, sizeof(*source));
	for (size_t i = 0; row && source && i < n; i++) {
		row[i] = found[i].row;
		source[i] = found[i].source;
	}
	free(found);
	left = row && source ? jetwatt_pool_merge(row, source, n) : -ENOMEM;
	free(source);
	if (left < 0) {
		free(row);
		return pool_refused(db, SQLITE_NOMEM, err);
	}
	*out = row;
	return left;
}
