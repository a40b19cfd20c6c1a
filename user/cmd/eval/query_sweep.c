// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval search and eval schedule: parses the options of both verbs and starts the
 * evaluation.
 */
#include "cmd/eval/query_sweep.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/method.h"
#include "util/error.h"

enum { CORPUS = JETWATT_ARGS_LONG, TRAIN, INFER, REFERENCE, STRATEGY, MODES, BUDGETS, LATENCY,
       ARRIVAL, QUERIES, REPEATS, SEED, REUSE, JSON, TRACE, MEASURING };

#define COMMON								\
	{ "reference", REFERENCE, "FILE.csv", 0,			\
	  "Measured modes of another workload, as training data; can be given several times", 0 },	\
	{ "strategy", STRATEGY, "NAME", 0, "Strategy: auto, gmd or als; default: auto", 0 },	\
	{ "modes", MODES, "N", 0, "Modes that can be measured for a query; default: 15, als 50", 0 },	\
	{ "budgets", BUDGETS, "LO:HI:STEP", 0, "Power budgets in W; default: 10:50:1", 0 },	\
	{ "queries", QUERIES, "N", 0,					\
	  "Number of queries, drawn evenly from all combinations; 0: all; default: 300", 0 },	\
	{ "repeats", REPEATS, "N", 0, "Number of repeats, each with another seed; default: 1", 0 },	\
	{ "seed", SEED, "N", 0, "Seed of all random choices; default: 1", 0 },	\
	{ "reuse", REUSE, NULL, 0,					\
	  "Ask queries in random order, and keep measurements for later queries", 0 },	\
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 }

static const struct argp_option search_options[] = {
	{ "corpus", CORPUS, "FILE.csv", 0, "All modes of a training workload, measured", 0 },
	{ "infer", INFER, "FILE.csv", 0, "All modes of an inference workload, measured, instead of --corpus", 0 },
	COMMON,
	{ "latency", LATENCY, "LO:HI:STEP", 0, "Latency limits in ms; default: 50:150:10", 0 },
	{ "arrival", ARRIVAL, "LO:HI:STEP", 0, "Arrival rates in requests per second; default: 30:90:5", 0 },
	{ 0 }
};
static const struct argp_option schedule_options[] = {
	{ "train", TRAIN, "FILE.csv", 0, "All modes of a training workload, measured", 0 },
	{ "infer", INFER, "FILE.csv", 0,
	  "All modes of an inference workload, measured; without --train: twice", 0 },
	COMMON,
	{ "latency", LATENCY, "LO:HI:STEP", 0, "Latency limits in ms; default: 500:2000:100", 0 },
	{ "arrival", ARRIVAL, "LO:HI:STEP", 0, "Arrival rates in requests per second; default: 30:120:10", 0 },
	{ "trace", TRACE, "FILE", 0, "Simulate an arrival rate that changes: lines of SECONDS REQUESTS_PER_S", 0 },
	{ "measuring", MEASURING, "SECONDS", 0, "With --trace: time that one measurement takes; default: 0", 0 },
	{ 0 }
};

static int sweep_usage(const char *fix, const char *what, const char *text)
{
	return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, what, text);
}

static void sweep_parse_range(const char *option, const char *text, struct jetwatt_sweep_range *r)
{
	char rest, what[64];
	int n = sscanf(text, "%lf:%lf:%lf%c", &r->lo, &r->hi, &r->step, &rest);

	if (n == 1 && !strchr(text, ':')) {
		r->hi = r->lo;
		r->step = 1;
		n = 3;
	}
	if (n == 3 && r->lo > 0 && r->hi >= r->lo && r->step > 0 && r->hi <= 1e6 &&
	    (r->hi - r->lo) / r->step <= 10000)
		return;
	snprintf(what, sizeof(what), "%s: cannot use \"%%s\"", option);
	exit(sweep_usage("LO:HI:STEP, for example 10:50:1, or one number", what, text));
}

