// SPDX-License-Identifier: GPL-2.0-only
/* Converts the labels of one job's waits to bounds with their times, and records the decisions. */
#include "minibatch/bounds.h"

#include <math.h>

/* maximum number of ends of minibatches that are assumed between two successive waits, if waits
 * between these two are missing */
#define ENDS_MAX	12
#define SCORE_MAX	1e6	/* largest absolute value of a score in a record */
#define GAP_MAX_NS	9e18	/* largest gap in a record, ns */

void jetwatt_bounds_add_wait(struct jetwatt_batch_bound *o, struct jetwatt_bounds_times *t,
			     const struct jetwatt_sync *s, uint64_t idle_ns)
{
	/* without traced launches, the start of the first of the merged waits */
	uint64_t launch = s->launch_ns ? s->launch_ns : s->enter_ns - idle_ns;

	if (launch > s->enter_ns)
		launch = s->enter_ns;
	if (s->launch_ns)
		o->flags |= JETWATT_BATCH_LAUNCHED;
	o->launches += s->launches;
	t->first = launch < t->first ? launch : t->first;
	o->fetch_ns = t->first > o->start_ns ? t->first - o->start_ns : 0;
	/* The waits are in order of their ends and may overlap; count overlapping time once. */
	if (s->exit_ns > t->waited)
		o->wait_ns += s->exit_ns - (s->enter_ns > t->waited ? s->enter_ns : t->waited);
	if (s->exit_ns > t->busy)
		o->gpu_ns += s->exit_ns - (launch > t->busy ? launch : t->busy) - idle_ns;
	t->waited = s->exit_ns > t->waited ? s->exit_ns : t->waited;
	t->busy = s->exit_ns > t->busy ? s->exit_ns : t->busy;
	o->cgroup = s->cgroup;
}

static void fill_times(struct jetwatt_batch_bound *o, const struct jetwatt_item *it, size_t n)
{
	struct jetwatt_bounds_times t = { o->start_ns, o->start_ns, o->end_ns };

	for (size_t i = 0; i < n; i++)
		jetwatt_bounds_add_wait(o, &t, it[i].sync, it[i].idle_ns);
}

/* Return whether the waits @i - 1 and @i, both in no cycle, are two steps of a job with one wait per
 * minibatch: each follows its own launches. (For example, such steps are the chunks of a
 * prefill.) */
static bool is_step(const struct jetwatt_item *it, const struct jetwatt_batch_wait *b, size_t i,
		    const struct jetwatt_period *r)
{
	return r->launches && r->k == 1 && b[i].phase_index == JETWATT_PHASE_INDEX_NONE &&
	       b[i - 1].phase_index == JETWATT_PHASE_INDEX_NONE && it[i].sync->launches &&
	       it[i - 1].sync->launches;
}

/*
 * Find the ends of minibatches between wait @i - 1 and wait @i of a job. If waits between these two
 * are missing, the times of the ends are estimated with the learned cycle. Return: number of ends,
 * at most ENDS_MAX.
 */
static int batch_ends(const struct jetwatt_item *it, const struct jetwatt_batch_wait *b, size_t i,
		      const struct jetwatt_period *r, uint64_t *at)
{
	uint64_t from = it[i - 1].sync->exit_ns, to = it[i].sync->enter_ns;
	int k = r->model.train.k,
	    p = b[i - 1].phase_index & JETWATT_PHASE_INDEX_EXTRA ? k - 1 : b[i - 1].phase_index;
	double seen[ENDS_MAX] = { 0 }, sum = 0;
	int n = 0;

	if (!b[i].missing || b[i].other_phase || b[i - 1].other_phase || !k) {
		at[0] = from;
		return b[i].starts_minibatch || b[i].other_phase != b[i - 1].other_phase ||
		       is_step(it, b, i, r);
	}
	for (int m = 0; m <= b[i].missing; m++) {
		if (p == k - 1 && n < ENDS_MAX)
			seen[n++] = sum;
		p = (p + 1) % k;
		sum += exp(r->model.train.emission[p].gap);
		if (m < b[i].missing)
			sum += exp(r->model.train.emission[p].wait);
	}
	for (int e = 0; e < n; e++)
		at[e] = from + (to > from ? (uint64_t)((double)(to - from) * seen[e] / sum) : 0);
	return n;
}

