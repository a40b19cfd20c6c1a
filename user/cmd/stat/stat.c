// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt stat: run or attach to a job, and print time, power and energy per minibatch. A run is a
 * session of measure/session.h with an integrator (measure/run_energy.h); -r repeats it and
 * prints means.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/stat/fail_if.h"
#include "cmd/stat/metrics.h"
#include "cmd/stat/per.h"
#include "cmd/verbs.h"
#include "job/resource_usage.h"
#include "measure/connect.h"
#include "measure/mode.h"
#include "measure/run_energy.h"
#include "measure/sensor_options.h"
#include "measure/summary.h"
#include "measure/wait_job.h"
#include "measure/work_units.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/outfile.h"

enum { RATE = JETWATT_ARGS_LONG, JSON, FOR, FAIL_IF, PROBE, CGROUP, PER };

#define REPEAT_MAX 1000

struct stat_input {
	struct jetwatt_args args;
	struct jetwatt_sensors_args sensors;
	struct jetwatt_args_job job;
	struct jetwatt_units units;
	const char *out, *rails, *fail_if;
	double for_s, rate_hz;
	int json, repeat;
};

/**
 * struct stat_verb - state of the verb
 * @in: the command line
 * @board: the board
 * @f: the output
 * @json: JSON writer on @f
 * @figures: metrics of each completed run, @runs entries
 * @interrupted: a signal asked to stop; no further runs are started
 */
struct stat_verb {
	struct stat_input *in;
	struct jetwatt_board *board;
	FILE *f;
	struct jetwatt_json json;
	struct jetwatt_run_metrics *figures;
	int runs, interrupted, unwritten;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "Measure this running process and its children, until it ends or SIGINT", 0 },
	{ "cgroup", CGROUP, "PATH", 0, "Measure all processes in this cgroup (v2), until it is empty or SIGINT", 0 },
	{ "for", FOR, "SECONDS", 0, "With -p or --cgroup: stop after this time", 0 },
	{ "repeat", 'r', "N", 0, "Run the command N times, and print means with their standard errors", 0 },
	{ "rails", 'e', "RAIL,...", 0, "Use the sum of these rails as the total", 0 },
	{ "fail-if", FAIL_IF, "RULE", 0, "Exit with status 1 if RULE is true, for example 'J/minibatch.p95 > 1.4'", 0 },
	{ "per", PER, "NAME=SOURCE", 0, "Print time and energy per unit of a counter of the program, for example token=URL#METRIC; see the man page", 0 },
	{ "probe", PROBE, "BACKEND", 0, "Detect waits by uprobe, tracepoint, module or marker; default: auto", 0 },
	{ "rate", RATE, "HZ", 0, "Sampling rate; default: the rate set in the module, else the highest possible one", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 },
	{ 0 }
};

static void stat_check_args(const struct stat_input *in)
{
	jetwatt_args_one_job(&in->job, 1);
	if (in->for_s > 0 && in->job.argv)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "jetwatt stat -- COMMAND measures until the command ends",
				       "--for needs a running job (-p or --cgroup)"));
	if (in->repeat && !in->job.argv)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "jetwatt stat -r N -- COMMAND",
				       "-r needs a command"));
	if (in->job.backends == JETWATT_BACKEND_MARKER && !in->job.argv)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "jetwatt stat --probe marker -- COMMAND",
				       "--probe marker needs a command: only a command started here can write marks"));
	/* Check the expression before the job starts, so that a typing error is not found hours
	 * later. */
	if (in->fail_if)
		jetwatt_fail_if_check(in->fail_if, jetwatt_metric_find, NULL, jetwatt_metric_name,
				      jetwatt_metric_count());
}

/* Add the rails of an option -e to those of the options before it. */
static void add_rails(struct stat_input *in, const char *rails)
{
	char *all;

	if (asprintf(&all, "%s%s%s", in->rails ? in->rails : "", in->rails ? "," : "", rails) < 0)
		exit(jetwatt_error_report(JETWATT_EXIT_FAILED, "out of memory", NULL, "cannot parse -e"));
	in->rails = all;
}

static error_t stat_parse(int key, char *arg, struct argp_state *state)
{
	struct stat_input *in = state->input;

	switch (key) {
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case CGROUP:
		in->job.cgroup = arg;
		break;
	case FOR:
		in->for_s = jetwatt_args_quantity("--for", arg, "s", 0.1, 1e7);
		break;
	case 'r':
		in->repeat = jetwatt_args_count("-r", arg, 1, REPEAT_MAX);
		break;
	case 'e':
		add_rails(in, arg);
		break;
	case FAIL_IF:
		jetwatt_fail_if_option(&in->fail_if, arg);
		break;
	case PER:
		jetwatt_units_option(&in->units, arg);
		if (jetwatt_metric_add_unit(in->units.unit[in->units.nr - 1].name))
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "metrics of this name exist",
					       "choose another NAME for the unit", "--per %.60s", arg));
		break;
	case PROBE:
		in->job.backends = jetwatt_args_backend(arg);
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
		stat_check_args(in);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int stat_unwritable(const struct stat_input *in, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				 "name a file that can be written with -o; check that the disk is not full",
				 "cannot write %s", in->out ? in->out : "standard output");
}

