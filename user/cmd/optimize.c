// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "choose.h"
#include "consult.h"
#include "error.h"
#include "follow.h"
#include "infer.h"
#include "offered.h"
#include "picture.h"
#include "reach.h"
#include "references.h"
#include "screen.h"
#include "verbs.h"

/* Modes kept back for candidates that only the prediction speaks for. */
#define RESERVE		2

enum { PROFILE = JETWATT_ARGS_LONG, MODES, MOST, JSON, PREDICTIONS, APPLY, DRY_RUN, WAIT,
       TIME, LEAST, RISK, MINIBATCHES, FRONT, PRESETS, PLOT, EXPLAIN, LATENCY, ARRIVAL,
       STRATEGY, VERIFY };

struct input {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	struct jetwatt_keep_args keep;
	struct jetwatt_references reference;
	const char *profile, *modes, *out, *json, *predictions, *presets, *plot;
	struct jetwatt_plan_question ask;
	double wait_s;
	long most, verify, minibatches;
	int least, front, apply, dry_run, explain;
	struct jetwatt_explain why;
	struct jetwatt_infer infer;
};

static const struct argp_option options[] = {
	{ "power", 'w', "WATTS", 0, "The budget: mean power of the module", 0 },
	{ "time-ms", TIME, "MS", 0, "From a profile: most time for a minibatch", 0 },
	{ "least", LEAST, "WHAT", 0,
	  "From a profile: time, power or energy; default: time, with --time-ms alone power", 0 },
	{ "risk", RISK, "P", 0, "Accepted probability of breaking a limit (0.05)", 0 },
	{ "minibatches", MINIBATCHES, "N", 0, "Of an epoch or a job: their time and energy too", 0 },
	{ "latency", LATENCY, "MS", 0,
	  "Of an inference server: most time until the slowest answer; with --arrival, --batch", 0 },
	{ "arrival", ARRIVAL, "HZ", 0, "Requests a second", 0 },
	{ "strategy", STRATEGY, "NAME", 0, "With --latency: auto, gmd or als", 0 },
	{ "front", FRONT, NULL, 0, "From a profile: all modes that no other one beats", 0 },
	{ "explain", EXPLAIN, NULL, 0, "Say what binds there and what a step of each knob would change", 0 },
	{ "pid", 'p', "PID", 0, "The running job", 0 },
	{ "profile", PROFILE, "FILE.csv", 0, "What was measured before", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Choose among these modes; default: all of this board", 0 },
	{ "most", MOST, "N", 0, "Modes to measure at most (20)", 0 },
	{ "verify", VERIFY, "K", 0,
	  "Of these, at most K candidates of the prediction; default: 2, or what is left", 0 },
	{ "presets", PRESETS, "FILE", 0, "Compare with these (/etc/nvpmodel.conf)", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write after every mode; go on with what is there", 0 },
	{ "json", JSON, "FILE", 0, "All that was found, as JSON (-: standard output)", 0 },
	{ "predictions", PREDICTIONS, "FILE.csv", 0, "Write the predictions of all modes", 0 },
	{ "plot", PLOT, "FILE", 0, "Draw it: FILE.svg, FILE.png or FILE.html", 0 },
	{ "apply", APPLY, NULL, 0, "Without a job: switch to the answer, unproven", 0 },
	{ "dry-run", DRY_RUN, NULL, 0, "With a job: bring the board back at the end", 0 },
	{ "wait", WAIT, "SECONDS", 0, "Patience with a job that does nothing on the GPU (30s)", 0 },
	{ 0 }
};

static int least(const char *what)
{
	static const char *const word[] = { "time", "power", "energy", NULL };

	for (int i = 0; word[i]; i++)
		if (!strcmp(what, word[i]))
			return i;
	exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "time, power or energy",
			       "--least: there is no \"%s\"", what));
}

static int names_batch(char **argv)
{
	int n = 0;

	for (; argv && *argv; argv++)
		n += strstr(*argv, "{batch}") != NULL;
	return n;
}

/* A question about an inference server. */
static void server(struct input *in)
{
	struct jetwatt_infer *f = &in->infer;
	int job = in->job.pid || in->job.argv;

	if (!(f->q.latency_ms > 0 && f->q.arrival_hz > 0 && in->ask.power_w > 0))
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--power 30W --latency 100ms --arrival 60Hz",
				       "a server needs a budget, a latency and a rate of requests"));
	if (in->ask.time_ms > 0 || in->least > 0 || in->front || in->explain || in->plot ||
	    in->predictions || in->minibatches || in->presets)
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--json FILE has all of the answer",
				       "with --latency there are only the limits, --batch, --strategy and --most"));
	if (job && !in->keep.sizes)
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--batch 1,4,16,32",
				       "which minibatch sizes?"));
	if (in->job.pid && in->keep.sizes > 1)
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, "a running server has one minibatch size",
				       "--batch N, or a command: -- server --batch {batch}",
				       "-p: several sizes"));
	if (in->job.argv && in->keep.sizes > 1 && !names_batch(in->job.argv))
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "-- server --batch {batch}",
				       "nothing tells the command its minibatch size"));
	memcpy(f->size, in->keep.size, sizeof(f->size));
	f->sizes = in->keep.sizes;
	f->q.power_w = in->ask.power_w;
	f->risk = in->ask.risk;
	f->strategy = f->strategy ? f->strategy : &jetwatt_strategy_auto;
	f->most = in->most ? (size_t)in->most : f->strategy->modes;
}

