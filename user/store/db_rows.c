// SPDX-License-Identifier: GPL-2.0-only
/* Read and write the measurements of the profile database. Values are always bound as parameters,
 * never written into SQL. */
#include "store/db_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hash the workload and all values of a measurement: equal content has an equal key. */
static void content_key(const char *workload, const struct jetwatt_db_row *r,
			char key[JETWATT_WORKLOAD_KEY])
{
	char text[1024];
	SHA2_CTX ctx;
	int n;

	n = snprintf(text, sizeof(text), "%s", workload);
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional)
			n += snprintf(text + n, sizeof(text) - (size_t)n, ",%" PRIu64,
				      jetwatt_mode_get(&r->row.mode, k));
	n += snprintf(text + n, sizeof(text) - (size_t)n,
		      ",%.17g,%.17g,%.17g,%.17g,%u,%.17g,%d,%llu,%lld", r->row.time_ms,
		      r->row.power_w, r->row.time_sd, r->row.power_sd, r->minibatches, r->span_s,
		      r->settled, (unsigned long long)r->lost, (long long)r->when_ms);
	/* Optional knobs are hashed with their name, because further optional knobs may be added
	 * later. */
	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->optional && jetwatt_mode_get(&r->row.mode, k))
			n += snprintf(text + n, sizeof(text) - (size_t)n, ",%s=%" PRIu64,
				      jetwatt_knob_row(k)->column,
				      jetwatt_mode_get(&r->row.mode, k));
	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)text, (size_t)n);
	SHA256End(&ctx, key);
}

/* A knob's value above INT64_MAX cannot be stored, because SQLite's integers are signed. */
bool jetwatt_db_storable(const struct jetwatt_db_row *r)
{
	const struct jetwatt_row *v = &r->row;

	jetwatt_each_knob(k)
		if (jetwatt_mode_get(&v->mode, k) > INT64_MAX)
			return false;
	return jetwatt_mode_whole(&v->mode) &&
	       r->lost <= INT64_MAX && r->when_ms >= 0 &&
	       isfinite(v->time_ms) && v->time_ms > 0 && isfinite(v->power_w) && v->power_w > 0 &&
	       isfinite(v->time_sd) && v->time_sd >= 0 && isfinite(v->power_sd) &&
	       v->power_sd >= 0 && isfinite(r->span_s) && r->span_s >= 0;
}

/* Run a SELECT that returns one text for an id. Return: SQLITE_OK; SQLITE_NOTFOUND: no row;
 * SQLite's result code. */
static int select_text(struct jetwatt_db *db, const char *sql, int64_t id, char *buf, size_t len)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		snprintf(buf, len, "%s", (const char *)sqlite3_column_text(s, 0) ?: "");
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_NOTFOUND : rc;
}

static int insert_row(sqlite3_stmt *s, int64_t id, const char *workload, const char *device,
		      const struct jetwatt_db_row *r)
{
	const double real[] = { r->row.time_ms, r->row.power_w, r->row.time_sd, r->row.power_sd };
	char key[JETWATT_WORKLOAD_KEY];
	int rc = 0, at = 1;

	content_key(workload, r, key);
	rc |= sqlite3_bind_text(s, at++, key, -1, SQLITE_TRANSIENT);
	rc |= sqlite3_bind_int64(s, at++, id);
	jetwatt_each_knob(k)
		rc |= sqlite3_bind_int64(s, at++, (sqlite3_int64)jetwatt_mode_get(&r->row.mode, k));
	for (int i = 0; i < 4; i++)
		rc |= sqlite3_bind_double(s, at++, real[i]);
	rc |= sqlite3_bind_int64(s, at++, r->minibatches);
	rc |= sqlite3_bind_double(s, at++, r->span_s);
	rc |= sqlite3_bind_int(s, at++, r->settled);
	rc |= sqlite3_bind_int64(s, at++, (sqlite3_int64)r->lost);
	rc |= sqlite3_bind_int64(s, at++, r->when_ms);
	rc |= sqlite3_bind_text(s, at++, device, -1, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		return SQLITE_NOMEM;
	rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int jetwatt_db_insert(struct jetwatt_db *db, int64_t id, const char *device,
		      const struct jetwatt_db_row *row, size_t n, int *fresh)
{
#define KNOB(ID, type, member, key, label, tag, hz, optional, text) #member ", "
#define VALUE(ID, type, member, key, label, tag, hz, optional, text) "?, "
	static const char sql[] =
		"INSERT INTO measurement(key, workload, " JETWATT_KNOB_ROWS(KNOB) "time_ms,"
		" power_w, time_sd, power_sd, minibatches, span_s, settled, lost, when_ms, device)"
		" VALUES(?, ?, " JETWATT_KNOB_ROWS(VALUE) "?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		/* A row of this device replaces an equal row that was received from another device,
		 * which does not count as a measurement of this device. */
		" ON CONFLICT(key) DO UPDATE SET device = '' WHERE device != '' AND excluded.device = ''";
	char workload[JETWATT_WORKLOAD_KEY] = "";
	sqlite3_stmt *s = NULL;
	int rc = select_text(db, "SELECT key FROM workload WHERE id = ?", id, workload,
			     sizeof(workload));

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);
	for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
		rc = insert_row(s, id, workload, device, &row[i]);
		*fresh += rc == SQLITE_OK && sqlite3_changes(db->sql) > 0;
	}
	sqlite3_finalize(s);
	return rc;
}