/* Write the buffered output, and report the first failure. The exit status of the command takes
 * precedence over it. */
static void stat_flush(struct stat_verb *v)
{
	int err = jetwatt_error_flush(v->f);

	if (!err)
		return;
	clearerr(v->f);
	if (!v->unwritten)
		v->unwritten = stat_unwritable(v->in, err);
}

/* Close the output file. Without a measured run, or after a failed write, an existing file stays as it
 * is. Return: @err; exit code, after printing the error. */
static int stat_close(const struct stat_verb *v, struct jetwatt_outfile *out, int err)
{
	int rc = jetwatt_outfile_end(out, !v->runs || v->unwritten);

	rc = rc < 0 ? stat_unwritable(v->in, rc) : 0;
	return err ? err : rc;
}

struct run {
	struct jetwatt_run_energy run;
	struct jetwatt_usage usage;
	struct jetwatt_work_units *units;
	int uncounted;	/* exit code if a counter was not read; 0: all were */
};

static int stat_print(struct stat_verb *v, const struct run *r,
		      const struct jetwatt_usage_result *u)
{
	struct jetwatt_work_unit per[JETWATT_UNITS_MAX];
	struct jetwatt_summary s;
	int err = jetwatt_summary_make(&s, &r->run);
	int n = r->units ? jetwatt_work_units_results(r->units, per) : 0;

	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot compute the summary of the run");
	jetwatt_metric_collect(&v->figures[v->runs], &s, u);
	jetwatt_metric_collect_units(&v->figures[v->runs++], per, n);
	if (v->in->json) {
		jetwatt_json_object(&v->json, NULL);
		jetwatt_summary_fields(&s, &v->json);
		jetwatt_usage_json(u, &v->json);
		if (r->units)
			jetwatt_stat_per_json(per, n, &v->json);
		/* with a single run, this object is the whole document and is closed by
		 * stat_runs() */
		if (v->in->repeat > 1)
			jetwatt_json_end(&v->json);
	} else if (v->in->repeat <= 1) {
		jetwatt_summary_print(&s, v->f, &v->in->args);
		jetwatt_usage_print(u, s.elapsed_s, v->f);
		jetwatt_stat_per_print(per, n, v->f, &v->in->args);
	} else if (!v->in->args.quiet) {
		jetwatt_notice("run %d of %d: %.4g J, %.3g s, %zu minibatches", v->runs,
				   v->in->repeat, s.total_j, s.elapsed_s, s.minibatches);
	}
	/* A program that reads the output should get it before the probe is detached, which takes time. */
	stat_flush(v);
	return 0;
}

static void stat_poll(void *arg)
{
	struct run *r = arg;

	if (r->units)
		jetwatt_work_units_run(r->units);
	jetwatt_run_energy_run(&r->run);
	jetwatt_usage_sample(&r->usage);
}

/* End the measurement of a run and print it. Return: exit code. */
static int stat_finish(struct stat_verb *v, struct jetwatt_session *w, struct run *r, uint64_t end,
		       const struct jetwatt_usage_result *u)
{
	jetwatt_session_finish(w, jetwatt_energy_error_age(&r->run.error, w));
	if (w->failed)
		return jetwatt_session_error(w);
	if (r->units)
		r->uncounted = jetwatt_work_units_end(r->units, end);
	if (jetwatt_run_energy_end(&r->run, end))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, NULL,
					 "cannot compute the summary of the run");
	return stat_print(v, r, u);
}

static int stat_measure(struct stat_verb *v, struct jetwatt_session *w, struct run *r)
{
	struct jetwatt_usage_result u;
	int err = jetwatt_session_job(w, &v->in->job);
	uint64_t end;

	if (err)
		return err;
	jetwatt_run_energy_begin(&r->run, w);
	jetwatt_usage_begin(&r->usage, w->pid, w->cgroup.path);
	if (v->in->units.nr)
		err = jetwatt_work_units_begin(&r->units, &v->in->units, &r->run);
	if (!err)
		err = jetwatt_wait_job(w, v->in->for_s, stat_poll, r);
	v->interrupted = w->interrupted;
	if (!err && r->units)
		jetwatt_work_units_last(r->units);
	end = w->ended ? w->ended_ns : jetwatt_clock_ns();
	jetwatt_usage_end(&r->usage, &w->child, (end - w->begun_ns) * 1e-9, &u);
	if (!err)
		err = stat_finish(v, w, r, end, &u);
	jetwatt_work_units_free(r->units);
	r->units = NULL;
	jetwatt_run_energy_free(&r->run);
	err = err ? err : jetwatt_wait_job_exit(w);
	return err ? err : r->uncounted;
}