static void finish(struct input *in)
{
	struct jetwatt_plan_question *q = &in->ask;
	int job = in->job.pid || in->job.argv;

	jetwatt_args_one_job(&in->job, 0);
	if (in->infer.q.latency_ms > 0 || in->infer.q.arrival_hz > 0 || in->infer.strategy)
		server(in);
	else if (in->keep.sizes > 1)
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--latency 100ms --arrival 60Hz",
				       "--batch: several sizes are for a server"));
	if (!(q->power_w > 0 || q->time_ms > 0))
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--power 30W",
				       "no power budget"));
	if (!job && !in->profile)
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL,
				       "-p PID or -- COMMAND to measure a job, --profile FILE.csv to answer from what was measured",
				       "neither a job nor a profile"));
	/* A running job is searched for one thing only: to be fast in a budget. */
	if (job && (q->time_ms > 0 || in->least > 0 || in->front))
		exit(jetwatt_error_say(JETWATT_EXIT_USAGE,
				       "a job is only made as fast as a budget lets it be",
				       "jetwatt profile -o FILE.csv for the job, then --profile FILE.csv without it",
				       "--time-ms, --least and --front need a profile"));
	in->most = in->most ? in->most : JETWATT_LEARN_MOST;
	q->least = in->least >= 0 ? in->least :
		   q->power_w > 0 ? JETWATT_LEAST_TIME : JETWATT_LEAST_POWER;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case 'w':
		in->ask.power_w = jetwatt_args_quantity("--power", arg, "W", 0.1, 1000);
		break;
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case PROFILE:
		in->profile = arg;
		break;
	case MODES:
		in->modes = arg;
		break;
	case MOST:
		in->most = jetwatt_args_count("--most", arg, 3, 10000);
		break;
	case VERIFY:
		in->verify = jetwatt_args_count("--verify", arg, 0, 10000);
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = arg;
		break;
	case PREDICTIONS:
		in->predictions = arg;
		break;
	case PRESETS:
		in->presets = arg;
		break;
	case PLOT:
		in->plot = jetwatt_picture_path("--plot", arg);
		break;
	case TIME:
		in->ask.time_ms = jetwatt_args_quantity("--time-ms", arg, "ms", 1e-3, 1e7);
		break;
	case LEAST:
		in->least = least(arg);
		break;
	case RISK:
		in->ask.risk = jetwatt_args_quantity("--risk", arg, "", 1e-6, 0.5);
		break;
	case MINIBATCHES:
		in->minibatches = jetwatt_args_count("--minibatches", arg, 1, 1000000000000);
		break;
	case LATENCY:
		in->infer.q.latency_ms = jetwatt_args_quantity("--latency", arg, "ms", 1e-3, 1e7);
		break;
	case ARRIVAL:
		in->infer.q.arrival_hz = jetwatt_args_quantity("--arrival", arg, "Hz", 1e-3, 1e6);
		break;
	case STRATEGY:
		in->infer.strategy = jetwatt_strategy_find(arg);
		if (!in->infer.strategy)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "auto, gmd or als",
					       "--strategy: there is no \"%s\"", arg));
		break;
	case FRONT:
		in->front = 1;
		break;
	case EXPLAIN:
		in->explain = 1;
		break;
	case APPLY:
		in->apply = 1;
		break;
	case DRY_RUN:
		in->dry_run = 1;
		break;
	case WAIT:
		in->wait_s = jetwatt_args_quantity("--wait", arg, "s", 1, 86400);
		break;
	case ARGP_KEY_ARG:
		jetwatt_args_command(&in->job, state);
		break;
	case ARGP_KEY_END:
		finish(in);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void say(const struct jetwatt_learn *l, const struct jetwatt_answer *a,
		const struct jetwatt_choose *c, int kept)
{
	const struct jetwatt_row *r = &c->proof;
	const char *on = jetwatt_screen_paint(l->args, 'g'), *off = jetwatt_screen_plain(l->args);
	char name[96] = "", mode[64];

	jetwatt_board_mode_format(&r->mode, name, sizeof(name));
	printf("\n%s%s%s  %s\n", on, name, off,
	       jetwatt_screen_mode(&r->mode, mode, sizeof(mode)));
	printf("  measured   %10.2f ms/minibatch +- %.1f %%   %6.2f W +- %.1f %%   budget %g W\n",
	       r->time_ms, 100 * r->time_sd, r->power_w, 100 * r->power_sd, l->budget_w);
	printf("  predicted  %10.2f ms/minibatch +- %.1f %%   %6.2f W +- %.1f %%\n",
	       c->predicted.time_ms, 100 * c->predicted.time_sd, c->predicted.power_w,
	       100 * c->predicted.power_sd);
	/* What counts against the budget is not what the module draws. */
	if (!strcmp(l->watch->scope, "partial sum"))
		printf("  these W are a partial sum, the module draws more: jetwatt list rails\n");
	jetwatt_baseline_print(a->baseline, l, r->time_ms);
	printf("%u of %zu modes measured in %.0f s; ", l->measured, l->nr_modes,
	       (l->ended_ns - l->begun_ns) * 1e-9);
	printf(kept ? "the board stays in this mode\nwhat was before: jetwatt restore\n" :
	       "the board is as before\n");
	fflush(stdout);
}

