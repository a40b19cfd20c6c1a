// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval schedule --trace: the request rate changes from window to window. A plan is computed
 * for one request rate. A change of the rate is detected when a minibatch of requests fills
 * sooner or later than planned, so requests that arrive before the detection are served by the old
 * plan. After the detection a new plan is computed from all measurements so far and some new
 * measurements. Each measurement takes --measuring seconds, in which the board switches between
 * modes: all requests in this time count as late.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/eval/eval.h"
#include "cmd/eval/query_sweep.h"
#include "out/json.h"
#include "util/error.h"

#define WINDOWS_MAX	100000
/* The plan stays in force while the relative change of the request rate is at most this value. */
#define RATE_TOLERANCE		0.01

struct window {
	double s, hz;
};

/**
 * struct trace_tally - sums and counts over all windows of the trace
 * @windows: number of windows; @seconds: their duration
 * @feasible: number of windows in which a plan meets the limits
 * @inside: number of windows counted in @feasible at whose end no measuring is left to do, and the
 *	plan in force meets the limits
 * @replans: number of searches for a plan, including those without result
 * @modes, @measured: modes and cells measured
 * @asked: number of requests; @missed: number of requests that were answered too late or never
 * @energy_j: energy of computing and measuring, in J
 * @idle_s: time without computing; @measuring_s: time spent on measuring
 * @owed_s: seconds of measuring that are not simulated yet
 * @ratio, @ratios: sum and number of throughput ratios to the optimum
 * @ms, @longest: CPU time of the strategy in all, and of its longest step, in ms
 */
struct trace_tally {
	size_t windows, feasible, inside, replans, modes, measured, ratios;
	double seconds, asked, missed, energy_j, idle_s, measuring_s, owed_s, ratio, ms, longest;
};

static int bad_trace_line(const char *path, unsigned int line, const char *why)
{
	return jetwatt_error_report(JETWATT_EXIT_USAGE, why,
				 "write lines of SECONDS REQUESTS_PER_S, for example \"60 45\"",
				 "cannot use line %u of %s", line, path);
}

/* Read the file of request rates. The caller frees the rates @out, even after an error. Return: 0,
 * exit code. */
static int read_trace(const char *path, struct window **out, size_t *n)
{
	FILE *f = fopen(path, "re");
	struct window *w = NULL;
	unsigned int line = 0;
	char text[256];
	int code = 0;

	*n = 0;
	*out = NULL;
	if (!f)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno),
					 jetwatt_error_advice(errno), "cannot read %s", path);
	w = malloc(WINDOWS_MAX * sizeof(*w));
	while (w && !code && fgets(text, sizeof(text), f)) {
		char rest;
		struct window v;

		line++;
		if (text[strspn(text, " \t\r\n")] == '\0' || text[0] == '#')
			continue;
		if (sscanf(text, "%lf%*[ ,\t]%lf %c", &v.s, &v.hz, &rest) != 2)
			code = bad_trace_line(path, line, "two numbers are needed");
		else if (!(v.s > 0 && v.s <= 1e7 && v.hz > 0 && v.hz <= 1e6))
			code = bad_trace_line(path, line,
					      "both numbers must be positive, at most 1e7 seconds and 1e6 requests per second");
		else if (*n == WINDOWS_MAX)
			code = bad_trace_line(path, line, "a file can have at most 100000 lines");
		else
			w[(*n)++] = v;
	}
	fclose(f);
	if (!w)
		code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot read %s", path);
	else if (!code && !*n)
		code = bad_trace_line(path, line, "the file is empty");
	*out = w;
	return code;
}

/* Return: measured time in ms of workload @w in a plan, or its power in W if @power is set. */
static double measured_cost(const struct jetwatt_sweep *s, const struct jetwatt_slice_plan *p,
			    size_t w, int power)
{
	const struct jetwatt_mode_table_work *work = &s->files.work[w];

	return (power ? work->power_w : work->time_ms)[p->size[w] * s->files.n + p->mode];
}

/* Return: longest latency of a plan at the request rate @hz, in ms; INFINITY: the queue grows
 * without limit. */
static double worst_latency_ms(const struct jetwatt_sweep *s, const struct jetwatt_slice_plan *p,
			       double hz)
{
	size_t first = jetwatt_slice_trains(s->files.kind), works = jetwatt_slice_works(s->files.kind);
	double busy = 0, slow = 0, quick = INFINITY;

	for (size_t w = first; w < works; w++) {
		double fill = 1e3 * s->files.work[w].size[p->size[w]] / hz;

		busy += measured_cost(s, p, w, 0);
		slow = fmax(slow, fill);
		quick = fmin(quick, fill);
	}
	return busy > quick ? INFINITY : slow + busy;
}

