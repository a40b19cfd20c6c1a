// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval search and schedule: answer one query after the other. The strategy measures cells
 * (a workload at a minibatch size in a mode) until it stops; its answer is the best plan of the
 * measured cells, and is compared with the best plan of all cells, found by exhaustive search.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/eval/eval.h"
#include "cmd/eval/query_sweep.h"
#include "model/random.h"
#include "out/json.h"
#include "util/error.h"

/* With --reuse, the queries from the fifth feasible one on are also reported separately. */
#define SETTLED_AFTER	4

static size_t range_steps(const struct jetwatt_sweep_range *r)
{
	return (r->hi - r->lo) / r->step + 1 + 1e-9;
}

/* Return: the query at index @at of the sweep over budgets, latencies and arrival rates. */
static struct jetwatt_slice_query sweep_query(const struct jetwatt_sweep *s, size_t at)
{
	size_t latencies = range_steps(&s->latency), arrivals = range_steps(&s->arrival);

	if (s->files.kind == JETWATT_SLICE_TRAIN)
		return (struct jetwatt_slice_query){ s->budget.lo + at * s->budget.step, 0, 0 };
	return (struct jetwatt_slice_query){
		s->budget.lo + at / (latencies * arrivals) * s->budget.step,
		s->latency.lo + at / arrivals % latencies * s->latency.step,
		s->arrival.lo + at % arrivals * s->arrival.step,
	};
}

static size_t sweep_size(const struct jetwatt_sweep *s)
{
	if (s->files.kind == JETWATT_SLICE_TRAIN)
		return range_steps(&s->budget);
	return range_steps(&s->budget) * range_steps(&s->latency) * range_steps(&s->arrival);
}

int jetwatt_query_optimum(const struct jetwatt_sweep *s, int clean,
			  const struct jetwatt_slice_query *q, struct jetwatt_slice_plan *plan)
{
	struct jetwatt_slice_work work[JETWATT_OBSERVED_WORKS];

	for (size_t w = 0; w < jetwatt_slice_works(s->files.kind); w++)
		work[w] = (struct jetwatt_slice_work){
			s->files.work[w].size, s->files.work[w].sizes, s->files.work[w].time_ms,
			clean ? s->files.work[w].clean_w : s->files.work[w].power_w,
		};
	return jetwatt_slice_find(s->files.kind, work, s->files.n, q, plan);
}

static double plan_objective(const struct jetwatt_sweep *s, const struct jetwatt_slice_plan *p)
{
	return s->files.kind == JETWATT_SLICE_TRAIN ? p->time_ms : p->latency_ms;
}

static void score_result(const struct jetwatt_sweep *s, const struct jetwatt_observed *k,
			 const struct jetwatt_slice_query *q,
			 const struct jetwatt_slice_plan *optimum, struct jetwatt_query_score *v)
{
	struct jetwatt_slice_plan got, clean = { 0 };

	v->excess = NAN;
	v->ratio = optimum->throughput_hz > 0 ? 0 : NAN;
	jetwatt_query_optimum(s, 1, q, &clean);
	v->clean = s->files.kind == JETWATT_SLICE_TRAIN_AND_INFER && clean.throughput_hz > 0 ? 0 : NAN;
	v->solved = jetwatt_observed_best(k, q, &got);
	if (!v->solved)
		return;
	v->plan = got;
	for (size_t w = 0; w < k->works; w++)
		v->violated |= s->files.work[w].power_w[got.size[w] * s->files.n + got.mode] >
			       q->power_w;
	v->violated |= s->files.kind != JETWATT_SLICE_TRAIN && got.latency_ms > q->latency_ms;
	v->excess = 100 * fmax(plan_objective(s, &got) / plan_objective(s, optimum) - 1, 0);
	if (s->files.kind == JETWATT_SLICE_TRAIN_AND_INFER && clean.throughput_hz > 0)
		v->clean = got.throughput_hz / clean.throughput_hz;
	else if (s->files.kind != JETWATT_SLICE_TRAIN_AND_INFER && plan_objective(s, &clean) > 0)
		v->clean = 100 * fmax(plan_objective(s, &got) / plan_objective(s, &clean) - 1, 0);
	if (optimum->throughput_hz > 0)
		v->ratio = got.throughput_hz / optimum->throughput_hz;
}