static error_t sweep_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_sweep *s = state->input;

	switch (key) {
	case CORPUS:
	case TRAIN:
		s->files.train = arg;
		break;
	case INFER:
		if (s->infers == JETWATT_OBSERVED_WORKS)
			exit(sweep_usage("give --infer at most twice", "too many workloads: %s",
					 arg));
		s->files.infer[s->infers++] = arg;
		break;
	case REFERENCE:
		if (s->files.references == JETWATT_MODE_TABLE_REFERENCES)
			exit(sweep_usage("give at most 16 references", "too many references: %s",
					 arg));
		s->files.reference[s->files.references++] = arg;
		break;
	case STRATEGY:
		s->strategy = jetwatt_strategy_find(arg);
		if (!s->strategy)
			exit(sweep_usage("auto, gmd or als", "unknown strategy: %s", arg));
		break;
	case MODES:
		s->modes = jetwatt_args_count("--modes", arg, 1, 100000);
		break;
	case BUDGETS:
		sweep_parse_range("--budgets", arg, &s->budget);
		break;
	case LATENCY:
		sweep_parse_range("--latency", arg, &s->latency);
		break;
	case ARRIVAL:
		sweep_parse_range("--arrival", arg, &s->arrival);
		break;
	case QUERIES:
		s->queries = jetwatt_args_count("--queries", arg, 0, 10000000);
		break;
	case REPEATS:
		s->repeats = jetwatt_args_count("--repeats", arg, 1, 100000);
		break;
	case SEED:
		s->files.seed = jetwatt_args_count("--seed", arg, 0, 2147483647);
		break;
	case REUSE:
		s->reuse = 1;
		break;
	case MEASURING:
		s->measuring = jetwatt_args_quantity("--measuring", arg, "s", 0, 3600);
		break;
	case TRACE:
		s->trace = arg;
		break;
	case JSON:
		s->json = 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct jetwatt_args_group group[] = {
	{ &jetwatt_method_argp, offsetof(struct jetwatt_sweep, files.method) }, { NULL, 0 },
};

static int sweep_evaluate(struct jetwatt_sweep *s)
{
	int code;

	if (s->files.method && s->strategy != &jetwatt_strategy_auto)
		return sweep_usage("--strategy auto",
				   "--method cannot be combined with --strategy %s",
				   s->strategy->name);
	/* Compute times are reported for one core. */
	openblas_set_num_threads(1);
	if (!s->modes)
		s->modes = s->strategy->modes;
	code = jetwatt_mode_table_load(&s->files);
	if (!code)
		code = s->trace ? jetwatt_rate_trace_run(s) : jetwatt_sweep_run(s);
	jetwatt_mode_table_free(&s->files);
	return code;
}

int jetwatt_eval_search(int argc, char **argv)
{
	struct jetwatt_sweep s = {
		.strategy = &jetwatt_strategy_auto, .queries = 300, .repeats = 1, .files.seed = 1,
		.budget = { 10, 50, 1 }, .latency = { 50, 150, 10 }, .arrival = { 30, 90, 5 },
	};

	jetwatt_args_parse_with("eval search", "--corpus FILE.csv | --infer FILE.csv",
			   "Evaluate the modes that a strategy finds with few measurements.",
			   search_options, sweep_parse, group, argc, argv, &s);
	if (!s.files.train + !s.infers != 1 || s.infers > 1)
		return sweep_usage("--corpus FILE.csv, or --infer FILE.csv",
				   "exactly one workload is needed%s", "");
	s.files.kind = s.files.train ? JETWATT_SLICE_TRAIN : JETWATT_SLICE_INFER;
	return sweep_evaluate(&s);
}

int jetwatt_eval_schedule(int argc, char **argv)
{
	struct jetwatt_sweep s = {
		.strategy = &jetwatt_strategy_auto, .queries = 300, .repeats = 1, .files.seed = 1,
		.budget = { 10, 50, 1 }, .latency = { 500, 2000, 100 }, .arrival = { 30, 120, 10 },
	};

	jetwatt_args_parse_with("eval schedule", "--train FILE.csv --infer FILE.csv",
			   "Evaluate the plans for two workloads that a strategy finds with few measurements.",
			   schedule_options, sweep_parse, group, argc, argv, &s);
	if (!!s.files.train + s.infers != 2)
		return sweep_usage("--train FILE.csv --infer FILE.csv, or --infer twice",
				   "exactly two workloads are needed%s", "");
	if (s.trace && (s.budget.hi > s.budget.lo || s.latency.hi > s.latency.lo))
		return sweep_usage("give single numbers, for example --budgets 30 --latency 1000",
				   "--trace needs a single budget and a single latency limit%s",
				   "");
	s.files.kind = s.files.train ? JETWATT_SLICE_TRAIN_AND_INFER : JETWATT_SLICE_TWO_INFER;
	return sweep_evaluate(&s);
}
