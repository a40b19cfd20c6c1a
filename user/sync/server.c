// SPDX-License-Identifier: GPL-2.0-only
/* The pool through libpq: its tables, push and pull of rows. Rows are pushed as one JSON
 * parameter. */
#include "sync/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "util/error.h"

#define VERSION		1
/* Key of the advisory lock that a client holds while it creates the tables ("JWTT"). */
#define LOCK		"1247237204"

/*
 * The column xact holds the transaction that inserted a row; the id of this transaction serves as
 * the position of a pull. A serial number could not serve as the position: it is assigned before
 * the commit, so a row with a lower number may become visible after a row with a higher one was
 * read.
 */
#define DEFINE(ID, type, member, key, label, tag, hz, optional, text) \
	" " #member " bigint NOT NULL CHECK (" #member " > 0),"
#define NAME(ID, type, member, key, label, tag, hz, optional, text) ", " #member
#define TYPE(ID, type, member, key, label, tag, hz, optional, text) ", " #member " bigint"

static const char tables[] =
	"BEGIN; SELECT pg_advisory_xact_lock(" LOCK ");"
	/* Check again under the lock whether the tables exist: another client may have created the
	 * tables, and creating an index would block clients that insert rows. */
	"DO $do$ BEGIN IF to_regclass('jetwatt.pool') IS NULL THEN "
	"CREATE SCHEMA IF NOT EXISTS jetwatt;"
	"CREATE TABLE jetwatt.pool ("
	" id uuid PRIMARY KEY DEFAULT gen_random_uuid(), version integer NOT NULL);"
	"CREATE TABLE jetwatt.workload ("
	" key text PRIMARY KEY CHECK (length(key) = 64),"
	" command text NOT NULL CHECK (octet_length(command) < 1024),"
	" batch bigint NOT NULL CHECK (batch >= 0),"
	" cgroup text NOT NULL CHECK (octet_length(cgroup) < 256),"
	" board text NOT NULL CHECK (octet_length(board) < 96),"
	" release text NOT NULL CHECK (octet_length(release) < 96),"
	" params text NOT NULL CHECK (octet_length(params) < 256));"
	"CREATE TABLE jetwatt.measurement ("
	" key text PRIMARY KEY CHECK (length(key) = 64),"
	" workload text NOT NULL REFERENCES jetwatt.workload,"
	" device text NOT NULL CHECK (octet_length(device) BETWEEN 1 AND 64),"
	JETWATT_KNOB_REQUIRED(DEFINE)
	" time_ms double precision NOT NULL CHECK (time_ms > 0 AND time_ms < 'infinity'),"
	" power_w double precision NOT NULL CHECK (power_w > 0 AND power_w < 'infinity'),"
	" time_sd double precision NOT NULL CHECK (time_sd >= 0 AND time_sd < 'infinity'),"
	" power_sd double precision NOT NULL CHECK (power_sd >= 0 AND power_sd < 'infinity'),"
	" minibatches bigint NOT NULL CHECK (minibatches >= 0),"
	" span_s double precision NOT NULL CHECK (span_s >= 0 AND span_s < 'infinity'),"
	" settled boolean NOT NULL,"
	" lost bigint NOT NULL CHECK (lost >= 0),"
	" when_ms bigint NOT NULL CHECK (when_ms >= 0),"
	" xact xid8 NOT NULL DEFAULT pg_current_xact_id());"
	"CREATE INDEX measurement_workload ON jetwatt.measurement (workload, xact);"
	"CREATE INDEX workload_board ON jetwatt.workload (board);"
	"CREATE VIEW jetwatt.profile AS SELECT w.key AS workload, command, batch, cgroup,"
	" board, release, params, device" JETWATT_KNOB_REQUIRED(NAME) ", time_ms, power_w, time_sd,"
	" power_sd, minibatches, span_s, settled, lost, to_timestamp(when_ms / 1000.0) AS measured"
	" FROM jetwatt.measurement m JOIN jetwatt.workload w ON w.key = m.workload;"
	"INSERT INTO jetwatt.pool(version) VALUES (1);"
	"END IF; END $do$; COMMIT";

