// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt import: read measured modes from a CSV file (store/csv.h) into the profile database
 * (store/db.h).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "store/csv.h"
#include "tune/corpus.h"
#include "tune/profile_query.h"
#include "tune/profile_store.h"
#include "util/args.h"
#include "util/error.h"

enum { COMMAND = JETWATT_ARGS_LONG, BOARD, RELEASE, BATCH, INTO, JSON };

struct import_input {
	struct jetwatt_args args;
	const char *db, *file, *command, *board, *release, *into;
	long batch;
	int json;
};

static const struct argp_option options[] = {
	{ "command", COMMAND, "TEXT", 0, "Command that was measured; default: the name of the file", 0 },
	{ "batch", BATCH, "N", 0, "Samples per minibatch, if the file has no column batch", 0 },
	{ "board", BOARD, "NAME", 0, "Board on which the file was measured; default: this board, if it is a Jetson", 0 },
	{ "release", RELEASE, "TEXT", 0, "Software release of that board; default: that of this board, or empty if --board is given", 0 },
	{ "into", INTO, "PROFILE", 0, "Add the rows to this existing profile; rows of another minibatch size form their own", 0 },
	{ "json", JSON, NULL, 0, "Print the numbers of rows and of new rows as JSON", 0 },
	{ 0 }
};

static error_t import_parse(int key, char *arg, struct argp_state *state)
{
	struct import_input *in = state->input;

	switch (key) {
	case COMMAND:
		in->command = arg;
		break;
	case BATCH:
		in->batch = jetwatt_args_count("--batch", arg, 1, 1 << 24);
		break;
	case BOARD:
		in->board = arg;
		break;
	case RELEASE:
		in->release = arg;
		break;
	case INTO:
		in->into = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		if (in->file)
			argp_error(state, "only one file can be imported at a time");
		in->file = arg;
		break;
	case ARGP_KEY_END:
		if (!in->file)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt import FILE.csv --command \"python3 train.py\"",
					       "no file is given"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Add the rows whose minibatch size is @batch to the profile @id: one minibatch size is one
 * workload. Return: number of new rows, or a negative errno with the error in @e. */
static int import_size(struct jetwatt_db *db, int64_t id, const struct jetwatt_row *row,
		       const uint32_t *size, int n, uint32_t batch, struct jetwatt_error_text *e)
{
	struct jetwatt_db_row *out = calloc((size_t)n, sizeof(*out));
	size_t m = 0;
	int rc;

	if (!out) {
		snprintf(e->why, sizeof(e->why), "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (int i = 0; i < n; i++)
		if (size[i] == batch)
			out[m++] = (struct jetwatt_db_row){ .row = row[i], .settled = true };
	rc = jetwatt_db_add(db, id, out, m, e);
	free(out);
	return rc;
}

static void import_describe(const struct import_input *in, struct jetwatt_workload *w)
{
	const char *base = strrchr(in->file, '/');
	struct jetwatt_board_roots_in at;
	struct jetwatt_board *board = NULL;

	snprintf(w->command, sizeof(w->command), "%s", in->command ? in->command :
		 base ? base + 1 : in->file);
	if (!in->board &&
	    !jetwatt_board_open(&board, jetwatt_board_roots_in(getenv("JETWATT_ROOT"), &at), NULL) &&
	    jetwatt_board_is_jetson(board)) {
		snprintf(w->board, sizeof(w->board), "%s", jetwatt_board_name(board));
		jetwatt_board_release(board, w->release, sizeof(w->release));
	}
	jetwatt_board_close(board);
	if (in->board)
		snprintf(w->board, sizeof(w->board), "%s", in->board);
	if (in->release)
		snprintf(w->release, sizeof(w->release), "%s", in->release);
}

static int import_rows(const struct import_input *in, const struct jetwatt_row *row,
		       const uint32_t *size, int n)
{
	struct jetwatt_workload w = { .batch = 0 };
	struct jetwatt_error_text e = { "cannot import",
					"a value of the file is not finite, or out of range", "" };
	struct jetwatt_db_profile p;
	struct jetwatt_db *db = NULL;
	struct jetwatt_json j;
	char buf[256];
	const char *path = jetwatt_profile_store_path(in->db, buf, sizeof(buf));
	int err, fresh = 0, rc;

	if (!strcmp(path, "none"))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "the database is set to none", "use --db FILE",
					 "no profile database to import into");
	if (in->into) {
		err = jetwatt_profiles_find(in->db, in->into, &db, &p);
		jetwatt_db_close(db);
		db = NULL;
		if (err)
			return err;
		w = p.workload;
	} else {
		import_describe(in, &w);
	}
	rc = jetwatt_db_open(&db, path, true, &e);
	for (int i = 0; i < n && rc >= 0; i++) {
		int64_t id;
		int first = 1;

		for (int k = 0; k < i && first; k++)
			first = size[k] != size[i];
		if (!first)
			continue;
		if (size[i] || in->batch)
			w.batch = size[i] ? size[i] : (uint32_t)in->batch;
		rc = jetwatt_db_workload(db, &w, &id, &e);
		if (!rc)
			rc = import_size(db, id, row, size, n, size[i], &e);
		fresh += rc > 0 ? rc : 0;
	}
	jetwatt_db_close(db);
	if (rc < 0)
		return jetwatt_profile_store_error(rc, &e);
	if (in->json) {
		jetwatt_json_init(&j, stdout, 1);
		jetwatt_json_object(&j, NULL);
		jetwatt_json_int(&j, "rows", n);
		jetwatt_json_int(&j, "new", fresh);
		jetwatt_json_end(&j);
	} else if (!in->args.quiet) {
		printf("%d of %d rows are new; the others were in the database already\n", fresh,
		       n);
	}
	return 0;
}

int jetwatt_cmd_import(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_db_argp, offsetof(struct import_input, db) }, { NULL, 0 },
	};
	struct import_input in = { .batch = 0 };
	struct jetwatt_csv_error e = { 0 };
	struct jetwatt_row *row = NULL;
	uint32_t *size = NULL;
	int err = 0, n;

	jetwatt_args_parse_with("import", "FILE.csv",
				"Import measured modes from a file into the profile database.\v"
				"Rows that are in the database already are not added again.", options, import_parse, group, argc, argv, &in);
	n = jetwatt_csv_read(in.file, &row, &size, &e);
	if (n < 0)
		return jetwatt_references_unreadable(in.file, n, &e);
	for (int i = 0; i < n && !err; i++)
		if (isnan(row[i].time_ms))
			err = jetwatt_error_report(JETWATT_EXIT_FAILED,
						"the file lacks the columns time_ms and power_w",
						"jetwatt profile -o FILE.csv writes such a file",
						"%s is a list of modes, not a profile", in.file);
	if (!err)
		err = import_rows(&in, row, size, n);
	free(row);
	free(size);
	return err;
}