int jetwatt_query_run(const struct jetwatt_sweep *s, struct jetwatt_observed *k, void *state,
		      const struct jetwatt_slice_query *q, struct jetwatt_query_score *v)
{
	struct jetwatt_slice_plan optimum;
	double begun = jetwatt_eval_now_ms();
	int err = 0;

	*v = (struct jetwatt_query_score){ .feasible = jetwatt_query_optimum(s, 0, q, &optimum) };
	v->exhaust_ms = jetwatt_eval_now_ms() - begun;
	/* If no plan meets the limits, do not run the strategy: the query counts only in @queries
	 * and @exhaust_ms of struct query_figures. */
	if (!v->feasible)
		return 0;
	while (!err) {
		struct jetwatt_cell c;
		double ms;

		begun = jetwatt_eval_now_ms();
		err = s->strategy->next(state, k, q, s->modes, &c);
		ms = jetwatt_eval_now_ms() - begun;
		v->ms += ms;
		v->longest = fmax(v->longest, ms);
		if (!err) {
			const struct jetwatt_mode_table_work *w = &s->files.work[c.work];
			size_t at = c.size * s->files.n + c.mode;

			err = jetwatt_observed_add(k, &c, w->time_ms[at], w->power_w[at]);
		}
	}
	v->modes = k->modes;
	v->measured = k->measured;
	score_result(s, k, q, &optimum, v);
	return err < 0 ? err : 0;
}

/* Choose @n queries of the sweep by index, one query from each of @n equal intervals; with --reuse,
 * in random order. @r: number of the repeat. */
static void draw_queries(const struct jetwatt_sweep *s, size_t r, size_t *at, size_t n)
{
	uint64_t rng = (s->files.seed + r) * 0x9e3779b97f4a7c15ull + 1;
	size_t all = sweep_size(s);

	for (size_t i = 0; i < n; i++) {
		size_t lo = i * all / n, hi = (i + 1) * all / n;

		at[i] = lo + (size_t)(jetwatt_random_unit(&rng) * (hi - lo));
	}
	if (s->reuse)
		jetwatt_random_draw(&rng, at, n, n);
}

static int sweep_repeat(const struct jetwatt_sweep *s, size_t r, size_t n,
			struct jetwatt_query_score *v, size_t *profiled)
{
	const uint32_t *size[] = { s->files.work[0].size, s->files.work[1].size };
	const size_t sizes[] = { s->files.work[0].sizes, s->files.work[1].sizes };
	size_t *at = malloc(n * sizeof(*at));
	struct jetwatt_observed k;
	void *state = NULL;
	int err = jetwatt_observed_init(&k, s->files.kind, s->files.mode, s->files.n, size, sizes),
	    keep;

	keep = s->reuse || s->strategy->shared;
	for (size_t w = 0; w < k.works; w++)
		k.work[w].by = s->files.work[w].by;
	if (!at)
		err = -ENOMEM;
	if (!err)
		draw_queries(s, r, at, n);
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_slice_query q = sweep_query(s, at[i]);

		if (s->args.progress)
			fprintf(stderr, s->args.lines ? "query %zu of %zu\n" : "\rquery %zu of %zu ",
				i + 1, n);
		if (!state || !keep) {
			if (s->strategy->free)
				s->strategy->free(state);
			state = NULL;
			if (s->strategy->new)
				err = s->strategy->new(&state, &k, s->files.seed + r);
		}
		jetwatt_observed_query(&k, !keep);
		if (!err)
			err = jetwatt_query_run(s, &k, state, &q, &v[i]);
	}
	if (s->args.progress && !s->args.lines)
		fprintf(stderr, "\r\033[K");
	for (size_t i = 0; i < s->files.n && !err; i++) {
		int some = 0;

		for (size_t w = 0; w < k.works; w++)
			for (size_t z = 0; z < k.work[w].sizes; z++)
				some |= !isnan(k.work[w].time_ms[z * s->files.n + i]);
		*profiled += some;
	}
	if (s->strategy->free)
		s->strategy->free(state);
	jetwatt_observed_free(&k);
	free(at);
	return err;
}

/**
 * struct query_figures - summary of many queries
 * @queries, @feasible, @solved, @violations: number of queries, and of those with this property
 * @modes, @measured: sums of the modes and cells measured; @max_modes: most modes of one query
 * @ms, @longest, @exhaust_ms: as in struct jetwatt_query_score, summed; of @longest, the maximum
 * @v: scratch array with one entry per query
 */
struct query_figures {
	size_t queries, feasible, solved, violations, max_modes;
	double modes, measured, ms, longest, exhaust_ms;
	double *v;
};