/* Report an error of the PostgreSQL server with the first line of its message. @r: result, NULL:
 * the connection's error. Return: exit code. */
static int report_refused(struct jetwatt_server *s, const PGresult *r, const char *what)
{
	const char *text = r ? PQresultErrorMessage(r) : PQerrorMessage(s->pg);
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	char why[240];

	snprintf(why, sizeof(why), "%.*s", (int)strcspn(text, "\n"), text);
	if (state && !strcmp(state, "42501"))
		return jetwatt_error_report(JETWATT_EXIT_PERMISSION, why,
					 "the pool's owner must run jetwatt sync once, then GRANT USAGE ON SCHEMA jetwatt and SELECT, INSERT ON its tables",
					 "%s", what);
	return jetwatt_error_report(JETWATT_EXIT_FAILED, why,
				 "nothing is lost: run jetwatt sync again later, it pushes the remaining rows",
				 "%s", what);
}

/* Check the result of an SQL command and free the result. Return: 0 or an exit code; the error has
 * been reported. */
static int finish_command(struct jetwatt_server *s, PGresult *r, const char *what)
{
	ExecStatusType status = PQresultStatus(r);
	int code = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : report_refused(s, r, what);

	PQclear(r);
	return code;
}

/* Query a single value. @buf: receives the value; "" if it is NULL or the query did not return exactly one
 * row. Return: 0 or an exit code; the error has been reported. */
static int query_value(struct jetwatt_server *s, const char *sql, char *buf, size_t len, const char *what)
{
	PGresult *r = PQexec(s->pg, sql);
	int code = 0;

	if (PQresultStatus(r) != PGRES_TUPLES_OK)
		code = report_refused(s, r, what);
	else
		snprintf(buf, len, "%s", PQntuples(r) == 1 ? PQgetvalue(r, 0, 0) : "");
	PQclear(r);
	return code;
}

/* Create the tables of the pool if they are missing, check their version, and read the pool's id.
 * Return: 0 or an exit code; the error has been reported. */
static int check_tables(struct jetwatt_server *s)
{
	static const char what[] = "cannot use the pool";
	char text[64] = "";
	int code = query_value(s, "SELECT to_regclass('jetwatt.pool')", text, sizeof(text), what);

	if (!code && !*text)
		code = finish_command(s, PQexec(s->pg, tables), "cannot create the pool's tables");
	if (!code)
		code = query_value(s, "SELECT version FROM jetwatt.pool", text, sizeof(text), what);
	if (!code && !*text)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "the table jetwatt.pool is empty",
					 "run DROP SCHEMA jetwatt CASCADE in the pool, then jetwatt sync again",
					 "%s", what);
	if (!code && atoi(text) != VERSION)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, "update jetwatt on this device",
					 "the pool is version %.16s, this jetwatt supports version %d", text, VERSION);
	return code ? code : query_value(s, "SELECT id FROM jetwatt.pool", s->id, sizeof(s->id), what);
}

int jetwatt_server_open(struct jetwatt_server *s, const char *conninfo)
{
	/* Parameters in the connection string @conninfo override the parameters listed before
	 * it. */
	static const char * const key[] = { "connect_timeout", "tcp_user_timeout", "application_name",
					    "client_encoding", "dbname", NULL };
	const char *value[] = { "10", "30000", "jetwatt", "UTF8", conninfo ? conninfo : "", NULL };

	s->pg = PQconnectdbParams(key, value, 1);
	if (PQstatus(s->pg) != CONNECTION_OK)
		return report_refused(s, NULL, "cannot reach the pool");
	if (PQserverVersion(s->pg) < 130000)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, "use PostgreSQL 13 or newer",
					 "the pool's PostgreSQL is too old: version %d", PQserverVersion(s->pg) / 10000);
	/* The time limit keeps a server that hangs from blocking this process. A limit that the server,
	 * the role or the connection string sets stays. */
	return finish_command(s, PQexec(s->pg, "SELECT set_config('statement_timeout', '60s', false)"
						" WHERE current_setting('statement_timeout') = '0';"
						" SET client_min_messages = error"),
			      "cannot use the pool") ?: check_tables(s);
}

