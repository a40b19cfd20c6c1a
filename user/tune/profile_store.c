// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the identity of workloads, parses the options of the profile database, and reads and
 * adds its rows.
 */
#include "tune/profile_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/drift.h"
#include "store/pool.h"
#include "util/error.h"
#include "util/settings.h"

enum { DB = JETWATT_ARGS_COMMON + 0x20, REUSE, BATCH };

#define DB_OPTION	{ "db", DB, "FILE", 0, "Profile database; none: store nothing; default: the setting db, or " JETWATT_DB_PATH, 1 }

static const struct argp_option options[] = {
	DB_OPTION,
	{ "reuse", REUSE, NULL, 0, "Start with the measurements of the same workload in the database", 1 },
	{ "batch", BATCH, "N[,N...]", 0,
	  "Samples per minibatch; default: from the job's command line. With --latency: a list of sizes", 1 },
	{ 0 }
};

static const struct argp_option db_options[] = { DB_OPTION, { 0 } };

/* Parse --batch: one size, or several to choose from. */
static void store_parse_batch(struct jetwatt_profile_store_args *a, char *text)
{
	char *save, *word;

	a->sizes = 0;
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		uint32_t size = jetwatt_args_count("--batch", word, 1, 1 << 24);

		if (jetwatt_slice_size(a->size, &a->sizes, size))
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, NULL,
					       "--batch: more than %d sizes", JETWATT_SLICE_SIZES));
	}
	if (!a->sizes)
		jetwatt_args_count("--batch", "", 1, 1 << 24);
	a->batch = a->sizes == 1 ? a->size[0] : 0;
}