static int stat_run(struct stat_verb *v)
{
	struct run *r = calloc(1, sizeof(*r));
	struct jetwatt_session w;
	int err = jetwatt_session_open(&w, v->board, v->in->rate_hz);

	if (!err && !r)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					"cannot start the measurement");
	if (!err && v->in->rails)
		err = jetwatt_session_select_rails(&w, v->in->rails);
	if (!err)
		err = stat_measure(v, &w, r);
	jetwatt_session_end_command(&w);
	jetwatt_session_close(&w);
	free(r);
	return err;
}

static void print_means(const struct stat_verb *v)
{
	double mean, pct;

	fprintf(v->f, "\n mean of %d runs\n\n", v->runs);
	for (int i = 0; i < jetwatt_metric_count(); i++) {
		mean = jetwatt_metric_mean(v->figures, v->runs, i, &pct);
		if (isnan(mean) || !jetwatt_metric_in_summary(i))
			continue;
		fprintf(v->f, " %10.4g %-18s", mean, jetwatt_metric_name(i));
		if (!isnan(pct))
			fprintf(v->f, " +- %.2f %%", pct);
		fprintf(v->f, "\n");
	}
}

static void print_means_json(struct stat_verb *v)
{
	double mean, pct;

	jetwatt_json_object(&v->json, "mean");
	for (int i = 0; i < jetwatt_metric_count(); i++) {
		mean = jetwatt_metric_mean(v->figures, v->runs, i, &pct);
		if (isnan(mean))
			continue;
		jetwatt_json_object(&v->json, jetwatt_metric_name(i));
		jetwatt_json_real(&v->json, "mean", mean, 9);
		jetwatt_json_real(&v->json, "error_pct", pct, 5);
		jetwatt_json_end(&v->json);
	}
	jetwatt_json_end(&v->json);
}

/* Evaluate --fail-if on the means over all runs. Return: exit code. */
static int check_threshold(const struct stat_verb *v)
{
	struct jetwatt_run_metrics mean;
	double pct;

	for (int i = 0; i < jetwatt_metric_count(); i++)
		mean.v[i] = jetwatt_metric_mean(v->figures, v->runs, i, &pct);
	return jetwatt_fail_if(v->in->fail_if, jetwatt_metric_find, &mean);
}

static int stat_runs(struct stat_verb *v)
{
	int n = v->in->repeat > 1 ? v->in->repeat : 1, err = 0, status;

	if (v->in->json) {
		jetwatt_json_init(&v->json, v->f, 1);
		if (n > 1) {
			jetwatt_json_object(&v->json, NULL);
			jetwatt_json_array(&v->json, "runs");
		}
	}
	/* A run whose command fails still counts as a run in the means. If the measurement of a run
	 * fails, no further run is started. */
	for (int i = 0; i < n && v->runs == i && !v->interrupted; i++) {
		status = stat_run(v);
		err = err ? err : status;
	}
	if (v->in->json && n > 1) {
		jetwatt_json_end(&v->json);
		print_means_json(v);
	}
	if (v->in->json && (n > 1 || v->runs))
		jetwatt_json_end(&v->json);
	else if (n > 1 && v->runs)
		print_means(v);
	stat_flush(v);
	err = err ? err : v->unwritten;
	return err || !v->in->fail_if || !v->runs ? err : check_threshold(v);
}

int jetwatt_cmd_stat(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_sensors_argp, offsetof(struct stat_input, sensors) }, { NULL, 0 },
	};
	struct stat_input in = { 0 };
	struct stat_verb v = { .in = &in, .f = stdout };
	struct jetwatt_outfile out = { .f = NULL };
	int err, late;

	jetwatt_args_parse_with("stat", "-p PID\n--cgroup PATH\n-- COMMAND [ARGUMENT...]",
				"Measure time, power and energy per minibatch of an unmodified training job.\v"
				"With a command, stat returns the exit status of the command.", options, stat_parse,
				group, argc, argv, &in);
	err = jetwatt_open_board(&v.board);
	if (err)
		return err;
	v.figures = calloc(in.repeat ? in.repeat : 1, sizeof(*v.figures));
	/* Open the output before the job starts, so that an unwritable file is not found hours
	 * later. */
	if (in.out && strcmp(in.out, "-")) {
		err = jetwatt_outfile_open(&out, in.out, 0666);
		v.f = out.f;
		in.args.color = 0;
	}
	if (!v.figures)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					"cannot start the measurement");
	else if (err)
		err = stat_unwritable(&in, err);
	else
		err = jetwatt_units_resolve(&in.units);
	if (!err)
		err = jetwatt_sensors_apply(&in.sensors, v.board);
	if (!err) {
		err = stat_runs(&v);
		late = jetwatt_sensors_restore(&in.sensors, v.board);
		err = err ? err : late;
	}
	err = stat_close(&v, &out, err);
	free(v.figures);
	jetwatt_units_forget(&in.units);
	jetwatt_board_close(v.board);
	return err;
}
