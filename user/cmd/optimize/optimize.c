// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt optimize: find, apply and verify the fastest power mode within a budget, on a running
 * job, or answer from a profile. The search is in tune/; this file connects it to the board, the
 * job and the output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/optimize/optimize.h"
#include "cmd/verbs.h"
#include "measure/connect.h"
#include "measure/wait_job.h"
#include "out/terminal.h"
#include "tune/knob_option.h"
#include "tune/mode_filter.h"
#include "tune/offline.h"
#include "tune/plot_file.h"
#include "tune/verify.h"
#include "util/clock.h"
#include "util/error.h"

/* Default number of modes that are reserved, out of the number given with --most, for verifying
 * predicted candidates. */
#define RESERVE		2

static void optimize_print_result(const struct jetwatt_tuner *l, const struct jetwatt_result *a,
				  const struct jetwatt_verify *c, int kept)
{
	const struct jetwatt_row *r = &c->proof;
	const char *on = jetwatt_terminal_color(l->args, 'g'), *off = jetwatt_terminal_color_end(l->args);
	char name[96] = "", mode[64];

	if (a->tokens) {
		jetwatt_token_print(a->tokens, l, a->baseline, c);
		goto end;
	}
	jetwatt_board_mode_format(&r->mode, name, sizeof(name));
	printf("\n%s%s%s  %s\n", on, name, off,
	       jetwatt_terminal_mode(&r->mode, mode, sizeof(mode)));
	printf("  measured   %10.2f ms/minibatch +- %.1f %%   %6.2f W +- %.1f %%   budget %g W\n",
	       r->time_ms, 100 * r->time_sd, r->power_w, 100 * r->power_sd, l->budget_w);
	printf("  predicted  %10.2f ms/minibatch +- %.1f %%   %6.2f W +- %.1f %%\n",
	       c->predicted.time_ms, 100 * c->predicted.time_sd, c->predicted.power_w,
	       100 * c->predicted.power_sd);
	/* The sum of some rails only may be less than the power of the module. */
	if (!strcmp(l->session->scope, "partial sum"))
		printf("  these W may be only a part of the module's: jetwatt list rails\n");
	jetwatt_preset_compare_print(a->baseline, l, r->time_ms);
end:
	printf("%u of %zu modes measured in %.0f s; ", l->measured, l->nr_modes,
	       (l->ended_ns - l->begun_ns) * 1e-9);
	printf(kept ? "the board stays in this mode\nto undo: jetwatt restore\n" :
	       "the board is back in its previous mode\n");
	jetwatt_error_flush(stdout);
}

static int set_result(const struct jetwatt_tuner *l, struct jetwatt_result *a, const struct jetwatt_verify *c)
{
	a->chosen = &l->mode[c->index];
	a->predicted = &c->predicted;
	a->measured = &c->proof;
	return 0;
}

static int search_and_verify(struct jetwatt_tuner *l, const struct jetwatt_optimize *in,
			     struct jetwatt_result *a, struct jetwatt_verify *c)
{
	size_t most = in->most, reserved = in->verify < 0 ? RESERVE : in->verify, left;
	int err;

	l->max_measured = most;
	l->begun_ns = jetwatt_clock_ns();
	if (!l->silent)
		jetwatt_terminal_measured_heading("batch");
	err = jetwatt_tuner_run(l, most > 3 + reserved ? most - reserved : most);
	left = most > l->measured ? most - l->measured : 0;
	if (in->verify >= 0 && left > reserved)
		left = reserved;
	if (!err)
		err = jetwatt_verify_best(l, left, c);
	return err ? err : set_result(l, a, c);
}

static int search_tokens(struct jetwatt_tuner *l, struct jetwatt_optimize *in, struct jetwatt_result *a,
			 struct jetwatt_verify *c)
{
	int err = jetwatt_units_resolve(&in->tokens.units);

	a->tokens = &in->tokens;
	if (!err)
		err = jetwatt_token_search(&in->tokens, l, in->most, c);
	return err ? err : set_result(l, a, c);
}

static int optimize_draw(const struct jetwatt_optimize *in, const struct jetwatt_result *a)
{
	struct jetwatt_row chosen = { .time_ms = 0 };

	if (a->measured)
		chosen = *a->measured;
	else if (a->chosen)
		chosen = (struct jetwatt_row){ .mode = *a->chosen, .time_ms = a->predicted->time_ms,
					       .power_w = a->predicted->power_w };
	return jetwatt_plot_front(in->plot, a->learn, a->baseline, a->board, true,
				     a->chosen ? &chosen : NULL);
}

