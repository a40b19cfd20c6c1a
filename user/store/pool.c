// SPDX-License-Identifier: GPL-2.0-only
#include "store/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db_private.h"

/* Columns of the workload behind those of the row. */
#define WORKLOAD	"w.command, w.batch, w.cgroup, w.board, w.release, w.params, m.device, m.id"
#define WORKLOAD_AT	14

static int refused(struct jetwatt_db *db, int rc, struct jetwatt_db_error *err)
{
	return jetwatt_db_refused(db, rc, err, "cannot share the profiles in %s", db->path);
}

int jetwatt_pool_place(struct jetwatt_db *db, const char *pool, struct jetwatt_pool_place *p,
		       struct jetwatt_db_error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "SELECT pushed, seen FROM pool WHERE id = ?", -1, &s, NULL);

	*p = (struct jetwatt_pool_place){ .pushed = 0 };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, pool, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		p->pushed = sqlite3_column_int64(s, 0);
		jetwatt_db_text(s, 1, p->seen, sizeof(p->seen));
	}
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : refused(db, rc, err);
}

int jetwatt_pool_keep(struct jetwatt_db *db, const char *pool, const struct jetwatt_pool_place *p,
		      struct jetwatt_db_error *err)
{
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
	return rc == SQLITE_DONE ? 0 : refused(db, rc, err);
}

int jetwatt_pool_own(struct jetwatt_db *db, int64_t after, int most, struct jetwatt_pool_row **out,
		     struct jetwatt_db_error *err)
{
	static const char sql[] =
		"SELECT " JETWATT_DB_ROW ", " WORKLOAD " FROM measurement m"
		" JOIN workload w ON w.id = m.workload WHERE m.id > ? AND m.device = ''"
		" ORDER BY m.id LIMIT ?";
	struct jetwatt_pool_row *row = calloc((size_t)most, sizeof(*row));
	sqlite3_stmt *s = NULL;
	int n = 0, rc = row ? sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, after);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int(s, 2, most);
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
		return refused(db, rc, err);
	}
	*out = row;
	return n;
}

int jetwatt_pool_take(struct jetwatt_db *db, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *odd, struct jetwatt_db_error *err)
{
	int rc = jetwatt_db_begin(db), fresh = 0, bad = 0;
	uint64_t strange = 0;

	for (size_t i = 0; i < n && rc == SQLITE_OK && !bad; i++) {
		int64_t id;

		/* A server may be told anything. No device is nobody: that is this one. */
		if (!jetwatt_db_storable(&row[i].row) || !*row[i].device) {
			strange++;
			continue;
		}
		bad = jetwatt_db_workload(db, &row[i].workload, &id, err);
		if (!bad)
			rc = jetwatt_db_insert(db, id, row[i].device, &row[i].row, 1, &fresh);
	}
	rc = jetwatt_db_end(db, bad ? SQLITE_ABORT : rc);
	if (bad)
		return bad;
	*odd += strange;
	return rc == SQLITE_OK ? fresh : refused(db, rc, err);
}

static int by_mode(const void *a, const void *b)
{
	const struct jetwatt_mode *x = &((const struct jetwatt_row *)a)->mode;
	const struct jetwatt_mode *y = &((const struct jetwatt_row *)b)->mode;

	if (x->cores != y->cores)
		return x->cores < y->cores ? -1 : 1;
	if (x->cpu_khz != y->cpu_khz)
		return x->cpu_khz < y->cpu_khz ? -1 : 1;
	if (x->gpu_hz != y->gpu_hz)
		return x->gpu_hz < y->gpu_hz ? -1 : 1;
	return (x->emc_hz > y->emc_hz) - (x->emc_hz < y->emc_hz);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of a member of @n rows; @v: room for them. */
static double median(const struct jetwatt_row *row, size_t n, size_t member, double *v)
{
	for (size_t i = 0; i < n; i++)
		memcpy(&v[i], (const char *)&row[i] + member, sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* Rows of one mode become one. Return: how many are left; -ENOMEM. */
static int merge(struct jetwatt_row *row, size_t n)
{
	double *v = calloc(n + 1, sizeof(*v));
	size_t out = 0, end;

	if (!v)
		return -ENOMEM;
	if (n)
		qsort(row, n, sizeof(*row), by_mode);
	for (size_t i = 0; i < n; i = end) {
		struct jetwatt_row one = { .mode = row[i].mode };

		for (end = i; end < n && !by_mode(&row[i], &row[end]); end++)
			;
		one.time_ms = median(row + i, end - i, offsetof(struct jetwatt_row, time_ms), v);
		one.power_w = median(row + i, end - i, offsetof(struct jetwatt_row, power_w), v);
		one.time_sd = median(row + i, end - i, offsetof(struct jetwatt_row, time_sd), v);
		one.power_sd = median(row + i, end - i, offsetof(struct jetwatt_row, power_sd), v);
		row[out++] = one;
	}
	free(v);
	return (int)out;
}

int jetwatt_pool_prior(struct jetwatt_db *db, const struct jetwatt_workload *w,
		       struct jetwatt_row **out, struct jetwatt_db_error *err)
{
	static const char sql[] =
		"SELECT " JETWATT_DB_ROW " FROM measurement m JOIN workload w ON w.id = m.workload"
		" WHERE w.command = ? AND w.board = ? AND w.params = ? AND w.batch = ?"
		" AND (m.device != '' OR w.key != ?)";
	const char *word[] = { w->command, w->board, w->params };
	char key[JETWATT_WORKLOAD_KEY];
	struct jetwatt_db_row *found = NULL;
	struct jetwatt_row *row;
	sqlite3_stmt *s = NULL;
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
		return refused(db, rc, err);
	row = calloc(n + 1, sizeof(*row));
	for (size_t i = 0; row && i < n; i++)
		row[i] = found[i].row;
	free(found);
	left = row ? merge(row, n) : -ENOMEM;
	if (left < 0) {
		free(row);
		return refused(db, SQLITE_NOMEM, err);
	}
	*out = row;
	return left;
}
