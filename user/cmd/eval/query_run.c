// SPDX-License-Identifier: GPL-2.0-only
/*
 * One query after the other: the strategy asks for cells until it has enough, its
 * answer is the best plan of what it has seen, and is judged by the best plan of
 * all, found by exhaustion.
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

/* A stream has settled after so many queries. */
#define SETTLED	4

static size_t steps(const struct jetwatt_stream_range *r)
{
	return (r->hi - r->lo) / r->step + 1 + 1e-9;
}

/* The query at a place of the whole sweep. */
static struct jetwatt_slice_query query(const struct jetwatt_stream *s, size_t at)
{
	size_t latencies = steps(&s->latency), arrivals = steps(&s->arrival);

	if (s->files.kind == JETWATT_SLICE_TRAIN)
		return (struct jetwatt_slice_query){ s->budget.lo + at * s->budget.step, 0, 0 };
	return (struct jetwatt_slice_query){
		s->budget.lo + at / (latencies * arrivals) * s->budget.step,
		s->latency.lo + at / arrivals % latencies * s->latency.step,
		s->arrival.lo + at % arrivals * s->arrival.step,
	};
}

static size_t sweep(const struct jetwatt_stream *s)
{
	if (s->files.kind == JETWATT_SLICE_TRAIN)
		return steps(&s->budget);
	return steps(&s->budget) * steps(&s->latency) * steps(&s->arrival);
}

int jetwatt_stream_best(const struct jetwatt_stream *s, int clean,
			const struct jetwatt_slice_query *q, struct jetwatt_slice_plan *plan)
{
	struct jetwatt_slice_work work[JETWATT_KNOWN_WORKS];

	for (size_t w = 0; w < jetwatt_slice_works(s->files.kind); w++)
		work[w] = (struct jetwatt_slice_work){
			s->files.work[w].size, s->files.work[w].sizes, s->files.work[w].time_ms,
			clean ? s->files.work[w].clean_w : s->files.work[w].power_w,
		};
	return jetwatt_slice_find(s->files.kind, work, s->files.n, q, plan);
}

static double goal(const struct jetwatt_stream *s, const struct jetwatt_slice_plan *p)
{
	return s->files.kind == JETWATT_SLICE_TRAIN ? p->time_ms : p->latency_ms;
}

static void judge(const struct jetwatt_stream *s, const struct jetwatt_known *k,
		  const struct jetwatt_slice_query *q, const struct jetwatt_slice_plan *optimum,
		  struct jetwatt_stream_verdict *v)
{
	struct jetwatt_slice_plan got, clean = { 0 };

	v->excess = NAN;
	v->ratio = optimum->throughput_hz > 0 ? 0 : NAN;
	jetwatt_stream_best(s, 1, q, &clean);
	v->clean = s->files.kind == JETWATT_SLICE_BESIDE && clean.throughput_hz > 0 ? 0 : NAN;
	v->solved = jetwatt_known_answer(k, q, &got);
	if (!v->solved)
		return;
	v->plan = got;
	for (size_t w = 0; w < k->works; w++)
		v->violated |= s->files.work[w].power_w[got.size[w] * s->files.n + got.mode] >
			       q->power_w;
	v->violated |= s->files.kind != JETWATT_SLICE_TRAIN && got.latency_ms > q->latency_ms;
	v->excess = 100 * fmax(goal(s, &got) / goal(s, optimum) - 1, 0);
	if (s->files.kind == JETWATT_SLICE_BESIDE && clean.throughput_hz > 0)
		v->clean = got.throughput_hz / clean.throughput_hz;
	else if (s->files.kind != JETWATT_SLICE_BESIDE && goal(s, &clean) > 0)
		v->clean = 100 * fmax(goal(s, &got) / goal(s, &clean) - 1, 0);
	if (optimum->throughput_hz > 0)
		v->ratio = got.throughput_hz / optimum->throughput_hz;
}

int jetwatt_stream_ask(const struct jetwatt_stream *s, struct jetwatt_known *k, void *state,
		       const struct jetwatt_slice_query *q, struct jetwatt_stream_verdict *v)
{
	struct jetwatt_slice_plan optimum;
	double begun = jetwatt_eval_now_ms();
	int err = 0;

	*v = (struct jetwatt_stream_verdict){ .feasible = jetwatt_stream_best(s, 0, q, &optimum) };
	v->exhaust_ms = jetwatt_eval_now_ms() - begun;
	/* What nothing meets is no question. */
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

			err = jetwatt_known_add(k, &c, w->time_ms[at], w->power_w[at]);
		}
	}
	v->modes = k->modes;
	v->measured = k->measured;
	judge(s, k, q, &optimum, v);
	return err < 0 ? err : 0;
}