static int optimize_explain(struct jetwatt_optimize *in, struct jetwatt_result *a)
{
	const struct jetwatt_tuner *l = a->learn;
	int err;

	if (!in->explain || !a->chosen || !l->prediction)
		return 0;
	err = jetwatt_explain(l->model, l->mode, l->prediction, l->nr_modes, a->chosen - l->mode,
			      &in->why);
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 jetwatt_error_advice(err),
					 "cannot explain the chosen mode");
	a->explain = &in->why;
	if (!l->silent)
		jetwatt_explain_print(a->explain, l->mode, l->prediction, l->budget_w);
	return 0;
}

static int optimize_write_files(const struct jetwatt_optimize *in, const struct jetwatt_result *a)
{
	int err = in->json ? jetwatt_result_json(a, in->json) : 0;

	if (in->predictions && a->learn->prediction)
		err = jetwatt_result_predictions(a->learn, in->predictions) ?: err;
	return in->plot ? optimize_draw(in, a) ?: err : err;
}

/* Write the files if a search has an answer, or has found that there is none. Return: exit code. */
static int optimize_done(void *arg, const struct jetwatt_result *a, int err)
{
	return !err || err == JETWATT_EXIT_INFEASIBLE ? optimize_write_files(arg, a) ?: err : err;
}

static int optimize_job(struct jetwatt_tuner *l, struct jetwatt_optimize *in,
			struct jetwatt_board *board,
			struct jetwatt_result *a, struct jetwatt_verify *c)
{
	struct jetwatt_profile_store store = { .db = NULL };
	struct jetwatt_mode_guard guard;
	struct jetwatt_session w;
	int err, back = 0, found, per = in->tokens.units.nr > 0;

	err = jetwatt_session_open(&w, board, 0);
	if (!err && !per)
		err = jetwatt_profile_store_open(&store, &in->store);
	if (!err)
		err = jetwatt_mode_guard_hold(&guard, board);
	if (err)
		goto out;
	l->session = &w;
	l->guard = &guard;
	l->store = per ? NULL : &store;
	err = jetwatt_session_job(&w, &in->job);
	if (!err && !per)
		err = jetwatt_profile_store_workload(&store, &in->store, board, &w, &in->job);
	if (!err && in->store.reuse)
		err = jetwatt_tuner_reuse(l);
	if (!err)
		err = per ? search_tokens(l, in, a, c) : search_and_verify(l, in, a, c);
	jetwatt_terminal_clear_progress(&in->args);
	if (err || in->dry_run)
		back = jetwatt_mode_guard_restore(&guard);
	else
		jetwatt_mode_guard_keep(&guard);
	err = err ? err : back;
	found = !err;
	if (!err && !l->silent) {
		optimize_print_result(l, a, c, !in->dry_run);
		if (!per)
			jetwatt_result_totals(a);
	}
	if (!err)
		err = optimize_explain(in, a);
	err = optimize_done(in, a, err);
	/* The command continues, with --dry-run in the previous mode, also if a file could not be
	 * written; its exit status becomes that of jetwatt if there was no error. */
	if (found && in->job.argv) {
		back = jetwatt_wait_job(&w, 0, jetwatt_wait_job_discard, &w) ?: jetwatt_wait_job_exit(&w);
		err = err ? err : back;
	}
	jetwatt_session_end_command(&w);
out:
	jetwatt_profile_store_close(&store);
	jetwatt_session_close(&w);
	return err;
}

/* Read a file of measurements. Those of another kind of board say little about the modes of this one, and
 * the answer would be a guess. @must: 1: the file must exist. Return: 0, exit code. */
static int read_measurements(struct jetwatt_tuner *l, const char *path, int must)
{
	size_t before = l->nr_rows;
	int err = jetwatt_tuner_read(l, path, must);

	if (err || !jetwatt_references_foreign(l->row + before, l->nr_rows - before, l->mode, l->nr_modes))
		return err;
	return jetwatt_error_report(JETWATT_EXIT_USAGE, "its GPU clocks are those of another kind of board",
				    "measure the job on this kind of board: jetwatt profile -o FILE.csv -p PID",
				    "cannot use the measurements in %s", path);
}

