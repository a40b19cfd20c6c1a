// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt optimize: parse and check the command line. */
#include "cmd/optimize/optimize.h"

#include <stdlib.h>
#include <string.h>

#include "tune/knob_option.h"
#include "tune/method.h"
#include "tune/plot_file.h"
#include "util/error.h"

enum { PROFILE = JETWATT_ARGS_LONG, MODES, MOST, JSON, PREDICTIONS, APPLY, DRY_RUN, WAIT,
       TIME, LEAST, RISK, MINIBATCHES, FRONT, PRESETS, PLOT, EXPLAIN, LATENCY, ARRIVAL,
       STRATEGY, VERIFY, PER, RATE, TTFT, TPOT };

static const struct argp_option options[] = {
	{ "power", 'w', "WATTS", 0, "Power budget: limit for the mean power of the module", 0 },
	{ "time-ms", TIME, "MS", 0, "From a profile, or with --per: limit for the time of a minibatch, or per unit", 0 },
	{ "least", LEAST, "WHAT", 0,
	  "From a profile, or with --per: minimise time, power or energy; default: time with --power; without it energy with --per, else power", 0 },
	{ "risk", RISK, "P", 0, "Accepted probability that a limit is exceeded; default: 0.05", 0 },
	{ "minibatches", MINIBATCHES, "N", 0, "Print the time and energy of N minibatches too", 0 },
	{ "latency", LATENCY, "MS", 0,
	  "Latency limit of an inference server; with --power and --arrival", 0 },
	{ "arrival", ARRIVAL, "HZ", 0, "Arrival rate: requests per second", 0 },
	{ "strategy", STRATEGY, "NAME", 0, "With --latency and a job: auto, gmd or als; default: auto", 0 },
	{ "per", PER, "NAME=SOURCE", 0, "With a job: search by time and energy per unit of a counter of the job, for example token=URL#METRIC", 0 },
	{ "rate", RATE, "N", 0, "With --per: minimum number of units per second", 0 },
	{ "ttft", TTFT, "MS", 0, "With --per: limit for the mean time to the first token", 0 },
	{ "tpot", TPOT, "MS", 0, "With --per: limit for the mean time per output token of a request", 0 },
	{ "front", FRONT, NULL, 0, "From a profile: print the Pareto front of time and power", 0 },
	{ "explain", EXPLAIN, NULL, 0, "Print what limits the chosen mode, and the effect of the next level of each knob", 0 },
	{ "pid", 'p', "PID", 0, "Measure this running process and its children", 0 },
	{ "profile", PROFILE, "FILE.csv", 0, "Use the measurements in this file; without a job, other modes are predicted from them", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Choose among the modes in this file; default: all modes of the board", 0 },
	{ "most", MOST, "N", 0, "Maximum number of modes to measure; default: 20 (with --latency 15, als 50)", 0 },
	{ "verify", VERIFY, "K", 0,
	  "Of the modes of --most, measure at most K that are best by prediction; default: 2, plus those that the search did not use", 0 },
	{ "presets", PRESETS, "FILE", 0, "Compare with the presets in FILE; default: /etc/nvpmodel.conf", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write the measurements after each mode; modes in an existing file are kept", 0 },
	{ "json", JSON, "FILE", 0, "Write the result as JSON; -: standard output", 0 },
	{ "predictions", PREDICTIONS, "FILE.csv", 0, "Write the predictions of all modes", 0 },
	{ "plot", PLOT, "FILE", 0, "Plot modes, Pareto front and budget: FILE.svg, FILE.png or FILE.html", 0 },
	{ "apply", APPLY, NULL, 0, "Without a job: switch to the chosen mode, without verification", 0 },
	{ "dry-run", DRY_RUN, NULL, 0, "With a job: measure and verify, then restore the knobs", 0 },
	{ "wait", WAIT, "SECONDS", 0, "Time limit for a job to give the GPU work; default: 30s", 0 },
	{ 0 }
};

static int parse_least(const char *what)
{
	static const char *const word[] = { "time", "power", "energy", NULL };

	for (int i = 0; word[i]; i++)
		if (!strcmp(what, word[i]))
			return i;
	exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "time, power or energy",
			       "--least: unknown value \"%s\"", what));
}

static int count_batch_placeholders(char **argv)
{
	int n = 0;

	for (; argv && *argv; argv++)
		n += strstr(*argv, "{batch}") != NULL;
	return n;
}

/* Check the options of a query about an inference server (--latency, --arrival, --strategy), and
 * copy them to in->inference. */
