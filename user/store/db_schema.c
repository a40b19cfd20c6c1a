// SPDX-License-Identifier: GPL-2.0-only
/* The schema of the profile database, as the steps from each version to the next. */
#include "store/db_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define APPLICATION	0x4a575454	/* "JWTT": file(1) and jetwatt identify a database by it */

/*
 * SQL from version i to i + 1. A released step is never edited, so databases of any age go through
 * the same steps as a new one.
 */
static const char * const step[JETWATT_DB_VERSION] = {
	"CREATE TABLE workload ("
	" id INTEGER PRIMARY KEY,"
	" key TEXT NOT NULL UNIQUE,"
	" command TEXT NOT NULL,"
	" batch INTEGER NOT NULL,"
	" cgroup TEXT NOT NULL,"
	" board TEXT NOT NULL,"
	" release TEXT NOT NULL,"
	" params TEXT NOT NULL);"
	"CREATE TABLE measurement ("
	" id INTEGER PRIMARY KEY,"
	" key TEXT NOT NULL UNIQUE,"
	" workload INTEGER NOT NULL REFERENCES workload(id),"
	" cores INTEGER NOT NULL CHECK (cores > 0),"
	" cpu_khz INTEGER NOT NULL CHECK (cpu_khz > 0),"
	" gpu_hz INTEGER NOT NULL CHECK (gpu_hz > 0),"
	" emc_hz INTEGER NOT NULL CHECK (emc_hz > 0),"
	" time_ms REAL NOT NULL CHECK (time_ms > 0),"
	" power_w REAL NOT NULL CHECK (power_w > 0),"
	" time_sd REAL NOT NULL,"
	" power_sd REAL NOT NULL,"
	" minibatches INTEGER NOT NULL,"
	" when_ms INTEGER NOT NULL);"
	"CREATE INDEX measurement_workload ON measurement(workload);",

	/* Quality of a measurement; a view that joins all tables, for other programs. */
	"ALTER TABLE measurement ADD COLUMN span_s REAL NOT NULL DEFAULT 0;"
	"ALTER TABLE measurement ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;"
	"ALTER TABLE measurement ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;"
	"CREATE VIEW profile AS SELECT w.key AS workload, command, batch, cgroup, board, release,"
	" params, cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w, time_sd, power_sd,"
	" minibatches, span_s, settled, lost, when_ms, m.key AS key"
	" FROM measurement m JOIN workload w ON w.id = m.workload;",

	/* Measurements of other devices; progress of the exchange with each pool. */
	"ALTER TABLE measurement ADD COLUMN device TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE pool ("
	" id TEXT PRIMARY KEY,"
	" pushed INTEGER NOT NULL,"
	" seen TEXT NOT NULL);"
	"DROP VIEW profile;"
	"CREATE VIEW profile AS SELECT w.key AS workload, command, batch, cgroup, board, release,"
	" params, cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w, time_sd, power_sd,"
	" minibatches, span_s, settled, lost, when_ms, m.key AS key, device"
	" FROM measurement m JOIN workload w ON w.id = m.workload;",
};

static int select_int(struct jetwatt_db *db, const char *sql, int *v)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	*v = rc == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Properties of a database file that tell its schema. */
struct schema_state {
	int version, application, tables;
};

/* Read these properties in one transaction, because another process may create the schema in
 * between. */
static int read_schema_state(struct jetwatt_db *db, struct schema_state *is)
{
	bool ours = sqlite3_get_autocommit(db->sql);
	int rc = ours ? jetwatt_db_run(db, "BEGIN") : SQLITE_OK;

	if (rc == SQLITE_OK)
		rc = select_int(db, "PRAGMA user_version", &is->version);
	if (rc == SQLITE_OK)
		rc = select_int(db, "PRAGMA application_id", &is->application);
	if (rc == SQLITE_OK)
		rc = select_int(db, "SELECT count(*) FROM sqlite_master", &is->tables);
	return ours ? jetwatt_db_end(db, rc) : rc;
}

static int refuse_schema(struct jetwatt_db *db, int rc, const char *fix,
			 struct jetwatt_error_text *err)
{
	snprintf(err->what, sizeof(err->what), "cannot use the profiles in %s", db->path);
	snprintf(err->fix, sizeof(err->fix), "%s", fix);
	return rc;
}

static int check_schema(struct jetwatt_db *db, const struct schema_state *is, bool write,
			struct jetwatt_error_text *err)
{
	if (is->application != APPLICATION && (is->application || is->version || is->tables)) {
		snprintf(err->why, sizeof(err->why), "the file is the database of another program");
		return refuse_schema(db, -EBADMSG, JETWATT_DB_OTHER, err);
	}
	if (is->version > JETWATT_DB_VERSION) {
		snprintf(err->why, sizeof(err->why),
			 "the schema has version %d, this jetwatt supports up to %d", is->version,
			 JETWATT_DB_VERSION);
		return refuse_schema(db, -EPROTO, "update jetwatt, or " JETWATT_DB_OTHER,
				     err);
	}
	if (is->version < JETWATT_DB_VERSION && !write) {
		snprintf(err->why, sizeof(err->why),
			 "the schema has version %d, this jetwatt needs %d", is->version,
			 JETWATT_DB_VERSION);
		return refuse_schema(db, -EPROTO,
				     "run jetwatt profile or jetwatt import once as root: either "
				     "updates the schema",
				     err);
	}
	return 0;
}

