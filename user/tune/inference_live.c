// SPDX-License-Identifier: GPL-2.0-only
/*
 * optimize --latency with a job: measures the cells that the strategy chooses, then verifies the
 * answer.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/wait_job.h"
#include "out/terminal.h"
#include "tune/inference.h"
#include "util/clock.h"
#include "util/error.h"

/* Largest number of verifications. */
#define VERIFY_MAX	5

/**
 * struct live - a search with a running job
 * @f: query and answer
 * @l: candidates and rows
 * @job: the job, as the user has given it
 * @store_args: options of the profile database
 * @board: the board
 * @w: measurement session
 * @guard: restores the board
 * @store: profile database
 * @search: the strategy's search
 * @runs: minibatch size of the running job; 0: no job runs
 * @argv: the command of the job, with the minibatch size @runs filled in
 */
struct live {
	struct jetwatt_inference *f;
	struct jetwatt_tuner *l;
	const struct jetwatt_args_job *job;
	const struct jetwatt_profile_store_args *store_args;
	struct jetwatt_board *board;
	struct jetwatt_session w;
	struct jetwatt_mode_guard guard;
	struct jetwatt_profile_store store;
	struct jetwatt_strategy_search search;
	uint32_t runs;
	char **argv;
};

/* Return: a copy of @word with {batch} replaced by @size; NULL: out of memory. */
static char *live_fill_word(const char *word, uint32_t size)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	const char *at;

	while (f && (at = strstr(word, "{batch}"))) {
		fprintf(f, "%.*s%u", (int)(at - word), word, size);
		word = at + strlen("{batch}");
	}
	if (f) {
		fputs(word, f);
		fclose(f);
	}
	return out;
}

static void live_free_words(struct live *v)
{
	for (size_t i = 0; v->argv && v->argv[i]; i++)
		free(v->argv[i]);
	free(v->argv);
	v->argv = NULL;
}

/* Replace {batch} in the command of the job by @size. Return: 0, -ENOMEM. */
static int live_fill_words(struct live *v, uint32_t size)
{
	size_t n = 0;

	live_free_words(v);
	while (v->job->argv[n])
		n++;
	v->argv = calloc(n + 1, sizeof(*v->argv));
	for (size_t i = 0; i < n && v->argv; i++) {
		v->argv[i] = live_fill_word(v->job->argv[i], size);
		if (!v->argv[i])
			return -ENOMEM;
	}
	return v->argv ? 0 : -ENOMEM;
}

/* Stop the command, if there is one, and close the session. */
static void live_stop(struct live *v)
{
	jetwatt_session_end_command(&v->w);
	jetwatt_session_close(&v->w);
	jetwatt_session_init(&v->w);
	v->runs = 0;
}

/* Start the command with minibatches of @size samples, or attach to the running job; do nothing if
 * this has been done for @size. Return: 0, exit code. */
static int live_start(struct live *v, uint32_t size)
{
	struct jetwatt_args_job job = *v->job;
	struct jetwatt_profile_store_args args = *v->store_args;
	int err;

	if (v->runs == size)
		return 0;
	live_stop(v);
	if (job.argv && live_fill_words(v, size))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start the job");
	job.argv = job.argv ? v->argv : NULL;
	err = jetwatt_session_open(&v->w, v->board, 0);
	if (!err)
		err = jetwatt_session_job(&v->w, &job);
	args.batch = size;
	if (!err)
		err = jetwatt_profile_store_workload(&v->store, &args, v->board, &v->w, &job);
	v->runs = size;
	v->l->size = size;
	return err;
}

/* Measure a cell. Return: 0, exit code. */
static int live_measure(struct live *v, const struct jetwatt_cell *c, const char *why,
			const struct jetwatt_measure_limits *limits)
{
	char note[48];
	int err = live_start(v, v->f->size[c->size]);

	snprintf(note, sizeof(note), "%u: %s", v->f->size[c->size], why);
	if (!err)
		err = jetwatt_tuner_measure(v->l, c->mode, note, limits);
	return err ? err : jetwatt_strategy_search_add(&v->search, c);
}

/* Return: 1 if the server keeps within all limits with the time and power of @row at minibatches of
 * @size samples, else 0. */
static int live_within(const struct jetwatt_slice_query *q, uint32_t size, const struct jetwatt_row *row)
{
	double window_ms = 1e3 * size / q->arrival_hz;

	return row->power_w <= q->power_w && row->time_ms <= fmin(q->latency_ms - window_ms, window_ms);
}

/* Measure the best plan for longer, up to VERIFY_MAX times, until the best plan meets the limits in
 * its longer measurement. Return: 0, exit code. */
