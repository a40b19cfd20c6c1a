// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval: dispatch to predict, optimize, search and schedule, and parse the arguments and
 * read the files of predict and optimize.
 */
#include "cmd/eval/eval.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/eval/query_sweep.h"
#include "cmd/verbs.h"
#include "tune/method.h"
#include "tune/plot_file.h"
#include "util/error.h"
#include "util/suggest.h"

/* OpenBLAS is limited to one thread, because compute times are compared with those of other
 * programs on one core. */
void openblas_set_num_threads(int n);

enum { CORPUS = JETWATT_ARGS_LONG, METHOD, SAMPLES, REPEATS, SAMPLING, SEED, JSON,
       BUDGETS, VERIFY, RISK, PLOT, PRESETS, POOL };

#define COMMON								\
	{ "corpus", CORPUS, "FILE.csv", 0, "All modes of a workload, measured", 0 },	\
	{ "method", METHOD, "NAME", 0,					\
	  "Prediction method, listed in man jetwatt-eval; default: auto", 0 },	\
	{ "repeats", REPEATS, "N", 0, "Number of repeats, each with other modes; default: 10", 0 },	\
	{ "sampling", SAMPLING, "HOW", 0,				\
	  "How the modes given to the method are selected: random, or designed (as profile does); default: depends on the method", 0 },	\
	{ "seed", SEED, "N", 0, "Seed of all random choices; default: 1", 0 },	\
	{ "pool", POOL, "FILE.csv", 0, "Measured modes of the same workload on other devices, as a prior of the method auto", 0 },	\
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 }

static const struct argp_option predict_options[] = {
	COMMON,
	{ "samples", SAMPLES, "N[,N...]", 0,
	  "Number of measured modes given to the method; default: 20. Several numbers are evaluated one after "
	  "the other", 0 },
	{ "plot", PLOT, "FILE", 0, "Plot predicted against measured values, or with several samples "
	  "the learning curve: FILE.svg, FILE.png or FILE.html", 0 },
	{ 0 }
};
static const struct argp_option optimize_options[] = {
	COMMON,
	{ "samples", SAMPLES, "N", 0, "Number of measured modes given to the method; default: 20", 0 },
	{ "budgets", BUDGETS, "LO:HI:STEP", 0, "Power budgets in W; default: 17:50:1", 0 },
	{ "verify", VERIFY, "K", 0, "Verify up to K candidates per budget by their measured values; default: 0", 0 },
	{ "presets", PRESETS, "FILE", 0, "Compare with the presets of an nvpmodel.conf", 0 },
	{ "risk", RISK, "P", 0, "Accepted probability that the budget is exceeded; default: 0.05", 0 },
	{ 0 }
};

static int eval_usage(const char *fix, const char *what, const char *text)
{
	return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, what, text);
}

static const struct jetwatt_predictor *eval_find_method(const char *name)
{
	const struct jetwatt_predictor *m = jetwatt_method_find(name);

	if (!m)
		exit(JETWATT_EXIT_USAGE);
	return m;
}

static void eval_parse_budgets(struct jetwatt_eval *e, const char *text)
{
	char rest;
	int n = sscanf(text, "%lf:%lf:%lf%c", &e->lo, &e->hi, &e->step, &rest);

	if (n == 1 && !strchr(text, ':')) {
		e->hi = e->lo;
		e->step = 1;
		n = 3;
	}
	if (n != 3 || !(e->lo > 0 && e->hi >= e->lo && e->step > 0 && e->hi <= 1000) ||
	    (e->hi - e->lo) / e->step > 10000)
		exit(eval_usage("LO:HI:STEP in W, for example 17:50:1",
				"--budgets: cannot use \"%s\"",
				text));
}

/* Parse a list such as "5,10,20". The numbers given with --samples must be ascending; the last
 * number becomes e->samples. */
static void eval_parse_samples(struct jetwatt_eval *e, char *text)
{
	char *save, *word;

	e->nr_curve = 0;
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		size_t n = jetwatt_args_count("--samples", word, 1, 1000000);

		if (e->nr_curve == JETWATT_EVAL_CURVE || (e->nr_curve && n <= e->samples))
			exit(eval_usage("for example 5,10,20,50",
					"--samples: the list must be ascending, with at most 16 numbers: %s",
					word));
		e->curve[e->nr_curve++] = e->samples = n;
	}
	if (!e->nr_curve)
		exit(eval_usage("for example 20, or 5,10,20,50", "--samples: no number is given%s", ""));
}