void jetwatt_server_close(struct jetwatt_server *s)
{
	PQfinish(s->pg);
	s->pg = NULL;
}

/* Write a row as a JSON object. */
static void row_json(struct jetwatt_json *j, const char *device, const struct jetwatt_pool_row *p)
{
	const struct jetwatt_workload *w = &p->workload;
	const struct jetwatt_row *v = &p->row.row;
	char key[JETWATT_WORKLOAD_KEY];

	jetwatt_workload_key(w, key);
	jetwatt_json_object(j, NULL);
	jetwatt_json_string(j, "key", p->row.key);
	jetwatt_json_string(j, "workload", key);
	jetwatt_json_string(j, "device", device);
	jetwatt_json_string(j, "command", w->command);
	jetwatt_json_uint(j, "batch", w->batch);
	jetwatt_json_string(j, "cgroup", w->cgroup);
	jetwatt_json_string(j, "board", w->board);
	jetwatt_json_string(j, "release", w->release);
	jetwatt_json_string(j, "params", w->params);
	jetwatt_json_mode(j, &v->mode);
	jetwatt_json_real(j, "time_ms", v->time_ms, 17);
	jetwatt_json_real(j, "power_w", v->power_w, 17);
	jetwatt_json_real(j, "time_sd", v->time_sd, 17);
	jetwatt_json_real(j, "power_sd", v->power_sd, 17);
	jetwatt_json_uint(j, "minibatches", p->row.minibatches);
	jetwatt_json_real(j, "span_s", p->row.span_s, 17);
	jetwatt_json_bool(j, "settled", p->row.settled);
	jetwatt_json_uint(j, "lost", p->row.lost);
	jetwatt_json_int(j, "when_ms", p->row.when_ms);
	jetwatt_json_end(j);
}

/* Return all rows as one JSON text, caller frees; NULL: no memory. */
static char *rows_json(const char *device, const struct jetwatt_pool_row *row, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct jetwatt_json j;

	if (!f)
		return NULL;
	jetwatt_json_init(&j, f, 0);
	jetwatt_json_array(&j, NULL);
	for (size_t i = 0; i < n; i++)
		row_json(&j, device, &row[i]);
	jetwatt_json_end(&j);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Rows are inserted in the order of their keys, so that two devices that push the same rows cannot
 * deadlock. */
#define WORKLOAD	"key, command, batch, cgroup, board, release, params"
#define MEASUREMENT	"key, workload, device" JETWATT_KNOB_REQUIRED(NAME) ", time_ms, power_w," \
			" time_sd, power_sd, minibatches, span_s, settled, lost, when_ms"

/* Return: 1 if the database user of the connection has the right to insert rows; 0 if
 * not, or if the query fails. */
static int may_insert(struct jetwatt_server *s)
{
	PGresult *r = PQexec(s->pg, "SELECT has_table_privilege('jetwatt.workload', 'INSERT')"
				    " AND has_table_privilege('jetwatt.measurement', 'INSERT')");
	int may = PQresultStatus(r) == PGRES_TUPLES_OK && *PQgetvalue(r, 0, 0) == 't';

	PQclear(r);
	return may;
}

/* Return: 1 if the server refuses the rows themselves; 0 if there was no error, or it has another cause,
 * such as the connection, a missing right, the tables, or a timeout. A trigger may raise any SQLSTATE; a
 * row-level policy raises that of a missing right (42501). */
static int refuses_rows(struct jetwatt_server *s, const PGresult *r)
{
	/* SQLSTATE classes of errors that the rows do not cause: connection, unsupported feature,
	 * authorization, transaction, name or definition, resources, object state, operator
	 * intervention, system, configuration file, foreign data, internal error. */
	static const char *const others[] = { "08", "0A", "25", "26", "28", "2D", "34", "3B", "3D", "3F", "40",
					      "42", "53", "55", "57", "58", "F0", "HV", "XX" };
	const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);

	if (!state)
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(state, others[i], 2) && strcmp(state, "42501"))
			return 0;
	/* Classes 22: data exception, 23: integrity constraint, 44: condition of a view. */
	return !strncmp(state, "22", 2) || !strncmp(state, "23", 2) || !strncmp(state, "44", 2) || may_insert(s);
}

