// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt profile: measure a running job in a few power modes and store the rows. Which mode to
 * measure next is decided by plan/ (default), by a strategy (--strategy) or by jetwatt_plan_descend()
 * (--descending). With --seed-board, calibration kernels are measured instead of a job (seed.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/profile/seed.h"
#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/terminal.h"
#include "tune/corpus.h"
#include "tune/knob_option.h"
#include "tune/method.h"
#include "tune/mode_filter.h"
#include "tune/result.h"
#include "tune/strategy_search.h"
#include "tune/tuner.h"
#include "util/clock.h"
#include "util/error.h"

enum { MODES = JETWATT_ARGS_LONG, MOST, JSON, WAIT, UNTIL, DESCENDING, STRATEGY, SEED, PROGRAM };

/* Below this number of rows, the model's standard deviations are too unreliable for --until. */
#define ROWS_MIN	6

struct profile_input {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	struct jetwatt_profile_store_args store;
	struct jetwatt_references reference;
	const struct jetwatt_predictor *method;
	unsigned int knobs;
	const char *modes, *out, *json, *program;
	double power_w, wait_s, until;
	long most;
	int descending, seed;
	const struct jetwatt_strategy *strategy;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "Measure this running process and its children", 0 },
	{ "power", 'w', "WATTS", 0, "Choose modes for predicting power and time near this budget; default: for predicting all modes", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Measure only modes in this file", 0 },
	{ "most", MOST, "N", 0, "Maximum number of modes; default: 20 (gmd 15, als 50, --seed-board 16)", 0 },
	{ "strategy", STRATEGY, "NAME", 0,
	  "Strategy that selects the modes: auto, gmd (for a budget) or als (for all budgets); default: auto", 0 },
	{ "until", UNTIL, "PCT", 0, "Stop when the 95 % intervals of time and power are within PCT percent on average", 0 },
	{ "descending", DESCENDING, NULL, 0,
	  "Never raise the CPU or GPU clock, for boards that can only lower them", 0 },
	{ "seed-board", SEED, NULL, 0, "Measure calibration kernels instead of a job, as references for the first job", 0 },
	{ "program", PROGRAM, "FILE", 0,
	  "With --seed-board: program that runs kernels, called as FILE FLOP BYTES LAUNCHES; default: compiled by nvcc", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write the profile after each mode; modes in an existing file are kept", 0 },
	{ "json", JSON, "FILE", 0, "Write the result as JSON; -: standard output", 0 },
	{ "wait", WAIT, "SECONDS", 0, "Time limit for a job to give the GPU work; default: 30s", 0 },
	{ 0 }
};

/* Check the options that depend on --strategy, and set the default of --most. "auto" is stored as
 * NULL: the plan of jetwatt_tuner_one(), without a strategy object. */
static void check_strategy(struct profile_input *in)
{
	if (in->strategy == &jetwatt_strategy_auto)
		in->strategy = NULL;
	if (in->store.sizes > 1)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "a profile describes the job as it runs now, with one minibatch size",
				       "give one size: --batch N; jetwatt optimize --latency can choose among several sizes",
				       "--batch: only one size is allowed here"));
	if (in->method && in->strategy)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "this strategy does not use a prediction method", "--strategy auto",
				       "--method cannot be combined with --strategy %s",
				       in->strategy->name));
	if (in->strategy && (in->descending || in->until > 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "only the strategy auto has these options", "--strategy auto",
				       "--descending and --until cannot be combined with --strategy %s",
				       in->strategy->name));
	if (in->strategy == &jetwatt_strategy_gmd && !(in->power_w > 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "the strategy searches downwards from a power budget",
				       "--power 30W",
				       "--strategy gmd needs a power budget"));
	if (!in->most)
		in->most = in->seed ? JETWATT_SEED_MODES : in->strategy ? (long)in->strategy->modes : JETWATT_TUNER_MAX_MODES;
}

/* Check the options that depend on --seed-board. */
static void check_seed(const struct profile_input *in)
{
	if (!in->seed && in->program)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--seed-board",
				       "--program is used only with --seed-board"));
	if (!in->seed)
		return;
	if (in->job.pid || in->job.argv)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "calibration kernels need an idle GPU",
				       "leave out -p and the command",
				       "--seed-board cannot be combined with a job"));
	if (in->power_w > 0 || in->strategy || in->until > 0 || in->descending || in->out || in->json ||
	    in->method || in->reference.n || in->store.reuse || in->store.sizes)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "give only --most, --modes, --knob, --program, --db and --wait",
				       "this option cannot be combined with --seed-board"));
	if (in->most && in->most < JETWATT_REFERENCE_MODES)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "fewer modes do not cover the board", NULL,
				       "--seed-board needs a --most of at least %d", JETWATT_REFERENCE_MODES));
}