static int with_job(struct jetwatt_learn *l, const struct input *in, struct jetwatt_answer *a,
		    struct jetwatt_choose *c)
{
	size_t most = in->most, keep = in->verify < 0 ? RESERVE : in->verify, left;
	int err;

	l->most = most;
	l->begun_ns = jetwatt_watch_now();
	if (!l->silent)
		jetwatt_screen_head();
	err = jetwatt_learn_run(l, most > 3 + keep ? most - keep : most);
	left = most > l->measured ? most - l->measured : 0;
	if (in->verify >= 0 && left > keep)
		left = keep;
	if (!err)
		err = jetwatt_choose_prove(l, left, c);
	if (err)
		return err;
	a->chosen = &l->mode[c->index];
	a->predicted = &c->predicted;
	a->measured = &c->proof;
	return 0;
}

static int draw(const struct input *in, const struct jetwatt_answer *a)
{
	struct jetwatt_row chosen = { .time_ms = 0 };

	if (a->measured)
		chosen = *a->measured;
	else if (a->chosen)
		chosen = (struct jetwatt_row){ .mode = *a->chosen, .time_ms = a->predicted->time_ms,
					       .power_w = a->predicted->power_w };
	return jetwatt_picture_front(in->plot, a->learn, a->baseline, a->board,
				     a->chosen ? &chosen : NULL);
}

static int explain(struct input *in, struct jetwatt_answer *a)
{
	const struct jetwatt_learn *l = a->learn;
	int err;

	if (!in->explain || !a->chosen || !l->prediction)
		return 0;
	err = jetwatt_explain(l->model, l->mode, l->prediction, l->nr_modes, a->chosen - l->mode,
			      &in->why);
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err),
					 jetwatt_error_advice(err), "cannot explain the answer");
	a->explain = &in->why;
	if (!l->silent)
		jetwatt_explain_print(a->explain, l->mode, l->prediction, l->budget_w);
	return 0;
}

static int written(const struct input *in, const struct jetwatt_answer *a)
{
	int err = in->json ? jetwatt_answer_json(a, in->json) : 0;

	if (in->predictions && a->learn->prediction)
		err = jetwatt_answer_predictions(a->learn, in->predictions) ?: err;
	return in->plot ? draw(in, a) ?: err : err;
}

static int watched(struct jetwatt_learn *l, struct input *in, struct jetwatt_board *board,
		   struct jetwatt_answer *a, struct jetwatt_choose *c)
{
	struct jetwatt_keep keep = { .db = NULL };
	struct jetwatt_guard guard;
	struct jetwatt_watch w;
	int err, back = 0;

	err = jetwatt_watch_open(&w, board, 0);
	if (!err)
		err = jetwatt_keep_open(&keep, &in->keep);
	if (!err)
		err = jetwatt_guard_hold(&guard, board);
	if (err)
		goto out;
	l->watch = &w;
	l->guard = &guard;
	l->keep = &keep;
	err = jetwatt_watch_job(&w, &in->job);
	if (!err)
		err = jetwatt_keep_workload(&keep, &in->keep, board, &w, &in->job);
	if (!err && in->keep.reuse)
		err = jetwatt_learn_reuse(l);
	if (!err)
		err = with_job(l, in, a, c);
	jetwatt_screen_clear(&in->args);
	if (err || in->dry_run)
		back = jetwatt_guard_back(&guard);
	else
		jetwatt_guard_keep(&guard);
	err = err ? err : back;
	if (!err && !l->silent) {
		say(l, a, c, !in->dry_run);
		jetwatt_answer_totals(a);
	}
	if (!err)
		err = explain(in, a);
	if (!err || err == JETWATT_EXIT_INFEASIBLE)
		err = written(in, a) ?: err;
	/* The command goes on in the mode that was chosen; its status is ours. */
	if (!err && in->job.argv)
		err = jetwatt_follow(&w, 0, jetwatt_follow_forget, &w) ?: jetwatt_follow_exit(&w);
	jetwatt_child_stop(&w.child);
out:
	jetwatt_keep_close(&keep);
	jetwatt_watch_close(&w);
	return err;
}