int jetwatt_db_add(struct jetwatt_db *db, int64_t id, const struct jetwatt_db_row *row, size_t n,
		   struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	int fresh = 0, rc;

	for (size_t i = 0; i < n; i++)
		if (!jetwatt_db_storable(&row[i]))
			return -EINVAL;
	rc = jetwatt_db_begin(db);
	if (rc == SQLITE_OK)
		rc = jetwatt_db_insert(db, id, "", row, n, &fresh);
	rc = jetwatt_db_end(db, rc);
	return rc == SQLITE_OK ? fresh : jetwatt_db_refused(db, rc, err,
							    "cannot add to the profiles in %s", db->path);
}

int jetwatt_db_forget(struct jetwatt_db *db, int64_t id, size_t keep, struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] =
		"DELETE FROM measurement WHERE workload = ?1 AND device = '' AND id NOT IN"
		" (SELECT id FROM measurement WHERE workload = ?1 AND device = ''"
		"  ORDER BY id DESC LIMIT ?2)";
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 2, (sqlite3_int64)keep);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? sqlite3_changes(db->sql) :
				   jetwatt_db_refused(db, rc, err, "cannot delete profiles in %s", db->path);
}

void jetwatt_db_read_row(sqlite3_stmt *s, struct jetwatt_db_row *r)
{
	int at = JETWATT_KNOBS;

	*r = (struct jetwatt_db_row){
		.row = {
			.time_ms = sqlite3_column_double(s, at),
			.power_w = sqlite3_column_double(s, at + 1),
			.time_sd = sqlite3_column_double(s, at + 2),
			.power_sd = sqlite3_column_double(s, at + 3),
		},
		.minibatches = (uint32_t)sqlite3_column_int64(s, at + 4),
		.span_s = sqlite3_column_double(s, at + 5),
		.settled = sqlite3_column_int(s, at + 6),
		.lost = (uint64_t)sqlite3_column_int64(s, at + 7),
		.when_ms = sqlite3_column_int64(s, at + 8),
	};
	jetwatt_each_knob(k)
		jetwatt_mode_set(&r->row.mode, k, (uint64_t)sqlite3_column_int64(s, (int)k));
	snprintf(r->key, sizeof(r->key), "%s", (const char *)sqlite3_column_text(s, at + 9) ?: "");
}

int jetwatt_db_gather(sqlite3_stmt *s, struct jetwatt_db_row **out, size_t *n)
{
	struct jetwatt_db_row *row = NULL, *more;
	size_t capacity = 0;
	int rc;

	*n = 0;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		if (*n == capacity) {
			capacity = capacity ? 2 * capacity : 64;
			more = reallocarray(row, capacity, sizeof(*row));
			if (!more) {
				rc = SQLITE_NOMEM;
				break;
			}
			row = more;
		}
		jetwatt_db_read_row(s, &row[*n]);
		if (sqlite3_column_count(s) > JETWATT_DB_ROW_COLUMNS)
			row[*n].source = sqlite3_column_int64(s, JETWATT_DB_ROW_COLUMNS);
		/* Skip invalid rows: another program may have written to the file. */
		*n += jetwatt_db_storable(&row[*n]);
	}
	if (rc != SQLITE_DONE) {
		free(row);
		row = NULL;
	}
	*out = row;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int jetwatt_db_rows(struct jetwatt_db *db, int64_t id, struct jetwatt_db_row **out,
		    struct jetwatt_error_text *err)
{
	JETWATT_DB_AS_OWNER(db);
	static const char sql[] =
		"SELECT " JETWATT_DB_ROW " FROM measurement m"
		/* Order the rows by id, which grows with each added row, those without a time
		 * first. Do not order by time: the clock may start in 1970 at each boot. */
		" WHERE workload = ? AND device = '' ORDER BY when_ms > 0, id";
	sqlite3_stmt *s = NULL;
	size_t n = 0;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = jetwatt_db_gather(s, out, &n);
	sqlite3_finalize(s);
	if (rc != SQLITE_OK)
		return jetwatt_db_refused(db, rc, err, "cannot read the profiles in %s", db->path);
	return (int)n;
}
