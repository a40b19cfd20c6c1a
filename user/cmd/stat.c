// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "follow.h"
#include "measure.h"
#include "meter.h"
#include "reach.h"
#include "summary.h"
#include "verbs.h"

enum { RATE = JETWATT_ARGS_LONG, JSON, FOR };

struct input {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	const char *out;
	double for_s, rate_hz;
	int json;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "The running job, until it ends or SIGINT", 0 },
	{ "for", FOR, "SECONDS", 0, "With -p: no longer than that", 0 },
	{ "rate", RATE, "HZ", 0, "Samples a second; default: the highest possible rate", 0 },
	{ "output", 'o', "FILE", 0, "Write there, not to standard output", 0 },
	{ "json", JSON, NULL, 0, "As JSON", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case FOR:
		in->for_s = jetwatt_args_quantity("--for", arg, "s", 0.1, 1e7);
		break;
	case RATE:
		in->rate_hz = jetwatt_args_quantity("--rate", arg, "Hz", 1, 1e6);
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		jetwatt_args_command(&in->job, state);
		break;
	case ARGP_KEY_END:
		jetwatt_args_one_job(&in->job, 1);
		if (in->for_s > 0 && in->job.argv)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL,
					       "stat -- COMMAND measures it to its end",
					       "--for is for a running job"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int unwritable(const struct input *in)
{
	return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno),
				 "-o names a file that can be written; is the disk full?",
				 "cannot write %s", in->out);
}

static int show(const struct input *in, struct jetwatt_meter *m, FILE *f)
{
	struct jetwatt_summary s;
	int err = jetwatt_summary_make(&s, m);

	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot add up the run");
	if (in->json)
		jetwatt_summary_json(&s, f);
	else
		jetwatt_summary_print(&s, f, &in->args);
	/* What fails on standard output is for main() to say. */
	return f != stdout && (fflush(f) || ferror(f)) ? unwritable(in) : 0;
}

static int run(const struct input *in, struct jetwatt_watch *w, FILE *f)
{
	struct jetwatt_meter m;
	int err = jetwatt_watch_job(w, &in->job);

	if (err)
		return err;
	jetwatt_meter_begin(&m, w);
	err = jetwatt_follow(w, in->for_s, jetwatt_meter_run, &m);
	if (!err) {
		uint64_t end = w->ended ? w->ended_ns : jetwatt_watch_now();

		jetwatt_watch_settle(w);
		err = w->failed ? jetwatt_watch_why(w) : jetwatt_meter_end(&m, end) ?
		      jetwatt_error_say(JETWATT_EXIT_FAILED, NULL, NULL, "cannot add up the run") :
		      show(in, &m, f);
	}
	jetwatt_meter_free(&m);
	return err ? err : jetwatt_follow_exit(w);
}

int jetwatt_cmd_stat(int argc, char **argv)
{
	struct input in = { 0 };
	struct jetwatt_board *board = NULL;
	struct jetwatt_watch w;
	FILE *f = stdout;
	int err;

	jetwatt_args_parse("stat", "-p PID\n-- COMMAND [ARGUMENT...]",
			   "Time, power and energy per minibatch of an unmodified training job.\v"
			   "With a command, its exit status is that of stat.", options, parse, argc,
			   argv, &in);
	err = jetwatt_reach_board(&board);
	if (err)
		return err;
	err = jetwatt_watch_open(&w, board, in.rate_hz);
	/* Before the job: a run of hours is not measured for nothing. */
	if (!err && in.out && strcmp(in.out, "-")) {
		f = fopen(in.out, "we");
		if (!f)
			err = unwritable(&in);
		in.args.color = 0;
	}
	if (!err)
		err = run(&in, &w, f);
	if (f && f != stdout)
		fclose(f);
	jetwatt_child_stop(&w.child);
	jetwatt_watch_close(&w);
	jetwatt_board_close(board);
	return err;
}