static error_t profile_parse(int key, char *arg, struct argp_state *state)
{
	struct profile_input *in = state->input;

	switch (key) {
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case 'w':
		in->power_w = jetwatt_args_quantity("--power", arg, "W", 0.1, 1000);
		break;
	case MODES:
		in->modes = arg;
		break;
	case MOST:
		in->most = jetwatt_args_count("--most", arg, 3, 10000);
		break;
	case UNTIL:
		in->until = jetwatt_args_quantity("--until", arg, "%", 0.1, 100) / 100;
		break;
	case STRATEGY:
		in->strategy = jetwatt_strategy_find(arg);
		if (!in->strategy)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "auto, gmd or als",
					       "--strategy: unknown strategy \"%s\"", arg));
		break;
	case DESCENDING:
		in->descending = 1;
		break;
	case SEED:
		in->seed = 1;
		break;
	case PROGRAM:
		in->program = arg;
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = arg;
		break;
	case WAIT:
		in->wait_s = jetwatt_args_quantity("--wait", arg, "s", 1, 86400);
		break;
	case ARGP_KEY_ARG:
		jetwatt_args_command(&in->job, state);
		break;
	case ARGP_KEY_END:
		check_seed(in);
		jetwatt_args_one_job(&in->job, !in->seed);
		check_strategy(in);
		if (in->descending && in->power_w > 0)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
					       "a search under a budget must be able to raise the clocks too",
					       "leave out --descending or --power",
					       "--descending and --power cannot be combined"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Check whether the mean half width of the 95 % intervals is at most @until. Sets @done. Return: 0,
 * or an exit code after printing the error. */
static int check_until(struct jetwatt_tuner *l, double until, int *done)
{
	double spread;
	int err;

	if (!(until > 0) || l->nr_rows < ROWS_MIN)
		return 0;
	err = jetwatt_tuner_predict(l);
	if (err)
		return err;
	spread = jetwatt_plan_uncertainty(l->prediction, l->nr_modes, l->budget_w);
	*done = spread <= until;
	if (*done)
		jetwatt_notice("time and power are known to +- %.1f %% (mean half width of the 95 %% intervals)", 100 * spread);
	return 0;
}

/* Measure the modes that the strategy asks for, until the strategy has no further mode to measure.
 * Return: -ENODATA: no further mode; or an exit code. */
static int profile_by_strategy(struct jetwatt_tuner *l, const struct profile_input *in)
{
	static const uint32_t size = 0;
	struct jetwatt_strategy_search s = { .learn = l, .strategy = in->strategy, .q.power_w = in->power_w,
				  .max_modes = in->most };
	struct jetwatt_cell c;
	int err = jetwatt_strategy_search_open(&s, JETWATT_SLICE_TRAIN, &size, 1);

	while (!err) {
		err = jetwatt_strategy_search_next(&s, &c);
		if (!err)
			err = jetwatt_tuner_measure(l, c.mode, s.strategy->name, NULL);
		if (!err)
			err = jetwatt_strategy_search_add(&s, &c);
	}
	jetwatt_strategy_search_close(&s);
	return err;
}

static int profile_measure(struct jetwatt_tuner *l, const struct profile_input *in)
{
	int err = jetwatt_tuner_read(l, in->out ? in->out : "", 0);
	size_t known;
	int done = 0;

	if (!err && l->from_file)
		jetwatt_notice("%zu modes are already in %s", jetwatt_tuner_known(l), in->out);
	if (!err && in->store.reuse)
		err = jetwatt_tuner_reuse(l);
	if (err)
		return err;
	known = jetwatt_tuner_known(l);
	l->max_measured = (size_t)in->most > known ? in->most - known : 0;
	l->begun_ns = jetwatt_clock_ns();
	if (!l->silent)
		jetwatt_terminal_measured_heading("batch");
	err = in->strategy ? profile_by_strategy(l, in) : check_until(l, in->until, &done);
	while (!err && !done && !in->strategy) {
		err = jetwatt_tuner_one(l, in->most);
		if (!err)
			err = check_until(l, in->until, &done);
	}
	return err == -ENODATA ? 0 : err;
}