/* Return the confidence of a bound, which is reduced by the fraction of its waits that are
 * outliers. */
static float bound_confidence(const struct jetwatt_batch_wait *b, size_t n, double usual)
{
	size_t fits = 0;

	for (size_t i = 0; i < n; i++)
		fits += !b[i].outlier;
	return (float)(n ? usual * (0.5 + 0.5 * (double)fits / (double)n) : 0.5 * usual);
}

/* Fill in the bound that consists of the waits from index @from to @to - 1; its start_ns is set
 * already. */
static void fill_bound(struct jetwatt_batch_bound *o, const struct jetwatt_item *it,
		       const struct jetwatt_batch_wait *b, size_t from, size_t to,
		       const struct jetwatt_period *r)
{
	size_t last = to > from ? to - 1 : to;

	for (size_t i = from; i < to; i++)
		o->syncs += it[i].waits;
	o->tgid = it[last].sync->tgid;
	o->kind = !b[last].other_phase || to == from		    ? JETWATT_BATCH_TRAIN
		  : b[last].phase_index == JETWATT_PHASE_INDEX_NONE ? JETWATT_BATCH_OTHER
								    : JETWATT_BATCH_EVAL;
	/* The first bound is incomplete if its first wait is not the first wait of a minibatch. */
	if (o->flags & JETWATT_BATCH_FIRST && !from && to && b[0].phase_index && !b[0].other_phase)
		o->kind = JETWATT_BATCH_OTHER;
	o->confidence = bound_confidence(b + from, to - from, r->confidence);
	for (size_t i = from; i < to; i++)
		o->missing += i > from ? b[i].missing : 0;
	fill_times(o, it + from, to - from);
	/* If launches are traced, an interval without launches is no minibatch. */
	if (r->launches && !o->launches && to > from)
		o->kind = JETWATT_BATCH_OTHER;
}

/* Return: true if the minibatch that begins with wait @from is complete after wait @i. */
static bool is_complete(const struct jetwatt_batch_wait *b, size_t from, size_t i,
			const struct jetwatt_period *r)
{
	if (r->model.train.k)
		return b[i].phase_index & JETWATT_PHASE_INDEX_EXTRA ||
		       b[i].phase_index + 1 >= r->model.train.k;
	return i + 1 - from >= (size_t)r->k;
}

/* Fill in the period of a wait's cycle or phase, and its phase index. */
static void fill_phase(const struct jetwatt_batch_wait *b, const struct jetwatt_period *r,
		       struct jetwatt_batch_why *w)
{
	w->period = (uint32_t)(!b->other_phase				    ? r->k
			       : b->phase_index == JETWATT_PHASE_INDEX_NONE ? 0
			       : r->model.train.k			    ? r->model.eval.k
									    : b->period);
	w->phase = b->phase_index == JETWATT_PHASE_INDEX_NONE ? 0 :
		   b->phase_index & JETWATT_PHASE_INDEX_EXTRA ? w->period : b->phase_index;
}

static float clamp_score(double score)
{
	return (float)fmax(-SCORE_MAX, fmin(SCORE_MAX, score));
}

/* Record the decision whether a minibatch ends with wait @i - 1, which wait @i determines; @ends
 * minibatches end there. */
static void record_decision(const struct jetwatt_item *it, const struct jetwatt_batch_wait *b,
			    size_t n, size_t i, const struct jetwatt_period *r,
			    struct jetwatt_batch_why *why, int ends, uint64_t end_ns)
{
	struct jetwatt_batch_why *w = &why[it[i - 1].at];

	fill_phase(&b[i - 1], r, w);
	w->ends = (uint8_t)ends;
	w->end_ns = ends ? end_ns : 0;
	if (i == n) {
		w->rule = JETWATT_RULE_LAST;
		w->score = w->period && w->phase < w->period ?
			   (float)(w->phase + 1) / (float)w->period : 1;
		w->missing = 0;
		return;
	}
	w->rule = b[i].rule;
	w->score = clamp_score(b[i].score);
	w->missing = b[i].missing;
	if (it[i].waits == 1)
		why[it[i].at].gap_ns = (uint64_t)fmin(b[i].gap_ns, GAP_MAX_NS);
}