static void optimize_check_server(struct jetwatt_optimize *in)
{
	struct jetwatt_inference *f = &in->inference;
	int job = in->job.pid || in->job.argv;

	if (!(f->q.latency_ms > 0 && f->q.arrival_hz > 0 && in->ask.power_w > 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--power 30W --latency 100ms --arrival 60Hz",
				       "a server needs a power budget, a latency limit and a request rate"));
	if (in->ask.time_ms > 0 || in->least > 0 || in->front || in->explain || in->plot ||
	    in->predictions || in->minibatches || in->presets || in->store.reuse)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "--json FILE contains the complete result",
				       "--latency cannot be combined with --time-ms, --least power or energy, --front, --explain, --plot, --predictions, --minibatches, --presets or --reuse"));
	if (job && !in->store.sizes)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--batch 1,4,16,32",
				       "the minibatch sizes to try are not given"));
	if (in->job.pid && in->store.sizes > 1)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "a running server has only one minibatch size",
				       "give one size with --batch N, or a command that takes a size: -- server --batch {batch}",
				       "-p cannot be combined with several minibatch sizes"));
	if (in->job.argv && in->store.sizes > 1 && !count_batch_placeholders(in->job.argv))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "-- server --batch {batch}",
				       "the command does not contain {batch}, so it cannot get the minibatch size"));
	memcpy(f->size, in->store.size, sizeof(f->size));
	f->sizes = in->store.sizes;
	f->q.power_w = in->ask.power_w;
	f->risk = in->ask.risk;
	f->strategy = f->strategy ? f->strategy : &jetwatt_strategy_auto;
	f->max_modes = in->most ? (size_t)in->most : f->strategy->modes;
}

/* Check the options of a query about a language model's server (--per, --rate, --ttft, --tpot), and
 * copy them to in->tokens. */
static void optimize_check_tokens(struct jetwatt_optimize *in)
{
	struct jetwatt_tokens *t = &in->tokens;

	if (in->inference.q.latency_ms > 0 || in->inference.strategy || in->profile || in->out || in->store.reuse ||
	    in->minibatches || in->front || in->explain || in->verify >= 0)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--json FILE contains all measurements",
				       "--per cannot be combined with --latency, --strategy, --profile, --output, --reuse, --minibatches, --front, --explain or --verify"));
	if (!(in->job.pid || in->job.argv))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "-p PID or -- COMMAND",
				       "--per needs a job, whose counter it reads"));
	if (t->units.nr > 1 || in->store.sizes > 1)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "give one --per, and no --batch",
				       "the search has one counter"));
	if (!(in->ask.power_w > 0 || in->ask.time_ms > 0 || in->rate > 0 || t->ttft_ms > 0 || t->tpot_ms > 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--power 30W, --rate 20, --ttft 500ms or --tpot 50ms",
				       "no limit is given"));
	in->ask.minimise = in->least >= 0 ? in->least :
			   in->ask.power_w > 0 ? JETWATT_MIN_TIME : JETWATT_MIN_ENERGY;
	if (in->rate > 0 && !(in->ask.time_ms > 0 && in->ask.time_ms < 1e3 / in->rate))
		in->ask.time_ms = 1e3 / in->rate;
	in->most = in->most ? in->most : JETWATT_TUNER_MAX_MODES;
	t->q = in->ask;
}

static void optimize_check_args(struct jetwatt_optimize *in)
{
	struct jetwatt_plan_objective *q = &in->ask;
	int job = in->job.pid || in->job.argv;

	jetwatt_args_one_job(&in->job, 0);
	if (in->apply && in->dry_run)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "leave out --apply: without a job, no knob is written then",
				       "--apply cannot be combined with --dry-run"));
	if (in->tokens.units.nr) {
		optimize_check_tokens(in);
		return;
	}
	if (in->tokens.ttft_ms > 0 || in->tokens.tpot_ms > 0 || in->rate > 0)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--per token=URL#METRIC",
				       "--rate, --ttft and --tpot need a counter of tokens"));
	if (in->method && in->inference.strategy &&
	    in->inference.strategy != &jetwatt_strategy_auto)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "this strategy does not use a prediction method",
				       "--strategy auto",
				       "--method cannot be combined with --strategy %s",
				       in->inference.strategy->name));
	if (in->inference.q.latency_ms > 0 || in->inference.q.arrival_hz > 0 ||
	    in->inference.strategy)
		optimize_check_server(in);
	else if (in->store.sizes > 1)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--latency 100ms --arrival 60Hz",
				       "--batch: several sizes are possible only for a server"));
	if (!(q->power_w > 0 || q->time_ms > 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--power 30W",
				       "neither a power budget nor a time limit is given"));
	if (!job && !in->profile)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "-p PID or -- COMMAND to measure a job, --profile FILE.csv to use earlier measurements",
				       "no job and no profile is given"));
	if (!job && (in->out || in->store.reuse || in->most || in->verify >= 0))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "without a job, no mode is measured",
				       "--predictions FILE.csv or --json FILE writes the result",
				       "--output, --reuse, --most and --verify need a job"));
	/* Without --per and --latency, the search on a running job has only one objective: minimum
	 * time of a minibatch under a power budget. */
	if (job && (q->time_ms > 0 || in->least > 0 || in->front))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
				       "with a running job, only minimum time under a power budget is supported",
				       "run jetwatt profile -o FILE.csv on the job, then jetwatt optimize --profile FILE.csv",
				       "--time-ms, --least and --front cannot be used with a job"));
	in->most = in->most ? in->most : JETWATT_TUNER_MAX_MODES;
	q->minimise = in->least >= 0 ? in->least :
		   q->power_w > 0 ? JETWATT_MIN_TIME : JETWATT_MIN_POWER;
}