static int profile_seed(struct profile_input *in, struct jetwatt_board *board)
{
	char buf[256];
	struct jetwatt_seed seed = { &in->args, in->store, in->program, in->modes, (size_t)in->most, in->wait_s };

	/* Set the path even if it is the default: then a failure of the database is an error. */
	seed.store.path = jetwatt_profile_store_path(in->store.path, buf, sizeof(buf));
	if (!strcmp(seed.store.path, "none"))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--db FILE",
					    "--seed-board needs a database");
	return jetwatt_seed_board(&seed, board);
}

static int profile_run(struct profile_input *in, struct jetwatt_board *board,
		       struct jetwatt_session *w)
{
	struct jetwatt_mode_guard guard;
	struct jetwatt_profile_store store = { .db = NULL };
	struct jetwatt_tuner l = {
		.args = &in->args, .by.by = in->method, .session = w, .guard = &guard,
		.store = &store, .out = in->out,
		.budget_w = in->power_w, .wait_s = in->wait_s, .down = in->descending,
		.silent = in->args.quiet || (in->json && !strcmp(in->json, "-")),
	};
	struct jetwatt_result a = { .board = jetwatt_board_name(board), .learn = &l };
	int err = jetwatt_tuner_modes(&l, board, in->modes), back;

	if (!err && in->modes)
		err = jetwatt_mode_filter(board, l.mode, &l.nr_modes, in->modes);
	/* Read the reference profiles before the job starts: learning from them takes time, and the
	 * files may be invalid. */
	if (!err)
		err = jetwatt_references_learn(&in->reference, &l.by, NULL, 0, JETWATT_TUNER_SEED);
	if (!err)
		err = jetwatt_profile_store_open(&store, &in->store);
	if (!err)
		err = jetwatt_mode_guard_hold(&guard, board);
	if (err)
		goto out;
	err = jetwatt_session_job(w, &in->job);
	if (!err)
		err = jetwatt_profile_store_workload(&store, &in->store, board, w, &in->job);
	if (!err)
		err = profile_measure(&l, in);
	jetwatt_terminal_clear_progress(&in->args);
	back = jetwatt_mode_guard_restore(&guard);
	err = err ? err : back;
	if (!err && in->json)
		err = jetwatt_result_json(&a, in->json);
	if (!err && !l.silent)
		printf("%u new modes measured in %.0f s; the board is back in its previous mode%s%s\n", l.measured,
		       l.ended_ns ? (l.ended_ns - l.begun_ns) * 1e-9 : 0.0,
		       in->out ? ". Next: jetwatt predict --profile " : "",
		       in->out ? in->out : "");
	jetwatt_session_end_command(w);
out:
	jetwatt_profile_store_close(&store);
	jetwatt_tuner_free(&l);
	return err;
}

int jetwatt_cmd_profile(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_argp, offsetof(struct profile_input, store) },
		{ &jetwatt_references_argp, offsetof(struct profile_input, reference) },
		{ &jetwatt_method_argp, offsetof(struct profile_input, method) },
		{ &jetwatt_knob_argp, offsetof(struct profile_input, knobs) }, { NULL, 0 },
	};
	struct profile_input in = { .wait_s = 30 };
	struct jetwatt_board *board = NULL;
	struct jetwatt_session w;
	int err;

	jetwatt_args_parse_with("profile", "-p PID\n-- COMMAND [ARGUMENT...]\n--seed-board",
				"Measure time and power of a training job in a few power modes.\v"
				"The knobs are restored at the end, also after an error or a signal. A "
				"command is ended by SIGTERM when the profile is complete.",
				options, profile_parse, group, argc, argv, &in);
	/* A profile takes minutes, so check first whether it can be written. */
	err = jetwatt_args_writable(in.out) ?: jetwatt_args_writable(in.json);
	if (!err)
		err = jetwatt_open_knobs(&board);
	if (err)
		return err;
	err = jetwatt_knob_use(board, in.knobs);
	if (err) {
		jetwatt_board_close(board);
		return err;
	}
	if (in.seed) {
		err = profile_seed(&in, board);
		goto out;
	}
	err = jetwatt_session_open(&w, board, 0);
	if (!err)
		err = profile_run(&in, board, &w);
	jetwatt_session_close(&w);
out:
	jetwatt_board_close(board);
	return err;
}