/* Copy one figure of all feasible queries into f->v, without NAN values. @which: offset of the
 * figure in struct jetwatt_query_score. Return: number of values. */
static size_t figures_gather(struct query_figures *f, const struct jetwatt_query_score *v,
			     size_t n, size_t which)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		double d = *(const double *)((const char *)&v[i] + which);

		if (v[i].feasible && !isnan(d))
			f->v[k++] = d;
	}
	return k;
}

static double figures_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : NAN;
}

static void figures_count(struct query_figures *f, const struct jetwatt_query_score *v, size_t n)
{
	f->queries = n;
	for (size_t i = 0; i < n; i++) {
		f->exhaust_ms += v[i].exhaust_ms;
		if (!v[i].feasible)
			continue;
		f->feasible++;
		f->solved += v[i].solved;
		f->violations += v[i].violated;
		f->modes += v[i].modes;
		f->measured += v[i].measured;
		f->ms += v[i].ms;
		f->longest = fmax(f->longest, v[i].longest);
		if (v[i].modes > f->max_modes)
			f->max_modes = v[i].modes;
	}
}

static void figure_json(struct jetwatt_json *j, const char *key, struct query_figures *f,
			const struct jetwatt_query_score *v, size_t n, size_t which, int p90)
{
	size_t k = figures_gather(f, v, n, which);

	jetwatt_json_object(j, key);
	jetwatt_json_real(j, "median", jetwatt_eval_quantile(f->v, k, 0.5), 5);
	jetwatt_json_real(j, "mean", figures_mean(f->v, k), 5);
	if (p90)
		jetwatt_json_real(j, "p90", jetwatt_eval_quantile(f->v, k, 0.9), 5);
	jetwatt_json_end(j);
}

static double compute_ms_per_mode(const struct query_figures *f)
{
	return f->modes > 0 ? f->ms / f->modes : f->feasible ? f->ms / f->feasible : NAN;
}

static void figures_json(struct jetwatt_json *j, const struct jetwatt_sweep *s,
			 const struct jetwatt_query_score *v, size_t n, double *scratch)
{
	struct query_figures f = { .v = scratch };

	figures_count(&f, v, n);
	if (s->files.kind != JETWATT_SLICE_TRAIN_AND_INFER) {
		figure_json(j, "excess_pct", &f, v, n,
			    offsetof(struct jetwatt_query_score, excess), 1);
		figure_json(j, "excess_clean_pct", &f, v, n,
			    offsetof(struct jetwatt_query_score, clean), 0);
	}
	jetwatt_json_uint(j, "queries", f.queries);
	jetwatt_json_uint(j, "feasible", f.feasible);
	jetwatt_json_real(j, "solved_pct", f.feasible ? 100.0 * f.solved / f.feasible : NAN, 5);
	jetwatt_json_uint(j, "unsolved", f.feasible - f.solved);
	jetwatt_json_uint(j, "violations", f.violations);
	if (s->files.kind == JETWATT_SLICE_INFER || s->files.kind == JETWATT_SLICE_TWO_INFER)
		figure_json(j, "latency_excess_pct", &f, v, n,
			    offsetof(struct jetwatt_query_score, excess), 0);
	if (s->files.kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		figure_json(j, "throughput_ratio", &f, v, n,
			    offsetof(struct jetwatt_query_score, ratio), 0);
		figure_json(j, "throughput_ratio_clean", &f, v, n,
			    offsetof(struct jetwatt_query_score, clean), 0);
	}
	jetwatt_json_object(j, "modes_profiled");
	jetwatt_json_real(j, "mean", f.feasible ? f.modes / f.feasible : NAN, 5);
	jetwatt_json_uint(j, "max", f.max_modes);
	jetwatt_json_end(j);
	jetwatt_json_real(j, "measurements", f.feasible ? f.measured / f.feasible : NAN, 5);
	jetwatt_json_real(j, "compute_ms", compute_ms_per_mode(&f), 4);
	jetwatt_json_real(j, "compute_max_ms", f.longest, 4);
	jetwatt_json_real(j, "exhaust_ms", f.exhaust_ms, 4);
}