/* Go on with what an interrupted run has written: its modes are ours. */
static int resume(struct jetwatt_learn *l, const struct input *in)
{
	size_t before = jetwatt_learn_known(l);
	int err;

	if (!in->out || (in->profile && !strcmp(in->out, in->profile)))
		return 0;
	err = jetwatt_learn_read(l, in->out, 0);
	if (err)
		return err;
	l->measured = jetwatt_learn_known(l) - before;
	if (l->measured)
		jetwatt_error_note("%u modes are in %s already", l->measured, in->out);
	return 0;
}

int jetwatt_cmd_optimize(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_keep_argp, offsetof(struct input, keep) },
		{ &jetwatt_references_argp, offsetof(struct input, reference) }, { NULL, 0 },
	};
	struct input in = { .verify = -1, .wait_s = 30, .least = -1,
			    .ask.risk = JETWATT_LEARN_RISK };
	struct jetwatt_learn l = { .args = &in.args };
	struct jetwatt_choose c = { 0 };
	struct jetwatt_baseline baseline = { .presets = NULL };
	struct jetwatt_answer a = { .learn = &l, .baseline = &baseline };
	struct jetwatt_board *board = NULL;
	int err, job;

	jetwatt_args_parse_with("optimize",
				"--power WATTS -p PID\n--power WATTS -- COMMAND [ARGUMENT...]\n"
				"--power WATTS --profile FILE.csv\n--time-ms MS --profile FILE.csv\n"
				"--power WATTS --latency MS --arrival HZ [--batch N,N...] --profile FILE.csv\n"
				"--power WATTS --latency MS --arrival HZ --batch N,N... -- SERVER... {batch}",
				"Find the fastest power mode within a budget.\v"
				"With a job: measures a few modes, predicts the others, switches to the "
				"best one and proves by measuring that the budget holds; the mode stays, "
				"jetwatt restore takes it back. Without a job: answers from a profile.",
				options, parse, group, argc, argv, &in);
	job = in.job.pid || in.job.argv;
	l.budget_w = in.ask.power_w;
	l.risk = in.ask.risk;
	a.minibatches = in.minibatches;
	l.wait_s = in.wait_s;
	l.out = in.out;
	l.silent = in.args.quiet || (in.json && !strcmp(in.json, "-"));
	/* From a profile and a list of modes alone, no board is needed. */
	err = job || in.apply || !in.modes ? jetwatt_reach_board(&board) : 0;
	if (err)
		return err;
	a.board = board ? jetwatt_board_name(board) : "";
	err = jetwatt_learn_modes(&l, board, in.modes);
	if (!err && board && in.modes)
		err = jetwatt_offered(board, l.mode, &l.nr_modes, in.modes);
	if (!err && !in.infer.strategy)
		err = jetwatt_baseline_open(&baseline, &l, board, in.presets);
	if (!err)
		err = jetwatt_references_learn(&in.reference, &l.prior, JETWATT_LEARN_SEED);
	l.sizes = in.infer.strategy != NULL;
	if (l.sizes)
		a.baseline = NULL;
	if (!err && in.profile)
		err = jetwatt_learn_read(&l, in.profile, 1);
	if (!err && job)
		err = resume(&l, &in);
	if (!err && job && in.infer.strategy)
		err = jetwatt_infer_live(&in.infer, &l, &in.job, &in.keep, board, !in.dry_run, &a);
	else if (!err && job)
		err = watched(&l, &in, board, &a, &c);
	else if (!err && in.infer.strategy)
		err = jetwatt_infer_consult(&in.infer, &l, in.apply ? board : NULL, &a);
	else if (!err)
		err = jetwatt_consult(&l, &in.ask, in.front, in.apply ? board : NULL, &a);
	if (!err && !job && !l.silent && !in.infer.strategy)
		jetwatt_baseline_print(&baseline, &l, a.predicted ? a.predicted->time_ms : 0);
	if (!err && !job)
		err = explain(&in, &a);
	if ((!job || in.infer.strategy) && (!err || err == JETWATT_EXIT_INFEASIBLE))
		err = written(&in, &a) ?: err;
	jetwatt_baseline_close(&baseline);
	jetwatt_learn_free(&l);
	jetwatt_board_close(board);
	return err;
}
