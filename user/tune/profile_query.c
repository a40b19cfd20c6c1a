// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints profiles as table or JSON, and finds a profile by its key.
 */
#include "tune/profile_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "out/json.h"
#include "out/terminal.h"
#include "tune/profile_store.h"
#include "util/error.h"

/* Columns for the command in a table line, so that the line fits in 80 columns. */
#define COMMAND_WIDTH	33

static int profiles_open_db(const char *path, struct jetwatt_db **db)
{
	struct jetwatt_error_text e;
	char buf[256];
	int err;

	path = jetwatt_profile_store_path(path, buf, sizeof(buf));
	if (!strcmp(path, "none"))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "the database is set to none", "use --db FILE",
					    "no profile database to read");
	err = jetwatt_db_open(db, path, false, &e);
	return err ? jetwatt_profile_store_error(err, &e) : 0;
}

/* Format a time in milliseconds since 1970; "-" if it is 0. */
static void profiles_format_time(int64_t ms, char *buf, size_t len)
{
	time_t s = ms / 1000;
	struct tm tm;

	if (!ms || !localtime_r(&s, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M", &tm))
		snprintf(buf, len, "-");
}

static void profiles_line(const struct jetwatt_db_profile *p, int verbose)
{
	const struct jetwatt_workload *w = &p->workload;
	char last[32], command[JETWATT_WORKLOAD_TEXT], batch[16] = "-";
	char board[sizeof(w->board)], release[sizeof(w->release)], params[sizeof(w->params)];

	profiles_format_time(p->last_ms, last, sizeof(last));
	jetwatt_terminal_plain(w->command, command, verbose ? sizeof(command) : COMMAND_WIDTH + 1);
	if (w->batch)
		snprintf(batch, sizeof(batch), "%u", w->batch);
	printf("%-*.*s %5llu %5llu  %-16s %5s  %s\n", JETWATT_PROFILES_NAME, JETWATT_PROFILES_NAME,
	       p->key, (unsigned long long)p->modes, (unsigned long long)p->rows, last, batch,
	       command);
	if (!verbose)
		return;
	jetwatt_terminal_plain(w->cgroup, command, sizeof(command));
	/* Another device may have measured the workload. */
	printf("         %s, %s\n",
	       *w->board ? jetwatt_terminal_plain(w->board, board, sizeof(board)) : "board not known",
	       *w->release ? jetwatt_terminal_plain(w->release, release, sizeof(release)) :
	       "release not known");
	if (*w->params)
		printf("         %s\n", jetwatt_terminal_plain(w->params, params, sizeof(params)));
	if (*command)
		printf("         in %s\n", command);
	if (p->pooled)
		printf("         %llu measurements of other devices\n", (unsigned long long)p->pooled);
}

static void profiles_json(struct jetwatt_json *j, const struct jetwatt_db_profile *p)
{
	const struct jetwatt_workload *w = &p->workload;

	jetwatt_json_object(j, NULL);
	jetwatt_json_string(j, "key", p->key);
	jetwatt_json_string(j, "command", w->command);
	if (w->batch)
		jetwatt_json_uint(j, "batch", w->batch);
	else
		jetwatt_json_null(j, "batch");
	jetwatt_json_string(j, "cgroup", w->cgroup);
	jetwatt_json_string(j, "board", w->board);
	jetwatt_json_string(j, "release", w->release);
	jetwatt_json_string(j, "params", w->params);
	jetwatt_json_uint(j, "modes", p->modes);
	jetwatt_json_uint(j, "rows", p->rows);
	jetwatt_json_uint(j, "pooled", p->pooled);
	jetwatt_json_int(j, "first_ms", p->first_ms);
	jetwatt_json_int(j, "last_ms", p->last_ms);
	jetwatt_json_end(j);
}

int jetwatt_profiles_list(const char *path, int json, int verbose)
{
	struct jetwatt_db_profile *p = NULL;
	struct jetwatt_db *db = NULL;
	struct jetwatt_error_text e;
	struct jetwatt_json j;
	int err = profiles_open_db(path, &db), n;

	if (err)
		return err;
	n = jetwatt_db_profiles(db, &p, &e);
	if (n < 0) {
		err = jetwatt_profile_store_error(n, &e);
		goto out;
	}
	jetwatt_json_init(&j, stdout, 1);
	if (json)
		jetwatt_json_array(&j, NULL);
	else
		printf("PROFILE  MODES  ROWS  MEASURED         BATCH  COMMAND\n");
	for (int i = 0; i < n; i++)
		if (json)
			profiles_json(&j, &p[i]);
		else
			profiles_line(&p[i], verbose);
	if (json)
		jetwatt_json_end(&j);
out:
	free(p);
	jetwatt_db_close(db);
	return err;
}

int jetwatt_profiles_find(const char *path, const char *name, struct jetwatt_db **db,
			  struct jetwatt_db_profile *p)
{
	struct jetwatt_error_text e;
	int err = profiles_open_db(path, db);

	if (err)
		return err;
	err = jetwatt_db_find(*db, name ? name : "", p, &e);
	if (!err)
		return 0;
	jetwatt_db_close(*db);
	*db = NULL;
	if (err == -ENOTUNIQ && (!name || !*name))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "the database has several profiles",
					 "name one of the profiles: jetwatt list profiles",
					 "no profile was named");
	return jetwatt_profile_store_error(err, &e);
}
