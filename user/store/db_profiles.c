// SPDX-License-Identifier: GPL-2.0-only
/* The workloads of the profile database. */
#include "store/db_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOB(ID, type, member, key, label, tag, hz, optional, text) #member ", "

/* Columns of the workload, then the counts of its measurements. */
#define PROFILES \
	"SELECT w.id, w.key, command, batch, cgroup, board, release, params," \
	" (SELECT count(*) FROM (SELECT DISTINCT " JETWATT_KNOB_ROWS(KNOB) " workload" \
	"  FROM measurement WHERE workload = w.id AND device = ''))," \
	" count(m.id) FILTER (WHERE m.device = ''), count(m.id) FILTER (WHERE m.device != '')," \
	" ifnull(min(m.when_ms), 0), ifnull(max(m.when_ms), 0)" \
	" FROM workload w LEFT JOIN measurement m ON m.workload = w.id "

void jetwatt_db_text(sqlite3_stmt *s, int column, char *buf, size_t len)
{
	snprintf(buf, len, "%s", (const char *)sqlite3_column_text(s, column) ?: "");
}

static void read_profile(sqlite3_stmt *s, struct jetwatt_db_profile *p)
{
	struct jetwatt_workload *w = &p->workload;

	p->id = sqlite3_column_int64(s, 0);
	jetwatt_db_text(s, 1, p->key, sizeof(p->key));
	jetwatt_db_text(s, 2, w->command, sizeof(w->command));
	w->batch = (uint32_t)sqlite3_column_int64(s, 3);
	jetwatt_db_text(s, 4, w->cgroup, sizeof(w->cgroup));
	jetwatt_db_text(s, 5, w->board, sizeof(w->board));
	jetwatt_db_text(s, 6, w->release, sizeof(w->release));
	jetwatt_db_text(s, 7, w->params, sizeof(w->params));
	p->modes = (uint64_t)sqlite3_column_int64(s, 8);
	p->rows = (uint64_t)sqlite3_column_int64(s, 9);
	p->pooled = (uint64_t)sqlite3_column_int64(s, 10);
	p->first_ms = sqlite3_column_int64(s, 11);
	p->last_ms = sqlite3_column_int64(s, 12);
}

int jetwatt_db_workload(struct jetwatt_db *db, const struct jetwatt_workload *w, int64_t *id,
			struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char add[] =
		"INSERT INTO workload(key, command, batch, cgroup, board, release, params)"
		" VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(key) DO NOTHING";
	static const char find[] = "SELECT id FROM workload WHERE key = ?";
	const char *word[] = { NULL, w->command, NULL, w->cgroup, w->board, w->release, w->params };
	char key[JETWATT_WORKLOAD_KEY];
	sqlite3_stmt *s = NULL;
	int rc;

	jetwatt_workload_key(w, key);
	word[0] = key;
	rc = sqlite3_prepare_v2(db->sql, add, -1, &s, NULL);
	for (int i = 0; i < 7 && rc == SQLITE_OK; i++)
		rc = word[i] ? sqlite3_bind_text(s, i + 1, word[i], -1, SQLITE_TRANSIENT) :
			       sqlite3_bind_int64(s, i + 1, w->batch);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	s = NULL;
	if (rc == SQLITE_DONE)
		rc = sqlite3_prepare_v2(db->sql, find, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*id = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : jetwatt_db_refused(db, rc, err,
							 "cannot add to the profiles in %s", db->path);
}

int jetwatt_db_find(struct jetwatt_db *db, const char *key, struct jetwatt_db_profile *p,
		    struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	/* Do not compare with LIKE: the key is hexadecimal, and a typed % or _ must not match. */
	static const char sql[] = PROFILES "WHERE substr(w.key, 1, length(?1)) = ?1 GROUP BY w.id";
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL), n = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		read_profile(s, p);
		n++;
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	if (rc != SQLITE_DONE)
		return jetwatt_db_refused(db, rc, err, "cannot read the profiles in %s", db->path);
	if (n == 1)
		return 0;
	if (err && !n && !*key) {
		snprintf(err->what, sizeof(err->what), "there is no profile");
		snprintf(err->why, sizeof(err->why), "the database %.200s is empty", db->path);
		snprintf(err->fix, sizeof(err->fix), JETWATT_DB_MEASURE);
	} else if (err) {
		snprintf(err->what, sizeof(err->what),
			 n ? "several profiles have a key that begins with %.40s"
			   : "no profile has a key that begins with %.40s",
			 key);
		snprintf(err->why, sizeof(err->why), "searched in %.200s", db->path);
		snprintf(err->fix, sizeof(err->fix),
			 n ? "give more digits of the key; jetwatt list profiles shows it"
			   : "jetwatt list profiles shows all keys");
	}
	return n ? -ENOTUNIQ : -ENOENT;
}

int jetwatt_db_profiles(struct jetwatt_db *db, struct jetwatt_db_profile **out,
			struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] = PROFILES "GROUP BY w.id ORDER BY max(m.id) DESC, w.id DESC";
	struct jetwatt_db_profile *p = NULL;
	size_t n = 0, capacity = 0;
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		if (n == capacity) {
			struct jetwatt_db_profile *more;

			capacity = capacity ? 2 * capacity : 16;
			more = reallocarray(p, capacity, sizeof(*p));
			if (!more) {
				rc = SQLITE_NOMEM;
				break;
			}
			p = more;
		}
		read_profile(s, &p[n++]);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	if (rc != SQLITE_DONE) {
		free(p);
		return jetwatt_db_refused(db, rc, err, "cannot read the profiles in %s", db->path);
	}
	*out = p;
	return (int)n;
}

int jetwatt_db_check(struct jetwatt_db *db, struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "PRAGMA quick_check(1)", -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		rc = strcmp((const char *)sqlite3_column_text(s, 0) ?: "", "ok") ? SQLITE_CORRUPT :
		     SQLITE_OK;
	sqlite3_finalize(s);
	return rc == SQLITE_OK
		       ? 0
		       : jetwatt_db_refused(db, rc, err,
					    "the profile database %s failed its integrity check",
					    db->path);
}