void jetwatt_bounds_begin(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_why *why)
{
	uint64_t free_from = it[0].sync->exit_ns;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		uint64_t gap_ns = i && s->enter_ns > free_from ? s->enter_ns - free_from : 0;

		why[it[i].at] = (struct jetwatt_batch_why){ .gap_ns = gap_ns, .minibatch = JETWATT_BATCH_NONE };
		free_from = s->exit_ns;
	}
}

int jetwatt_bounds_write(const struct jetwatt_item *it, const struct jetwatt_batch_wait *b,
			 size_t n, size_t enough, const struct jetwatt_period *r,
			 const struct jetwatt_bounds_out *dst, size_t *next)
{
	struct jetwatt_batch_bound *out = dst->out;
	uint64_t start = out[0].start_ns, at[ENDS_MAX];
	uint32_t flags = out[0].flags;
	size_t from = 0, count = 0;

	for (size_t i = 1; i <= n && from < enough; i++) {
		int nr = 1;

		at[0] = it[i - 1].sync->exit_ns;
		if (i < n)
			nr = batch_ends(it, b, i, r, at);
		else if (!b[n - 1].other_phase && !is_complete(b, from, n - 1, r))
			nr = 0;	/* the last minibatch may not be complete yet */
		/* Limit the number of bounds for missing waits, so that @out, with 2 entries per
		 * wait, has room for all bounds. */
		if (nr > 1 && count + (size_t)nr > i + i / 2)
			nr = 1;
		if (dst->why)
			record_decision(it, b, n, i, r, dst->why, nr, at[0]);
		for (size_t j = from; dst->why && nr && j < i; j++)
			dst->why[it[j].at].minibatch = dst->base + (uint32_t)count;
		for (int e = 0; e < nr; e++) {
			bool seen = at[e] == it[i - 1].sync->exit_ns;

			flags |= seen ? 0 : JETWATT_BATCH_INFERRED;
			out[count] = (struct jetwatt_batch_bound){ .start_ns = start, .end_ns = at[e],
								   .flags = flags };
			fill_bound(&out[count++], it, b, e ? i : from, i, r);
			flags = seen ? 0 : JETWATT_BATCH_INFERRED;
			start = at[e];
		}
		from = nr ? i : from;
	}
	*next = from;
	return (int)count;
}

/* Record the decisions about the waits from index @from to @to - 1 and about the mark @to, which
 * ends their minibatch. */
static void record_marked(const struct jetwatt_item *it, size_t from, size_t to,
			  struct jetwatt_batch_why *why, uint32_t minibatch)
{
	for (size_t i = from; i <= to; i++) {
		struct jetwatt_batch_why *w = &why[it[i].at];

		w->minibatch = minibatch;
		w->period = (uint32_t)(to - from);
		w->phase = (uint32_t)(i - from);
	}
	why[it[to].at].ends = 1;
	why[it[to].at].end_ns = it[to].sync->exit_ns;
}

int jetwatt_bounds_marked(const struct jetwatt_item *it, size_t n, struct jetwatt_period *r,
			  const struct jetwatt_bounds_out *dst)
{
	struct jetwatt_batch_bound *out = dst->out;
	uint32_t flags = JETWATT_BATCH_FIRST;
	size_t from = 0;
	int count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		struct jetwatt_batch_bound *o = &out[count];
		uint64_t start = s->enter_ns;

		if (s->call != JETWATT_SYNC_MARK)
			continue;
		/* A single mark has no begin: its minibatch begins with the previous one's end. */
		if (start == s->exit_ns)
			start = count ? out[count - 1].end_ns : it[0].sync->enter_ns;
		while (from < i && it[from].sync->exit_ns <= start)
			from++;
		*o = (struct jetwatt_batch_bound){ .start_ns = start, .end_ns = s->exit_ns,
						   .tgid = s->tgid, .cgroup = s->cgroup, .flags = flags,
						   .confidence = 1, .syncs = (uint32_t)(i - from) };
		fill_times(o, it + from, i - from);
		if (dst->why)
			record_marked(it, from, i, dst->why, dst->base + (uint32_t)count);
		r->k = (int)(i - from);
		flags = 0;
		from = i + 1;
		count++;
	}
	for (size_t i = 0; i < n && count && dst->why; i++) {
		dst->why[it[i].at].rule = JETWATT_RULE_MARK;
		dst->why[it[i].at].score = 1;
	}
	r->confidence = count > 0;
	return count;
}