static error_t store_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_profile_store_args *a = state->input;

	switch (key) {
	case DB:
		a->path = arg;
		break;
	case REUSE:
		a->reuse = 1;
		break;
	case BATCH:
		store_parse_batch(a, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t store_parse_db(int key, char *arg, struct argp_state *state)
{
	const char **path = state->input;

	if (key != DB)
		return ARGP_ERR_UNKNOWN;
	*path = arg;
	return 0;
}

const struct argp jetwatt_profile_store_argp = { options, store_parse, NULL, NULL, NULL, NULL, NULL };
const struct argp jetwatt_profile_store_db_argp = {
	db_options, store_parse_db, NULL, NULL, NULL, NULL, NULL
};

const char *jetwatt_profile_store_path(const char *option, char *buf, size_t len)
{
	const char *path = option ? option : jetwatt_settings_get("db", buf, len);

	return path ? path : JETWATT_DB_PATH;
}

int jetwatt_profile_store_error(int err, const struct jetwatt_error_text *e)
{
	int code = err == -ENOENT || err == -ENOTUNIQ ? JETWATT_EXIT_USAGE :
		   err == -EROFS ? JETWATT_EXIT_PERMISSION :
		   err == -EPERM ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED;

	return jetwatt_error_report(code, e->why, *e->fix ? e->fix : NULL, "%s", e->what);
}

/* A user who did not ask for the database still gets the measurement. Return: 0, exit code. */
static int store_refused(struct jetwatt_profile_store *k, int err, const struct jetwatt_error_text *e)
{
	int code = 0;

	if (k->must)
		code = jetwatt_profile_store_error(err, e);
	else
		jetwatt_notice("%s: %s; measurements are not kept. %s", e->what, e->why,
				   e->fix);
	jetwatt_profile_store_close(k);
	return code;
}

int jetwatt_profile_store_open(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args)
{
	struct jetwatt_error_text e;
	char buf[256];
	const char *path = jetwatt_profile_store_path(args->path, buf, sizeof(buf));
	int err;

	*k = (struct jetwatt_profile_store){ .must = args->path || args->reuse };
	if (!strcmp(path, "none"))
		return args->reuse ? jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
						       "leave out --reuse or --db none",
						       "--reuse needs a database") :
				     0;
	err = jetwatt_db_open(&k->db, path, true, &e);
	return err ? store_refused(k, err, &e) : 0;
}

/* Read /proc/PID/LEAF. Return: number of bytes read; 0 if the file cannot be read. */
static size_t store_read_proc(pid_t pid, const char *leaf, char *buf, size_t len)
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, leaf);
	f = fopen(path, "re");
	if (f) {
		n = fread(buf, 1, len - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
	return n;
}

static void store_set_command(struct jetwatt_workload *w, char **arg, int n)
{
	const char *const *words = (const char *const *)arg;

	jetwatt_workload_command(words, n, w->command, sizeof(w->command));
	w->batch = jetwatt_workload_batch(words, n);
}

/* Set command and minibatch size from the command line of a running process. */
static void store_command_of(struct jetwatt_workload *w, pid_t pid)
{
	static char text[65536];
	char *arg[1024];
	size_t len = store_read_proc(pid, "cmdline", text, sizeof(text)), at = 0;
	int n = 0;

	while (at < len && n < 1024) {
		arg[n++] = text + at;
		at += strlen(text + at) + 1;
	}
	store_set_command(w, arg, n);
}

void jetwatt_profile_store_command(pid_t pid, char *buf, size_t len)
{
	struct jetwatt_workload w = { .batch = 0 };

	store_command_of(&w, pid);
	snprintf(buf, len, "%s", w.command);
}

/* Set the part of the identity that is not of the job: board, settings, rails, co-running jobs. */
static void store_describe_board(struct jetwatt_workload *what, const struct jetwatt_board *board,
				 const char *scope, const char *corunners)
{
	size_t at;

	snprintf(what->board, sizeof(what->board), "%s", jetwatt_board_name(board));
	jetwatt_board_release(board, what->release, sizeof(what->release));
	jetwatt_board_params(board, what->params, sizeof(what->params));
	/* Power of other rails is not comparable, so the choice of rails is part of the identity. */
	at = strlen(what->params);
	if (strcmp(scope, "module"))
		snprintf(what->params + at, sizeof(what->params) - at, "%spower=%s", at ? " " : "",
			 strcmp(scope, "board") ? "partial" : "board");
	at = strlen(what->params);
	if (corunners && *corunners)
		snprintf(what->params + at, sizeof(what->params) - at, "%sbeside=%s", at ? " " : "",
			 corunners);
}

/* Set the whole identity: command, minibatch size, cgroup, and what store_describe_board() sets. */
static void store_describe(struct jetwatt_workload *what, const struct jetwatt_profile_store_args *args,
			   const struct jetwatt_board *board, const char *scope, pid_t pid,
			   char **argv)
{
	char line[4096];
	int n = 0;

	memset(what, 0, sizeof(*what));
	if (argv) {
		while (argv[n])
			n++;
		store_set_command(what, argv, n);
	} else {
		store_command_of(what, pid);
	}
	if (args->batch)
		what->batch = (uint32_t)args->batch;
	store_read_proc(pid, "cgroup", line, sizeof(line));
	jetwatt_workload_cgroup(line, what->cgroup, sizeof(what->cgroup));
	store_describe_board(what, board, scope, args->corunners);
}

uint64_t jetwatt_profile_store_known(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args,
			    const struct jetwatt_board *board, const char *scope, pid_t pid)
{
	char key[JETWATT_WORKLOAD_KEY];
	struct jetwatt_db_profile p;
	struct jetwatt_workload what;
	struct jetwatt_error_text e;

	store_describe(&what, args, board, scope, pid, NULL);
	jetwatt_workload_key(&what, key);
	return k->db && !jetwatt_db_find(k->db, key, &p, &e) ? p.modes : 0;
}

/* Get the id of the described workload. Return: 0, exit code. */
static int store_use_workload(struct jetwatt_profile_store *k)
{
	struct jetwatt_error_text e;
	int err;

	jetwatt_workload_key(&k->workload, k->key);
	err = jetwatt_db_workload(k->db, &k->workload, &k->id, &e);
	return err ? store_refused(k, err, &e) : 0;
}

int jetwatt_profile_store_workload(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *args,
			  const struct jetwatt_board *board, const struct jetwatt_session *w,
			  const struct jetwatt_args_job *job)
{
	if (!k->db)
		return 0;
	store_describe(&k->workload, args, board, w->scope, w->pid, job->argv);
	return store_use_workload(k);
}

int jetwatt_profile_store_calibration(struct jetwatt_profile_store *k, const struct jetwatt_board *board,
				      const struct jetwatt_session *w, const char *name)
{
	memset(&k->workload, 0, sizeof(k->workload));
	snprintf(k->workload.command, sizeof(k->workload.command), JETWATT_WORKLOAD_CALIBRATION "%s", name);
	store_describe_board(&k->workload, board, w->scope, NULL);
	return store_use_workload(k);
}

int jetwatt_profile_store_forget(struct jetwatt_profile_store *k, size_t keep)
{
	struct jetwatt_error_text e;
	int n = jetwatt_db_forget(k->db, k->id, keep, &e);

	return n < 0 ? store_refused(k, n, &e) : 0;
}

/* Read the rows of the workload @id, as jetwatt_profile_store_rows(). Return: number of rows, negative errno. */
static int store_rows_of(struct jetwatt_profile_store *k, int64_t id, struct jetwatt_row **row, int *outdated,
			 struct jetwatt_error_text *e)
{
	struct jetwatt_db_row *db = NULL;
	int n = jetwatt_db_rows(k->db, id, &db, e), from;

	*row = n > 0 ? malloc((size_t)n * sizeof(**row)) : NULL;
	if (n > 0 && !*row) {
		*e = (struct jetwatt_error_text){ "cannot read the measurements of this workload", "out of memory", "" };
		n = -ENOMEM;
	}
	for (int i = 0; i < n; i++)
		(*row)[i] = db[i].row;
	free(db);
	if (n <= 0 || !outdated)
		return n;
	from = (int)jetwatt_rows_find_drift(*row, (size_t)n, NULL);
	memmove(*row, *row + from, (size_t)(n - from) * sizeof(**row));
	*outdated = from;
	return n - from;
}

int jetwatt_profile_store_rows(struct jetwatt_profile_store *k, struct jetwatt_row **row, int *outdated)
{
	struct jetwatt_error_text e;
	int n = store_rows_of(k, k->id, row, outdated, &e);

	return n < 0 ? -1 - jetwatt_profile_store_error(n, &e) : n;
}

int jetwatt_profile_store_prior(struct jetwatt_profile_store *k, struct jetwatt_row **row)
{
	struct jetwatt_error_text e;
	int n = jetwatt_pool_read_prior(k->db, &k->workload, row, &e);

	return n < 0 ? -1 - jetwatt_profile_store_error(n, &e) : n;
}

/* Return: 1 if both workloads were measured on the same kind of board, with the same software
 * release, rails and settings, else 0. */
static int store_same_board(const struct jetwatt_workload *a, const struct jetwatt_workload *b)
{
	return !strcmp(a->board, b->board) && !strcmp(a->release, b->release) &&
	       !strcmp(a->params, b->params);
}

/* Return: 1 if a stored workload may serve as a reference of the current workload, else 0. */
static int store_is_reference(const struct jetwatt_profile_store *k, const struct jetwatt_db_profile *p)
{
	return p->modes >= JETWATT_REFERENCE_MODES && strcmp(p->key, k->key) &&
	       store_same_board(&p->workload, &k->workload);
}

static int store_is_calibration(const struct jetwatt_db_profile *p)
{
	const char *command = p->workload.command;

	return !strncmp(command, JETWATT_WORKLOAD_CALIBRATION, strlen(JETWATT_WORKLOAD_CALIBRATION));
}

int jetwatt_profile_store_others(struct jetwatt_profile_store *k, struct jetwatt_corpus *c, size_t max)
{
	struct jetwatt_db_profile *p = NULL;
	struct jetwatt_error_text e;
	int n = jetwatt_db_profiles(k->db, &p, &e), err = n < 0 ? n : 0;
	struct jetwatt_row *row;
	int rows, outdated = 0;
	size_t found = 0;

	for (int i = 0; i < 2 * n && found < max && !err; i++) {
		const struct jetwatt_db_profile *at = &p[i % n];

		if (store_is_calibration(at) != (i >= n) || !store_is_reference(k, at))
			continue;
		rows = store_rows_of(k, at->id, &row, &outdated, &e);
		if (rows > 0)
			c[found++] = (struct jetwatt_corpus){ row, NULL, (size_t)rows };
		err = rows < 0 ? rows : 0;
	}
	free(p);
	if (!err)
		return (int)found;
	while (found)
		free((void *)c[--found].row);
	return -1 - jetwatt_profile_store_error(err, &e);
}

int jetwatt_profile_store_add(struct jetwatt_profile_store *k, const struct jetwatt_measure *m, uint64_t lost)
{
	struct jetwatt_error_text e = { "cannot store this mode",
					"the measured time or power is not finite and positive",
					"" };
	struct jetwatt_db_row row = {
		.row = m->row, .minibatches = m->batches, .span_s = m->span_s,
		.settled = m->settled, .lost = lost,
	};
	struct timespec now;
	int n;

	if (!k->db)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	row.when_ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
	n = jetwatt_db_add(k->db, k->id, &row, 1, &e);
	return n < 0 ? store_refused(k, n, &e) : 0;
}

void jetwatt_profile_store_close(struct jetwatt_profile_store *k)
{
	jetwatt_db_close(k->db);
	k->db = NULL;
}