/* Continue from the file of an interrupted run. The modes in this file count as measured by this
 * run. */
static int resume_from_file(struct jetwatt_tuner *l, const struct jetwatt_optimize *in)
{
	size_t before = jetwatt_tuner_known(l);
	int err = 0;

	if (!in->out || (in->profile && !strcmp(in->out, in->profile)))
		return 0;
	/* The file has a column batch. If the profile has none, --batch states the size of its rows. */
	if (in->inference.strategy && in->inference.sizes == 1)
		err = jetwatt_tuner_label_rows(l, in->inference.size[0]);
	if (!err)
		err = read_measurements(l, in->out, 0);
	if (err)
		return err;
	l->measured = jetwatt_tuner_known(l) - before;
	if (l->measured)
		jetwatt_notice("%u modes are already in %s", l->measured, in->out);
	return 0;
}

/* A search on a job takes minutes, so check first whether its result can be written. */
static int optimize_check_files(const struct jetwatt_optimize *in)
{
	const char *path[] = { in->out, in->json, in->predictions, in->plot };
	int err = 0;

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]) && !err; i++)
		err = jetwatt_args_writable(path[i]);
	return err;
}

int jetwatt_cmd_optimize(int argc, char **argv)
{
	struct jetwatt_optimize in;
	struct jetwatt_tuner l = { .args = &in.args };
	struct jetwatt_verify c = { 0 };
	struct jetwatt_preset_compare baseline = { .presets = NULL };
	struct jetwatt_result a = { .learn = &l, .baseline = &baseline };
	struct jetwatt_board *board = NULL;
	int err, job;

	jetwatt_optimize_parse(argc, argv, &in);
	job = in.job.pid || in.job.argv;
	l.budget_w = in.ask.power_w;
	l.risk = in.ask.risk;
	l.by.by = in.method;
	in.inference.done = optimize_done;
	in.inference.arg = &in;
	a.minibatches = in.minibatches;
	l.wait_s = in.wait_s;
	l.out = in.out;
	l.silent = in.args.quiet || (in.json && !strcmp(in.json, "-"));
	/* Without a job and without --apply, a list of modes replaces the board. */
	err = job ? optimize_check_files(&in) : 0;
	if (!err && (job || in.apply || !in.modes))
		err = jetwatt_open_knobs(&board);
	if (err)
		return err;
	a.board = board ? jetwatt_board_name(board) : "";
	err = jetwatt_knob_use(board, in.knobs);
	if (!err)
		err = jetwatt_tuner_modes(&l, board, in.modes);
	if (!err && board && in.modes)
		err = jetwatt_mode_filter(board, l.mode, &l.nr_modes, in.modes);
	if (!err && !in.inference.strategy)
		err = jetwatt_preset_compare_open(&baseline, &l, board, in.presets);
	if (!err)
		err = jetwatt_references_learn(&in.reference, &l.by, l.mode, l.nr_modes, JETWATT_TUNER_SEED);
	l.sizes = in.inference.strategy != NULL;
	if (l.sizes)
		a.baseline = NULL;
	if (!err && in.profile)
		err = read_measurements(&l, in.profile, 1);
	if (!err && job)
		err = resume_from_file(&l, &in);
	if (!err && job && in.inference.strategy)
		err = jetwatt_inference_live(&in.inference, &l, &in.job, &in.store, board,
					     !in.dry_run, &a);
	else if (!err && job)
		err = optimize_job(&l, &in, board, &a, &c);
	else if (!err && in.inference.strategy)
		err = jetwatt_inference_offline(&in.inference, &l, in.apply ? board : NULL, &a);
	else if (!err)
		err = jetwatt_offline(&l, &in.ask, in.front, in.apply ? board : NULL, &a);
	if (!err && !job && !l.silent && !in.inference.strategy)
		jetwatt_preset_compare_print(&baseline, &l, a.measured ? a.measured->time_ms :
					     a.predicted ? a.predicted->time_ms : 0);
	if (!err && !job)
		err = optimize_explain(&in, &a);
	if (!job)
		err = optimize_done(&in, &a, err);
	jetwatt_preset_compare_close(&baseline);
	jetwatt_tokens_free(&in.tokens);
	jetwatt_tuner_free(&l);
	jetwatt_board_close(board);
	return err;
}