static error_t optimize_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_optimize *in = state->input;

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
		in->plot = jetwatt_plot_path("--plot", arg);
		break;
	case TIME:
		in->ask.time_ms = jetwatt_args_quantity("--time-ms", arg, "ms", 1e-3, 1e7);
		break;
	case LEAST:
		in->least = parse_least(arg);
		break;
	case RISK:
		in->ask.risk = jetwatt_args_quantity("--risk", arg, "", 1e-6, 0.5);
		break;
	case MINIBATCHES:
		in->minibatches = jetwatt_args_count("--minibatches", arg, 1, 1000000000000);
		break;
	case LATENCY:
		in->inference.q.latency_ms =
			jetwatt_args_quantity("--latency", arg, "ms", 1e-3, 1e7);
		break;
	case ARRIVAL:
		in->inference.q.arrival_hz =
			jetwatt_args_quantity("--arrival", arg, "Hz", 1e-3, 1e6);
		break;
	case STRATEGY:
		in->inference.strategy = jetwatt_strategy_find(arg);
		if (!in->inference.strategy)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "auto, gmd or als",
					       "--strategy: unknown strategy \"%s\"", arg));
		break;
	case PER:
		jetwatt_units_option(&in->tokens.units, arg);
		break;
	case RATE:
		in->rate = jetwatt_args_quantity("--rate", arg, "", 1e-3, 1e7);
		break;
	case TTFT:
		in->tokens.ttft_ms = jetwatt_args_quantity("--ttft", arg, "ms", 1e-3, 1e7);
		break;
	case TPOT:
		in->tokens.tpot_ms = jetwatt_args_quantity("--tpot", arg, "ms", 1e-3, 1e7);
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
		optimize_check_args(in);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void jetwatt_optimize_parse(int argc, char **argv, struct jetwatt_optimize *in)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_argp, offsetof(struct jetwatt_optimize, store) },
		{ &jetwatt_references_argp, offsetof(struct jetwatt_optimize, reference) },
		{ &jetwatt_method_argp, offsetof(struct jetwatt_optimize, method) },
		{ &jetwatt_knob_argp, offsetof(struct jetwatt_optimize, knobs) }, { NULL, 0 },
	};

	*in = (struct jetwatt_optimize){ .verify = -1, .wait_s = 30, .least = -1,
					 .ask.risk = JETWATT_TUNER_RISK };
	jetwatt_args_parse_with("optimize",
				"--power WATTS -p PID\n--power WATTS -- COMMAND [ARGUMENT...]\n"
				"--power WATTS --profile FILE.csv\n--time-ms MS --profile FILE.csv\n"
				"--power WATTS --per NAME=URL#METRIC [--ttft MS] [--tpot MS] -p PID\n"
				"--rate N --per NAME=URL#METRIC [--ttft MS] [--tpot MS] -p PID\n"
				"--power WATTS --latency MS --arrival HZ [--batch N,N...] --profile FILE.csv\n"
				"--power WATTS --latency MS --arrival HZ --batch N,N... -- SERVER... {batch}",
				"Find the fastest power mode within a power budget.\v"
				"With a job: measures a few modes, predicts the others, switches to the "
				"best mode and measures whether it is within the budget. The mode stays "
				"applied; jetwatt restore restores the knobs. Without a job: chooses "
				"from a profile.",
				options, optimize_parse, group, argc, argv, in);
}