/* Insert rows into the pool in one statement. Return: 0 or an exit code, as jetwatt_server_push();
 * -EINVAL if the server refuses at least one row, and so has inserted none. */
static int insert_rows(struct jetwatt_server *s, const char *device, const struct jetwatt_pool_row *row,
		       size_t n, struct jetwatt_server_pushed *pushed)
{
	static const char sql[] =
		"WITH r AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(key text,"
		" workload text, device text, command text, batch bigint, cgroup text, board text,"
		" release text, params text" JETWATT_KNOB_REQUIRED(TYPE) ","
		" time_ms double precision, power_w double precision, time_sd double precision,"
		" power_sd double precision, minibatches bigint, span_s double precision,"
		" settled boolean, lost bigint, when_ms bigint)),"
		" w AS (INSERT INTO jetwatt.workload(" WORKLOAD ")"
		"  SELECT DISTINCT ON (workload) workload, command, batch, cgroup, board, release, params"
		"  FROM r ORDER BY workload ON CONFLICT DO NOTHING)"
		" INSERT INTO jetwatt.measurement(" MEASUREMENT ")"
		" SELECT " MEASUREMENT " FROM r ORDER BY key ON CONFLICT DO NOTHING";
	char *text = rows_json(device, row, n);
	const char *value[] = { text };
	PGresult *r;

	if (!text)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "out of memory", NULL, "cannot push rows");
	r = PQexecParams(s->pg, sql, 1, NULL, value, NULL, NULL, 0);
	free(text);
	if (PQresultStatus(r) == PGRES_COMMAND_OK)
		pushed->fresh += strtoull(PQcmdTuples(r), NULL, 10);
	if (!refuses_rows(s, r))
		return finish_command(s, r, "cannot push rows to the pool");
	if (n == 1 && !pushed->refused++)
		snprintf(pushed->why, sizeof(pushed->why), "%.*s",
			 (int)strcspn(PQresultErrorMessage(r), "\n"), PQresultErrorMessage(r));
	PQclear(r);
	return -EINVAL;
}

int jetwatt_server_push(struct jetwatt_server *s, const char *device, const struct jetwatt_pool_row *row,
			size_t n, struct jetwatt_server_pushed *pushed)
{
	size_t half = n / 2;
	int code = insert_rows(s, device, row, n, pushed);

	if (code != -EINVAL || n == 1)
		return code == -EINVAL ? 0 : code;
	code = jetwatt_server_push(s, device, row, half, pushed);
	return code ? code : jetwatt_server_push(s, device, row + half, n - half, pushed);
}

static void text_of(const PGresult *r, int nr, int column, char *buf, size_t len)
{
	snprintf(buf, len, "%s", PQgetvalue(r, nr, column));
}