/* @at: places in the sweep, one of each of @n even stretches; shuffled for a stream. */
static void draw(const struct jetwatt_stream *s, size_t r, size_t *at, size_t n)
{
	uint64_t rng = (s->files.seed + r) * 0x9e3779b97f4a7c15ull + 1;
	size_t all = sweep(s);

	for (size_t i = 0; i < n; i++) {
		size_t lo = i * all / n, hi = (i + 1) * all / n;

		at[i] = lo + (size_t)(jetwatt_random_unit(&rng) * (hi - lo));
	}
	if (s->reuse)
		jetwatt_random_draw(&rng, at, n, n);
}

static int once(const struct jetwatt_stream *s, size_t r, size_t n, struct jetwatt_stream_verdict *v,
		size_t *profiled)
{
	const uint32_t *size[] = { s->files.work[0].size, s->files.work[1].size };
	const size_t sizes[] = { s->files.work[0].sizes, s->files.work[1].sizes };
	size_t *at = malloc(n * sizeof(*at));
	struct jetwatt_known k;
	void *state = NULL;
	int err = jetwatt_known_init(&k, s->files.kind, s->files.mode, s->files.n, size, sizes), keep;

	keep = s->reuse || s->strategy->shared;
	for (size_t w = 0; w < k.works; w++)
		k.work[w].by = s->files.work[w].by;
	if (!at)
		err = -ENOMEM;
	if (!err)
		draw(s, r, at, n);
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_slice_query q = query(s, at[i]);

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
		jetwatt_known_query(&k, !keep);
		if (!err)
			err = jetwatt_stream_ask(s, &k, state, &q, &v[i]);
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
	jetwatt_known_free(&k);
	free(at);
	return err;
}

/**
 * struct query_figures - of many verdicts
 * @v: room for one figure of each
 */
struct query_figures {
	size_t queries, feasible, solved, violations, most_modes, n;
	double modes, measured, ms, longest, exhaust_ms;
	double *v;
};

/* @which: the offset of a figure; those that are NAN are left out. */
static size_t gather(struct query_figures *f, const struct jetwatt_stream_verdict *v, size_t n,
		     size_t which)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		double d = *(const double *)((const char *)&v[i] + which);

		if (v[i].feasible && !isnan(d))
			f->v[k++] = d;
	}
	return k;
}

static double mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : NAN;
}

static void count(struct query_figures *f, const struct jetwatt_stream_verdict *v, size_t n)
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
		if (v[i].modes > f->most_modes)
			f->most_modes = v[i].modes;
	}
}

static void spread(struct jetwatt_json *j, const char *key, struct query_figures *f,
		   const struct jetwatt_stream_verdict *v, size_t n, size_t which, int p90)
{
	size_t k = gather(f, v, n, which);

	jetwatt_json_object(j, key);
	jetwatt_json_real(j, "median", jetwatt_eval_quantile(f->v, k, 0.5), 5);
	jetwatt_json_real(j, "mean", mean(f->v, k), 5);
	if (p90)
		jetwatt_json_real(j, "p90", jetwatt_eval_quantile(f->v, k, 0.9), 5);
	jetwatt_json_end(j);
}

static double ms_a_mode(const struct query_figures *f)
{
	return f->modes > 0 ? f->ms / f->modes : f->feasible ? f->ms / f->feasible : NAN;
}

static void json(struct jetwatt_json *j, const struct jetwatt_stream *s, const struct jetwatt_stream_verdict *v,
		 size_t n, double *room)
{
	struct query_figures f = { .v = room };

	count(&f, v, n);
	if (s->files.kind != JETWATT_SLICE_BESIDE) {
		spread(j, "excess_pct", &f, v, n, offsetof(struct jetwatt_stream_verdict, excess), 1);
		spread(j, "excess_clean_pct", &f, v, n, offsetof(struct jetwatt_stream_verdict, clean), 0);
	}
	jetwatt_json_uint(j, "queries", f.queries);
	jetwatt_json_uint(j, "feasible", f.feasible);
	jetwatt_json_real(j, "solved_pct", f.feasible ? 100.0 * f.solved / f.feasible : NAN, 5);
	jetwatt_json_uint(j, "unsolved", f.feasible - f.solved);
	jetwatt_json_uint(j, "violations", f.violations);
	if (s->files.kind == JETWATT_SLICE_INFER || s->files.kind == JETWATT_SLICE_PAIR)
		spread(j, "latency_excess_pct", &f, v, n, offsetof(struct jetwatt_stream_verdict, excess), 0);
	if (s->files.kind == JETWATT_SLICE_BESIDE) {
		spread(j, "throughput_ratio", &f, v, n, offsetof(struct jetwatt_stream_verdict, ratio), 0);
		spread(j, "throughput_ratio_clean", &f, v, n, offsetof(struct jetwatt_stream_verdict, clean), 0);
	}
	jetwatt_json_object(j, "modes_profiled");
	jetwatt_json_real(j, "mean", f.feasible ? f.modes / f.feasible : NAN, 5);
	jetwatt_json_uint(j, "max", f.most_modes);
	jetwatt_json_end(j);
	jetwatt_json_real(j, "measurements", f.feasible ? f.measured / f.feasible : NAN, 5);
	jetwatt_json_real(j, "compute_ms", ms_a_mode(&f), 4);
	jetwatt_json_real(j, "compute_max_ms", f.longest, 4);
	jetwatt_json_real(j, "exhaust_ms", f.exhaust_ms, 4);
}