static error_t eval_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_eval *e = state->input;

	switch (key) {
	case CORPUS:
		e->path = arg;
		break;
	case METHOD:
		e->method = eval_find_method(arg);
		break;
	case SAMPLES:
		eval_parse_samples(e, arg);
		break;
	case PRESETS:
		e->presets = arg;
		break;
	case POOL:
		e->pool = arg;
		break;
	case PLOT:
		e->plot = jetwatt_plot_path("--plot", arg);
		break;
	case REPEATS:
		e->repeats = jetwatt_args_count("--repeats", arg, 1, 100000);
		break;
	case SAMPLING:
		e->designed = !strcmp(arg, "designed");
		if (!e->designed && strcmp(arg, "random"))
			exit(eval_usage("random or designed", "--sampling: unknown value \"%s\"",
					arg));
		break;
	case SEED:
		e->seed = jetwatt_args_count("--seed", arg, 0, 2147483647);
		break;
	case JSON:
		e->json = 1;
		break;
	case BUDGETS:
		eval_parse_budgets(e, arg);
		break;
	case VERIFY:
		e->verify = jetwatt_args_count("--verify", arg, 0, 1000);
		break;
	case RISK:
		e->risk = jetwatt_args_quantity("--risk", arg, "", 1e-6, 0.5);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	case ARGP_KEY_END:
		if (!e->path)
			exit(eval_usage("--corpus FILE.csv", "no corpus is given%s", ""));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int eval_read_corpus(struct jetwatt_eval *e, int (*run)(struct jetwatt_eval *e))
{
	const struct jetwatt_predictor *m = e->method;
	long n = jetwatt_references_read(e->path, &e->row, &e->batch);
	char fix[160];

	if (n < 0)
		return -n;
	e->n = n;
	if (e->batch && !(m->kind & JETWATT_PREDICTOR_BATCH)) {
		jetwatt_method_list(fix, sizeof(fix), "a file of one batch size, or --method ",
				    jetwatt_method_sizes);
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "the file has rows of several minibatch sizes", fix,
					 "method %s cannot use %s", m->name, e->path);
	}
	if (e->batch && e->designed)
		return eval_usage("--sampling random",
				  "designed sampling is not possible with several minibatch sizes: %s",
				  e->path);
	if (e->batch && run == jetwatt_eval_optimize)
		return eval_usage("use a file of one minibatch size",
				  "eval optimize needs a file of one minibatch size: %s",
				  e->path);
	if (e->nr_curve > 1 && run == jetwatt_eval_optimize)
		return eval_usage("give one number",
				  "--samples: only eval predict accepts a list%s", "");
	if (e->samples >= e->n)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "give fewer --samples",
					 "%s has %zu rows, so no row is left for evaluation",
					 e->path, e->n);
	e->mode = malloc(e->n * sizeof(*e->mode));
	if (!e->mode)
		return jetwatt_eval_failed(e, -ENOMEM);
	for (size_t i = 0; i < e->n; i++)
		e->mode[i] = e->row[i].mode;
	e->highest = jetwatt_predictor_highest(e->row, e->n);
	return 0;
}

static int eval_read_references(struct jetwatt_eval *e)
{
	const struct jetwatt_predictor *m = e->method;
	struct jetwatt_row *row[JETWATT_REFERENCES_MAX] = { NULL };
	uint32_t *batch[JETWATT_REFERENCES_MAX] = { NULL };
	struct jetwatt_corpus c[JETWATT_REFERENCES_MAX];
	int code = jetwatt_references_suit(m, e->reference.n), err;

	if (code || !e->reference.n)
		return code;
	for (size_t i = 0; i < e->reference.n && !code; i++) {
		long n = jetwatt_references_read(e->reference.path[i], &row[i],
						  &batch[i]);

		c[i] = (struct jetwatt_corpus){ row[i], batch[i], n < 0 ? 0 : n };
		if (n < 0)
			code = -n;
		else if (!batch[i] != !e->batch)
			code = eval_usage("use files that all have several minibatch sizes in a column batch, or none that has",
					  "%s does not fit the corpus", e->reference.path[i]);
	}
	if (!code) {
		err = m->prior(&e->prior, c, e->reference.n, e->seed);
		code = err ? jetwatt_eval_failed(e, err) : 0;
	}
	for (size_t i = 0; i < e->reference.n; i++) {
		free(row[i]);
		free(batch[i]);
	}
	return code;
}