/* Convert row @nr of jetwatt_server_pull()'s query. */
static void read_row(const PGresult *r, int nr, struct jetwatt_pool_row *p)
{
	struct jetwatt_workload *w = &p->workload;
	double real[5];
	uint64_t whole[3];
	int at = 16;

	memset(p, 0, sizeof(*p));
	text_of(r, nr, 0, p->device, sizeof(p->device));
	text_of(r, nr, 1, w->command, sizeof(w->command));
	text_of(r, nr, 2, w->cgroup, sizeof(w->cgroup));
	text_of(r, nr, 3, w->board, sizeof(w->board));
	text_of(r, nr, 4, w->release, sizeof(w->release));
	text_of(r, nr, 5, w->params, sizeof(w->params));
	for (int i = 0; i < 5; i++)
		real[i] = strtod(PQgetvalue(r, nr, 6 + i), NULL);
	for (int i = 0; i < 3; i++)
		whole[i] = strtoull(PQgetvalue(r, nr, 11 + i), NULL, 10);
	w->batch = (uint32_t)whole[0];
	p->row = (struct jetwatt_db_row){
		.row = {
			.time_ms = real[0], .power_w = real[1], .time_sd = real[2], .power_sd = real[3],
		},
		.span_s = real[4], .minibatches = (uint32_t)whole[1], .lost = whole[2],
		.settled = *PQgetvalue(r, nr, 14) == 't',
		.when_ms = strtoll(PQgetvalue(r, nr, 15), NULL, 10),
	};
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional)
			jetwatt_mode_set(&p->row.row.mode, k,
					 strtoull(PQgetvalue(r, nr, at++), NULL, 10));
}

/* Fetch the rows of the cursor that the caller has opened, and pass them to @take in groups of up to
 * JETWATT_SYNC_ROWS. Each group is a statement of its own, because the time limit of a statement
 * includes the time in which @take stores the rows. Return: as jetwatt_server_pull(). */
static int fetch_rows(struct jetwatt_server *s, int (*take)(const struct jetwatt_pool_row *, size_t, void *),
		      void *arg)
{
	struct jetwatt_pool_row *row = calloc(JETWATT_SYNC_ROWS, sizeof(*row));
	int code = row ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, "out of memory", NULL, "cannot pull rows");
	int n = JETWATT_SYNC_ROWS;
	char sql[32];

	snprintf(sql, sizeof(sql), "FETCH %d FROM rows", JETWATT_SYNC_ROWS);
	while (!code && n == JETWATT_SYNC_ROWS) {
		PGresult *r = PQexec(s->pg, sql);

		n = PQntuples(r);
		if (PQresultStatus(r) != PGRES_TUPLES_OK || n > JETWATT_SYNC_ROWS)
			code = report_refused(s, r, "cannot read from the pool");
		for (int i = 0; i < n && !code; i++)
			read_row(r, i, &row[i]);
		PQclear(r);
		if (n && !code)
			code = take(row, (size_t)n, arg);
	}
	free(row);
	return code;
}

int jetwatt_server_pull(struct jetwatt_server *s, const char *device, const char *board,
			const char *since, char upto[32],
			int (*take)(const struct jetwatt_pool_row *row, size_t n, void *arg), void *arg)
{
	static const char what[] = "cannot read from the pool", sql[] =
		"DECLARE rows NO SCROLL CURSOR FOR"
		" SELECT m.device, command, cgroup, board, release, params, time_ms, power_w, time_sd,"
		" power_sd, span_s, batch, minibatches, lost, settled, when_ms"
		JETWATT_KNOB_REQUIRED(NAME) " FROM jetwatt.measurement m JOIN jetwatt.workload w ON w.key = m.workload"
		" WHERE w.board = $1 AND m.device <> $2 AND m.xact >= $3::xid8 AND m.xact < $4::xid8";
	/* All rows: also those of transactions that this server has yet to number, because a pool that was
	 * restored on another server keeps the numbers of its previous one. */
	const char *value[] = { board, device, "0", "18446744073709551615" };
	int code = query_value(s, "SELECT pg_snapshot_xmin(pg_current_snapshot())", upto, 32, what);

	if (code)
		return code;
	/* If the pool's position is lower than @since, the pool was restored from a backup, so pull
	 * all rows. */
	if (*since && strtoull(since, NULL, 10) <= strtoull(upto, NULL, 10)) {
		value[2] = since;
		value[3] = upto;
	}
	code = finish_command(s, PQexec(s->pg, "BEGIN READ ONLY"), what);
	if (!code)
		code = finish_command(s, PQexecParams(s->pg, sql, 4, NULL, value, NULL, NULL, 0), what);
	if (!code)
		code = fetch_rows(s, take, arg);
	return code ? code : finish_command(s, PQexec(s->pg, "COMMIT"), what);
}