static void print_json(const struct jetwatt_stream *s, const struct jetwatt_stream_verdict *v,
		       const struct jetwatt_stream_verdict *late, size_t n, size_t lates, double profiled,
		       double *room)
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
	json(&j, s, v, n, room);
	if (s->reuse) {
		jetwatt_json_object(&j, "reuse");
		json(&j, s, late, lates, room);
		jetwatt_json_real(&j, "modes_total", profiled, 5);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
}

static void text(const struct jetwatt_stream *s, const char *title, const struct jetwatt_stream_verdict *v,
		 size_t n, double *room)
{
	struct query_figures f = { .v = room };
	size_t k;

	count(&f, v, n);
	printf("%s: %s, at most %zu modes of %zu; %zu queries, %zu of them feasible\n", title,
	       s->strategy->name, s->modes, s->files.n, f.queries, f.feasible);
	printf("solved %.1f %%, beyond a limit %zu\n",
	       f.feasible ? 100.0 * f.solved / f.feasible : NAN, f.violations);
	if (s->files.kind == JETWATT_SLICE_BESIDE) {
		k = gather(&f, v, n, offsetof(struct jetwatt_stream_verdict, ratio));
		printf("throughput of the optimum's    median %6.3f, mean %6.3f\n",
		       jetwatt_eval_quantile(f.v, k, 0.5), mean(f.v, k));
		k = gather(&f, v, n, offsetof(struct jetwatt_stream_verdict, clean));
		printf("of that of rows not dirty      median %6.3f, mean %6.3f\n",
		       jetwatt_eval_quantile(f.v, k, 0.5), mean(f.v, k));
	} else {
		k = gather(&f, v, n, offsetof(struct jetwatt_stream_verdict, excess));
		printf("%s than the optimum        median %6.2f %%, mean %6.2f %%\n",
		       s->files.kind == JETWATT_SLICE_TRAIN ? "slower" : "later ",
		       jetwatt_eval_quantile(f.v, k, 0.5), mean(f.v, k));
	}
	printf("modes measured per query       mean %.1f, most %zu, in %.1f measurements\n",
	       f.modes / f.feasible, f.most_modes, f.measured / f.feasible);
	printf("computing                      %.1f ms a mode, %.1f ms at most\n", ms_a_mode(&f),
	       f.longest);
}

static int failed(const struct jetwatt_stream *s, int err)
{
	return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				 "strategy %s failed on %s", s->strategy->name, s->files.work[0].path);
}

int jetwatt_stream_run(const struct jetwatt_stream *s)
{
	size_t all = sweep(s), n, lates = 0, profiled = 0, feasible = 0;
	struct jetwatt_stream_verdict *v, *late;
	double *room;
	int err = 0, code = 0;

	n = s->queries && s->queries < all ? s->queries : all;
	all = n * s->repeats;
	v = calloc(all, sizeof(*v));
	late = calloc(all, sizeof(*late));
	room = calloc(all, sizeof(*room));
	if (!v || !late || !room)
		err = -ENOMEM;
	for (size_t r = 0; r < s->repeats && !err; r++) {
		err = once(s, r, n, v + r * n, &profiled);
		for (size_t i = 0, seen = 0; i < n && !err; i++) {
			feasible += v[r * n + i].feasible;
			seen += v[r * n + i].feasible;
			if (seen > SETTLED)
				late[lates++] = v[r * n + i];
		}
	}
	if (err) {
		code = failed(s, err);
	} else if (!feasible) {
		code = jetwatt_error_say(JETWATT_EXIT_INFEASIBLE, "no mode is within any of the limits",
					 "higher --budgets, or --latency", "nothing to be found in %s",
					 s->files.work[0].path);
	} else if (s->json) {
		print_json(s, v, late, all, lates, (double)profiled / s->repeats, room);
	} else {
		text(s, "all queries", v, all, room);
		if (s->reuse)
			text(s, "from the fifth on", late, lates, room);
	}
	free(v);
	free(late);
	free(room);
	return code;
}