/*
 * Each optional knob has a column, with 0 where the mode leaves the knob unchanged. These columns
 * are not a step of the schema: a jetwatt that does not know the knob can still use the database,
 * and this jetwatt can read a database that it may not change.
 */
static int column_missing(struct jetwatt_db *db, enum jetwatt_knob k, int *is)
{
	char sql[128];
	int there = 0, rc;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pragma_table_info('measurement') WHERE name = '%s'",
		 jetwatt_knob_row(k)->column);
	rc = select_int(db, sql, &there);
	*is = !there;
	return rc;
}

#define KNOB(ID, type, member, key, label, tag, hz, optional, text) ", " #member

static int add_columns(struct jetwatt_db *db)
{
	char sql[192];
	int rc = SQLITE_OK, is, added = 0;

	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && rc == SQLITE_OK;
	     k = JETWATT_KNOB_NEXT(k)) {
		const char *column = jetwatt_knob_row(k)->column;

		rc = column_missing(db, k, &is);
		if (rc != SQLITE_OK || !is)
			continue;
		snprintf(sql, sizeof(sql), "ALTER TABLE measurement ADD COLUMN %s INTEGER NOT NULL"
			 " DEFAULT 0 CHECK (%s >= 0)", column, column);
		rc = jetwatt_db_run(db, sql);
		added = 1;
	}
	if (rc == SQLITE_OK && added)
		rc = jetwatt_db_run(db, "DROP VIEW profile;"
			"CREATE VIEW profile AS SELECT w.key AS workload, command, batch, cgroup, board,"
			" release, params" JETWATT_KNOB_REQUIRED(KNOB) ", time_ms, power_w, time_sd,"
			" power_sd, minibatches, span_s, settled, lost, when_ms, m.key AS key, device"
			JETWATT_KNOB_OPTIONAL(KNOB)
			" FROM measurement m JOIN workload w ON w.id = m.workload;");
	return rc;
}

/* Add the missing columns in a transaction of their own. */
static int ensure_columns(struct jetwatt_db *db)
{
	int rc = SQLITE_OK, is, any = 0;

	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && rc == SQLITE_OK;
	     k = JETWATT_KNOB_NEXT(k)) {
		rc = column_missing(db, k, &is);
		any |= rc == SQLITE_OK && is;
	}
	if (rc != SQLITE_OK || !any)
		return rc;
	rc = jetwatt_db_begin(db);
	if (rc == SQLITE_OK)
		rc = add_columns(db);
	return jetwatt_db_end(db, rc);
}

/* For a database that may not be changed: a temporary view with the missing columns replaces the
 * table. */
static int create_temp_view(struct jetwatt_db *db)
{
	char sql[64 + 32 * JETWATT_KNOBS] = "CREATE TEMP VIEW measurement AS SELECT *";
	int rc = SQLITE_OK, is, any = 0;

	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && rc == SQLITE_OK;
	     k = JETWATT_KNOB_NEXT(k)) {
		rc = column_missing(db, k, &is);
		if (rc == SQLITE_OK && is) {
			snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ", 0 AS %.20s",
				 jetwatt_knob_row(k)->column);
			any = 1;
		}
	}
	if (rc != SQLITE_OK || !any)
		return rc;
	strcat(sql, " FROM main.measurement");
	rc = jetwatt_db_run(db, "PRAGMA temp_store = MEMORY");
	return rc == SQLITE_OK ? jetwatt_db_run(db, sql) : rc;
}

int jetwatt_db_schema(struct jetwatt_db *db, bool write, struct jetwatt_error_text *err)
{
	struct schema_state is = { 0, 0, 0 };
	int rc = read_schema_state(db, &is), bad;
	char sql[96];

	if (rc != SQLITE_OK)
		return jetwatt_db_refused(db, rc, err, "cannot read the profiles in %s", db->path);
	bad = check_schema(db, &is, write, err);
	if (bad)
		return bad;
	rc = write ? jetwatt_db_set_wal(db) : SQLITE_OK;
	if (rc != SQLITE_OK)
		return jetwatt_db_refused(db, rc, err, "cannot open the profiles in %.200s", db->path);
	if (is.version == JETWATT_DB_VERSION) {
		rc = write ? ensure_columns(db) : create_temp_view(db);
		return rc == SQLITE_OK ? 0 : jetwatt_db_refused(db, rc, err,
								"cannot read the profiles in %s", db->path);
	}

	/* Check again under the lock: another process, possibly of a newer jetwatt, may have updated
	 * the schema since the first check. */
	rc = jetwatt_db_begin(db);
	if (rc == SQLITE_OK)
		rc = read_schema_state(db, &is);
	bad = rc == SQLITE_OK ? check_schema(db, &is, write, err) : 0;
	if (bad) {
		jetwatt_db_end(db, SQLITE_ABORT);
		return bad;
	}
	for (int v = is.version; rc == SQLITE_OK && v < JETWATT_DB_VERSION; v++)
		rc = jetwatt_db_run(db, step[v]);
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION, JETWATT_DB_VERSION);
	if (rc == SQLITE_OK && is.version < JETWATT_DB_VERSION)
		rc = jetwatt_db_run(db, sql);
	if (rc == SQLITE_OK)
		rc = add_columns(db);
	rc = jetwatt_db_end(db, rc);
	return rc == SQLITE_OK
		       ? 0
		       : jetwatt_db_refused(db, rc, err,
					    "cannot create the schema of the profiles in %s",
					    db->path);
}