static int plan_meets_limits(const struct jetwatt_sweep *s, const struct jetwatt_slice_plan *p,
			     const struct jetwatt_slice_query *q)
{
	for (size_t w = 0; w < jetwatt_slice_works(s->files.kind); w++)
		if (measured_cost(s, p, w, 1) > q->power_w)
			return 0;
	return worst_latency_ms(s, p, q->arrival_hz) <= q->latency_ms;
}

/* Add @seconds of a plan at the query's request rate to the sums. */
static void account_plan(const struct jetwatt_sweep *s, const struct jetwatt_slice_plan *p,
			 const struct jetwatt_slice_query *q, double seconds, struct trace_tally *t)
{
	size_t first = jetwatt_slice_trains(s->files.kind), works = jetwatt_slice_works(s->files.kind);
	double busy = 0, asked = seconds * q->arrival_hz * (works - first);

	for (size_t w = first; w < works; w++) {
		double share = fmin(measured_cost(s, p, w, 0) * q->arrival_hz /
				    s->files.work[w].size[p->size[w]] * 1e-3, 1);

		busy += share;
		t->energy_j += seconds * share * measured_cost(s, p, w, 1);
	}
	if (first && busy < 1) {
		double fill = 1e3 * s->files.work[1].size[p->size[1]] / q->arrival_hz;
		double tau = jetwatt_slice_tau(fill, measured_cost(s, p, 1, 0),
					       measured_cost(s, p, 0, 0));
		double share = tau * measured_cost(s, p, 0, 0) / fill;

		busy += share;
		t->energy_j += seconds * share * measured_cost(s, p, 0, 1);
	}
	t->idle_s += seconds * fmax(1 - busy, 0);
	t->asked += asked;
	if (worst_latency_ms(s, p, q->arrival_hz) > q->latency_ms)
		t->missed += asked;
}

/* Count the requests of @seconds as missed. */
static void miss_requests(const struct jetwatt_sweep *s, const struct jetwatt_slice_query *q,
			  double seconds, struct trace_tally *t)
{
	size_t servers = jetwatt_slice_works(s->files.kind) - jetwatt_slice_trains(s->files.kind);

	t->asked += seconds * q->arrival_hz * servers;
	t->missed += seconds * q->arrival_hz * servers;
}

/* Add the time and energy of the measurements from row @from[w] on. spend_on_measuring() later
 * takes this time from the windows. */
static void add_measuring_debt(const struct jetwatt_sweep *s, const struct jetwatt_observed *k,
			       const size_t *from, struct trace_tally *t)
{
	for (size_t w = 0; w < k->works; w++)
		for (size_t i = from[w]; i < k->work[w].rows; i++) {
			t->owed_s += s->measuring;
			t->energy_j += s->measuring * k->work[w].row[i].power_w;
		}
}

/* Simulate up to @left seconds of the time that measuring takes. Return: seconds left. */
static double spend_on_measuring(const struct jetwatt_sweep *s,
				 const struct jetwatt_slice_query *q, double left,
				 struct trace_tally *t)
{
	double spent = fmin(t->owed_s, left);

	t->owed_s -= spent;
	t->measuring_s += spent;
	miss_requests(s, q, spent, t);
	return left - spent;
}

static int trace_run(const struct jetwatt_sweep *s, const struct window *w, size_t n,
		     struct trace_tally *t)
{
	const uint32_t *size[] = { s->files.work[0].size, s->files.work[1].size };
	const size_t sizes[] = { s->files.work[0].sizes, s->files.work[1].sizes };
	struct jetwatt_slice_query q = { s->budget.lo, s->latency.lo, 0 };
	struct jetwatt_slice_plan plan = { .mode = 0 };
	struct jetwatt_observed k;
	void *state = NULL;
	double planned = 0;
	int err = jetwatt_observed_init(&k, s->files.kind, s->files.mode, s->files.n, size, sizes),
	    have = 0;