static int live_verify(struct live *v)
{
	struct jetwatt_workload_data *t = &v->search.known.work[0];
	struct jetwatt_inference *f = v->f;

	for (int i = 0; i < VERIFY_MAX; i++) {
		struct jetwatt_cell c = { .work = 0 };
		size_t at;
		int err, within;

		if (!jetwatt_observed_best(&v->search.known, &f->q, &f->plan))
			break;
		c.mode = f->plan.mode;
		c.size = f->plan.size[0];
		err = live_measure(v, &c, "proof", &jetwatt_measure_verify);
		if (err)
			return err;
		within = live_within(&f->q, f->size[c.size], &v->l->row[v->l->nr_rows - 1]);
		at = jetwatt_observed_at(&v->search.known, &c);
		if (within && jetwatt_observed_best(&v->search.known, &f->q, &f->plan) &&
		    f->plan.mode == c.mode && f->plan.size[0] == c.size)
			return 0;
		/* Either another plan is better now, or the verified plan exceeds a limit and is
		 * excluded. */
		if (!within)
			t->time_ms[at] = t->power_w[at] = NAN;
	}
	if (jetwatt_observed_best(&v->search.known, &f->q, &f->plan))
		return jetwatt_error_report(JETWATT_EXIT_INFEASIBLE,
					 "longer measurements give a different result each time",
					 "check for other load: jetwatt top",
					 "no answer could be verified");
	return jetwatt_inference_infeasible(f, v->l, t->time_ms, t->power_w);
}

static int live_search(struct live *v)
{
	struct jetwatt_inference *f = v->f;
	struct jetwatt_cell c;
	int err;

	v->search = (struct jetwatt_strategy_search){ .learn = v->l, .strategy = f->strategy,
						      .q = f->q, .max_modes = f->max_modes };
	err = jetwatt_strategy_search_open(&v->search, JETWATT_SLICE_INFER, f->size, f->sizes);
	v->l->max_measured = f->max_modes;
	v->l->begun_ns = jetwatt_clock_ns();
	if (!err && !v->l->silent)
		jetwatt_terminal_measured_heading("batch");
	while (!err) {
		err = jetwatt_strategy_search_next(&v->search, &c);
		if (!err)
			err = live_measure(v, &c, f->strategy->name, NULL);
	}
	return err == -ENODATA ? live_verify(v) : err;
}

static void live_report(const struct live *v, int stay)
{
	const struct jetwatt_inference *f = v->f;
	const struct jetwatt_slice_plan *p = &f->plan;
	char name[96] = "", limits[96];

	jetwatt_board_mode_format(&v->l->mode[p->mode], name, sizeof(name));
	printf("\n%s  minibatches of %u\n", name, f->size[p->size[0]]);
	printf("  measured   %8.2f ms, with queueing %.2f ms   %6.2f W\n",
	       jetwatt_inference_ms(f, p), p->latency_ms, p->power_w);
	printf("  limits     %s\n", jetwatt_inference_limits(&f->q, limits, sizeof(limits)));
	printf("%u modes and %zu measurements in %.0f s; ", v->l->measured, v->l->nr_rows - v->l->from_file,
	       (v->l->ended_ns - v->l->begun_ns) * 1e-9);
	printf(stay ? "the board stays in this mode\nto undo: jetwatt restore\n" :
	       "the board is back in its previous mode\n");
	jetwatt_error_flush(stdout);
}

int jetwatt_inference_live(struct jetwatt_inference *f, struct jetwatt_tuner *l,
			   const struct jetwatt_args_job *job,
			   const struct jetwatt_profile_store_args *args,
			   struct jetwatt_board *board, int stay, struct jetwatt_result *a)
{
	struct live v = { .f = f, .l = l, .job = job, .store_args = args, .board = board };
	int err = jetwatt_profile_store_open(&v.store, args), back = 0, held = 0, found;

	jetwatt_session_init(&v.w);
	l->session = &v.w;
	l->guard = &v.guard;
	l->store = &v.store;
	/* Rows of files may have other sizes than a single one that is measured, so all rows are
	 * written with their sizes. */
	l->sizes = 1;
	if (!err)
		err = jetwatt_tuner_label_rows(l, f->sizes == 1 ? f->size[0] : 0);
	if (!err) {
		err = jetwatt_mode_guard_hold(&v.guard, board);
		held = !err;
	}
	if (!err)
		err = live_search(&v);
	jetwatt_terminal_clear_progress(l->args);
	if (held && (err || !stay))
		back = jetwatt_mode_guard_restore(&v.guard);
	else if (held)
		jetwatt_mode_guard_keep(&v.guard);
	err = err ? err : back;
	if (!err) {
		f->measured = 1;
		a->inference = f;
		a->chosen = &l->mode[f->plan.mode];
		if (!l->silent)
			live_report(&v, stay);
	}
	if (!v.runs)
		l->session = NULL;
	found = !err;
	err = f->done(f->arg, a, err);
	/* The server continues also if a file could not be written. */
	if (found && stay && job->argv) {
		back = jetwatt_wait_job(&v.w, 0, jetwatt_wait_job_discard, &v.w) ?: jetwatt_wait_job_exit(&v.w);
		err = err ? err : back;
	}
	live_stop(&v);
	l->session = NULL;
	live_free_words(&v);
	jetwatt_strategy_search_close(&v.search);
	jetwatt_profile_store_close(&v.store);
	return err;
}