static int eval_read_pool(struct jetwatt_eval *e)
{
	struct jetwatt_row *row = NULL;
	uint32_t *batch = NULL;
	long n;
	int err;

	if (!e->pool)
		return 0;
	if (!e->method->add_cross_device)
		return eval_usage("leave --pool out, or use --method auto",
				  "method %s cannot use --pool", e->method->name);
	n = jetwatt_references_read(e->pool, &row, &batch);
	if (n < 0)
		return (int)-n;
	err = batch || e->batch ?
	eval_usage("use files of one minibatch size", "%s: --pool needs files of one minibatch size", e->pool) : 0;
	if (!err) {
		err = e->method->add_cross_device(&e->prior, row, (size_t)n, e->seed);
		err = err ? jetwatt_eval_failed(e, err) : 0;
	}
	free(row);
	free(batch);
	return err;
}

static int eval_run(const char *verb, const char *doc, const struct argp_option *options,
		    int (*run)(struct jetwatt_eval *e), int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_references_argp, offsetof(struct jetwatt_eval, reference) }, { NULL, 0 },
	};
	struct jetwatt_eval e = { .samples = 20, .repeats = 10, .designed = -1, .seed = 1,
				  .lo = 17, .hi = 50, .step = 1, .risk = 0.05,
				  .method = jetwatt_predictor_find("auto") };
	int code;

	jetwatt_args_parse_with(verb, "--corpus FILE.csv", doc, options, eval_parse, group, argc,
				argv, &e);
	openblas_set_num_threads(1);
	if (e.designed < 0)
		e.designed = e.method->kind & (JETWATT_PREDICTOR_INTERVAL | JETWATT_PREDICTOR_OWN_MODES);
	if (e.method->kind & JETWATT_PREDICTOR_FIXED)
		e.samples = e.designed = 0;
	if (e.designed && e.method->kind & JETWATT_PREDICTOR_OWN_MODES)
		e.samples = 4;
	code = eval_read_corpus(&e, run);
	if (!code)
		code = eval_read_references(&e);
	if (!code)
		code = eval_read_pool(&e);
	if (e.method->kind & JETWATT_PREDICTOR_INTERVAL)
		e.guide = (struct jetwatt_estimator){ .by = e.method, .prior = e.prior,
						      .highest = e.highest };
	if (!code)
		code = run(&e);
	if (e.prior)
		e.method->prior_free(e.prior);
	free(e.row);
	free(e.batch);
	free(e.mode);
	return code;
}

int jetwatt_cmd_eval(int argc, char **argv)
{
	static const char *const words[] = { "predict", "optimize", "search", "schedule", NULL };
	const char *near, *fix = "give one of: jetwatt eval predict, optimize, search or schedule";
	char mean[64];

	jetwatt_error_name("jetwatt eval");
	if (argc > 1 && !strcmp(argv[1], "predict"))
		return eval_run("eval predict", "Evaluate how well a method predicts all modes from a few.",
				predict_options, jetwatt_eval_predict, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "optimize"))
		return eval_run("eval optimize", "Evaluate the modes that a method chooses under power budgets.",
				optimize_options, jetwatt_eval_optimize, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "search"))
		return jetwatt_eval_search(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "schedule"))
		return jetwatt_eval_schedule(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))) {
		printf("Usage: jetwatt eval predict|optimize|search|schedule [OPTION...]\n"
		       "Evaluate a method or strategy on files of measured modes.\n"
		       "jetwatt eval predict --help and so on print the options.\n");
		return JETWATT_EXIT_OK;
	}
	if (argc < 2)
		return eval_usage(fix, "the kind of evaluation is missing%s", "");
	near = jetwatt_suggest(argv[1], words);
	if (near) {
		snprintf(mean, sizeof(mean), "did you mean \"jetwatt eval %s\"?", near);
		fix = mean;
	}
	return eval_usage(fix, "unknown kind of evaluation: %s", argv[1]);
}