	for (size_t i = 0; i < k.works; i++)
		k.work[i].by = s->files.work[i].by;
	if (!err && s->strategy->new)
		err = s->strategy->new(&state, &k, s->files.seed);
	for (size_t i = 0; i < n && !err; i++) {
		size_t rows[] = { k.work[0].rows, k.work[1].rows };
		struct jetwatt_query_score v;
		double left = w[i].s;

		q.arrival_hz = w[i].hz;
		t->windows++;
		t->seconds += w[i].s;
		if (have && fabs(w[i].hz / planned - 1) <= RATE_TOLERANCE) {
			struct jetwatt_slice_plan any;
			int ok = jetwatt_query_optimum(s, 0, &q, &any);
			double left = spend_on_measuring(s, &q, w[i].s, t);

			t->feasible += ok;
			t->inside += ok && !(t->owed_s > 0) && plan_meets_limits(s, &plan, &q);
			account_plan(s, &plan, &q, left, t);
			continue;
		}
		if (have) {
			size_t last = jetwatt_slice_works(s->files.kind) - 1;

			left -= fmin(s->files.work[last].size[plan.size[last]] / w[i].hz, w[i].s);
			account_plan(s, &plan, &q, w[i].s - left, t);
		}
		jetwatt_observed_query(&k, 0);
		err = jetwatt_query_run(s, &k, state, &q, &v);
		t->feasible += v.feasible;
		t->replans++;
		t->modes += v.modes;
		t->measured += v.measured;
		t->ms += v.ms;
		t->longest = fmax(t->longest, v.longest);
		add_measuring_debt(s, &k, rows, t);
		left = spend_on_measuring(s, &q, left, t);
		if (v.solved) {
			plan = v.plan;
			planned = w[i].hz;
			have = 1;
			t->inside += !(t->owed_s > 0) && plan_meets_limits(s, &plan, &q);
		}
		if (v.feasible && !isnan(v.ratio)) {
			t->ratio += v.ratio;
			t->ratios++;
		}
		if (have) {
			account_plan(s, &plan, &q, left, t);
		} else {
			/* As long as no plan is in force, no request is served. */
			miss_requests(s, &q, left, t);
			t->idle_s += left;
		}
	}
	if (s->strategy->free)
		s->strategy->free(state);
	jetwatt_observed_free(&k);
	return err;
}

static double trace_percent(double a, double b)
{
	return b > 0 ? 100 * a / b : NAN;
}

static void trace_print(const struct jetwatt_sweep *s, const struct trace_tally *t)
{
	struct jetwatt_json j;

	if (!s->json) {
		printf("%zu windows, %.0f s: %s, %zu of them feasible; the plan met the limits in %.1f %% of these\n",
		       t->windows, t->seconds, s->strategy->name, t->feasible,
		       trace_percent(t->inside, t->feasible));
		printf("requests answered too late     %.2f %% of %.0f\n",
		       trace_percent(t->missed, t->asked), t->asked);
		printf("energy of computing            %.4g kJ; idle %.0f s\n", t->energy_j * 1e-3,
		       t->idle_s);
		printf("new plans                      %zu, from %zu measurements in %.0f s\n", t->replans,
		       t->measured, t->measuring_s);
		if (t->ratios)
			printf("throughput / optimum           mean %6.3f\n", t->ratio / t->ratios);
		return;
	}
	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "strategy", s->strategy->name);
	jetwatt_json_string(&j, "trace", s->trace);
	jetwatt_json_uint(&j, "windows", t->windows);
	jetwatt_json_uint(&j, "feasible", t->feasible);
	jetwatt_json_uint(&j, "inside", t->inside);
	jetwatt_json_real(&j, "inside_pct", trace_percent(t->inside, t->feasible), 5);
	jetwatt_json_real(&j, "seconds", t->seconds, 8);
	jetwatt_json_real(&j, "requests", t->asked, 8);
	jetwatt_json_real(&j, "slo_missed_pct", trace_percent(t->missed, t->asked), 5);
	jetwatt_json_real(&j, "energy_j", t->energy_j, 7);
	jetwatt_json_real(&j, "idle_s", t->idle_s, 6);
	jetwatt_json_uint(&j, "replans", t->replans);
	jetwatt_json_uint(&j, "measurements", t->measured);
	jetwatt_json_real(&j, "measuring_s", t->measuring_s, 6);
	jetwatt_json_real(&j, "throughput_ratio", t->ratios ? t->ratio / t->ratios : NAN, 5);
	jetwatt_json_real(&j, "compute_max_ms", t->longest, 4);
	jetwatt_json_end(&j);
}

int jetwatt_rate_trace_run(const struct jetwatt_sweep *s)
{
	struct trace_tally t = { .windows = 0 };
	struct window *w;
	size_t n;
	int code = read_trace(s->trace, &w, &n), err;

	if (!code) {
		err = trace_run(s, w, n, &t);
		if (err)
			code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
						 "strategy %s failed on %s", s->strategy->name,
						 s->files.work[0].path);
		else if (!t.feasible)
			code = jetwatt_error_report(JETWATT_EXIT_INFEASIBLE,
						 "no plan meets the limits in any window",
						 "give higher --budgets or a higher --latency",
						 "no window can be served in %s",
						 s->files.work[0].path);
		else
			trace_print(s, &t);
	}
	free(w);
	return code;
}