static void sweep_print_json(const struct jetwatt_sweep *s, const struct jetwatt_query_score *v,
			     const struct jetwatt_query_score *settled, size_t n,
			     size_t nr_settled, double profiled, double *scratch)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "strategy", s->strategy->name);
	jetwatt_json_array(&j, "files");
	for (size_t w = 0; w < jetwatt_slice_works(s->files.kind); w++)
		jetwatt_json_string(&j, NULL, s->files.work[w].path);
	jetwatt_json_end(&j);
	jetwatt_json_array(&j, "references");
	for (size_t i = 0; i < s->files.references; i++)
		jetwatt_json_string(&j, NULL, s->files.reference[i]);
	jetwatt_json_end(&j);
	jetwatt_json_uint(&j, "modes", s->modes);
	jetwatt_json_uint(&j, "repeats", s->repeats);
	jetwatt_json_uint(&j, "seed", s->files.seed);
	figures_json(&j, s, v, n, scratch);
	if (s->reuse) {
		jetwatt_json_object(&j, "reuse");
		figures_json(&j, s, settled, nr_settled, scratch);
		jetwatt_json_real(&j, "modes_total", profiled, 5);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
}

static void sweep_print(const struct jetwatt_sweep *s, const char *title,
			const struct jetwatt_query_score *v, size_t n, double *scratch)
{
	struct query_figures f = { .v = scratch };
	size_t k;

	figures_count(&f, v, n);
	printf("%s: %s, at most %zu modes of %zu; %zu queries, %zu of them feasible\n", title,
	       s->strategy->name, s->modes, s->files.n, f.queries, f.feasible);
	printf("solved %.1f %%, answers that violate a limit %zu\n",
	       f.feasible ? 100.0 * f.solved / f.feasible : NAN, f.violations);
	if (s->files.kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		k = figures_gather(&f, v, n, offsetof(struct jetwatt_query_score, ratio));
		printf("throughput / optimum           median %6.3f, mean %6.3f\n",
		       jetwatt_eval_quantile(f.v, k, 0.5), figures_mean(f.v, k));
		k = figures_gather(&f, v, n, offsetof(struct jetwatt_query_score, clean));
		printf("the same, outliers excluded    median %6.3f, mean %6.3f\n",
		       jetwatt_eval_quantile(f.v, k, 0.5), figures_mean(f.v, k));
	} else {
		k = figures_gather(&f, v, n, offsetof(struct jetwatt_query_score, excess));
		printf("%s than the optimum        median %6.2f %%, mean %6.2f %%\n",
		       s->files.kind == JETWATT_SLICE_TRAIN ? "slower" : "later ",
		       jetwatt_eval_quantile(f.v, k, 0.5), figures_mean(f.v, k));
	}
	printf("modes measured per query       mean %.1f, max %zu, in %.1f measurements\n",
	       f.modes / f.feasible, f.max_modes, f.measured / f.feasible);
	printf("CPU time                       %.1f ms per mode, %.1f ms at most\n",
	       compute_ms_per_mode(&f),
	       f.longest);
}

static int strategy_failed(const struct jetwatt_sweep *s, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				 "strategy %s failed on %s", s->strategy->name, s->files.work[0].path);
}

int jetwatt_sweep_run(const struct jetwatt_sweep *s)
{
	size_t all = sweep_size(s), n, nr_settled = 0, profiled = 0, feasible = 0;
	struct jetwatt_query_score *v, *settled;
	double *scratch;
	int err = 0, code = 0;

	n = s->queries && s->queries < all ? s->queries : all;
	all = n * s->repeats;
	v = calloc(all, sizeof(*v));
	settled = calloc(all, sizeof(*settled));
	scratch = calloc(all, sizeof(*scratch));
	if (!v || !settled || !scratch)
		err = -ENOMEM;
	for (size_t r = 0; r < s->repeats && !err; r++) {
		err = sweep_repeat(s, r, n, v + r * n, &profiled);
		for (size_t i = 0, seen = 0; i < n && !err; i++) {
			feasible += v[r * n + i].feasible;
			seen += v[r * n + i].feasible;
			if (seen > SETTLED_AFTER)
				settled[nr_settled++] = v[r * n + i];
		}
	}
	if (err) {
		code = strategy_failed(s, err);
	} else if (!feasible) {
		code = jetwatt_error_report(JETWATT_EXIT_INFEASIBLE,
					 "no plan meets the limits of any query",
					 "give higher --budgets or a higher --latency",
					 "no query can be met in %s",
					 s->files.work[0].path);
	} else if (s->json) {
		sweep_print_json(s, v, settled, all, nr_settled, (double)profiled / s->repeats,
				 scratch);
	} else {
		sweep_print(s, "all queries", v, all, scratch);
		if (s->reuse)
			sweep_print(s, "queries from the fifth on", settled, nr_settled, scratch);
	}
	free(v);
	free(settled);
	free(scratch);
	return code;
}
