// SPDX-License-Identifier: GPL-2.0-only
/* From the places of one job's waits to bounds, and what is in each. */
#include "minibatch/bounds.h"

#include <math.h>

#define ENDS_MAX	12	/* of minibatches between two waits */
#define SCORE_MOST	1e6	/* of a record: more says nothing more */
#define GAP_MOST_NS	9e18

/* Where its time went: waits, the time before work was given, GPU. Threads may wait
 * at once: what is counted is the time in which any does. */
static void parts(struct jetwatt_batch_bound *o, const struct jetwatt_item *it, size_t n)
{
	uint64_t waited = o->start_ns, busy = o->start_ns, first = o->end_ns;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		uint64_t launch = s->launch_ns && s->launch_ns < s->enter_ns ? s->launch_ns : s->enter_ns;

		if (s->launch_ns)
			o->flags |= JETWATT_BATCH_LAUNCHED;
		first = launch < first ? launch : first;
		/* In order of their ends: what is counted twice is only what is before. */
		if (s->exit_ns > waited)
			o->wait_ns += s->exit_ns - (s->enter_ns > waited ? s->enter_ns : waited);
		if (s->exit_ns > busy)
			o->gpu_ns += s->exit_ns - (launch > busy ? launch : busy);
		waited = s->exit_ns > waited ? s->exit_ns : waited;
		busy = s->exit_ns > busy ? s->exit_ns : busy;
		o->cgroup = s->cgroup;
	}
	o->fetch_ns = n && first > o->start_ns ? first - o->start_ns : 0;
}

/* Ends of minibatches between wait @i - 1 and wait @i of a job; times that were not seen
 * are where the cycle puts them. Return: how many, at most ENDS_MAX. */
static int ends(const struct jetwatt_item *it, const struct jetwatt_beat *b, size_t i,
		const struct jetwatt_rhythm *r, uint64_t *at)
{
	uint64_t from = it[i - 1].sync->exit_ns, to = it[i].sync->enter_ns;
	int k = r->model.train.k, p = b[i - 1].place & JETWATT_PLACE_EXTRA ? k - 1 : b[i - 1].place;
	double seen[ENDS_MAX] = { 0 }, sum = 0;
	int n = 0;

	if (!b[i].missing || b[i].other || b[i - 1].other || !k) {
		at[0] = from;
		return b[i].first || b[i].other != b[i - 1].other;
	}
	for (int m = 0; m <= b[i].missing; m++) {
		if (p == k - 1 && n < ENDS_MAX)
			seen[n++] = sum;
		p = (p + 1) % k;
		sum += exp(r->model.train.place[p].gap);
		if (m < b[i].missing)
			sum += exp(r->model.train.place[p].wait);
	}
	for (int e = 0; e < n; e++)
		at[e] = from + (to > from ? (uint64_t)((double)(to - from) * seen[e] / sum) : 0);
	return n;
}

/* How much of what is in it fits. */
static float confidence(const struct jetwatt_beat *b, size_t n, double usual)
{
	size_t fits = 0;

	for (size_t i = 0; i < n; i++)
		fits += !b[i].odd;
	return (float)(n ? usual * (0.5 + 0.5 * (double)fits / (double)n) : 0.5 * usual);
}

/* One stretch: waits [@from, @to[ of the job, which began at @o->start_ns. */
static void fill(struct jetwatt_batch_bound *o, const struct jetwatt_item *it, const struct jetwatt_beat *b,
		 size_t from, size_t to, const struct jetwatt_rhythm *r)
{
	size_t last = to > from ? to - 1 : to;

	o->syncs = (uint32_t)(to - from);
	o->tgid = it[last].sync->tgid;
	o->kind = !b[last].other || to == from ? JETWATT_BATCH_TRAIN :
		  b[last].place == JETWATT_PLACE_NONE ? JETWATT_BATCH_OTHER : JETWATT_BATCH_EVAL;
	/* Begun before we looked. */
	if (o->flags & JETWATT_BATCH_FIRST && !from && to && b[0].place && !b[0].other)
		o->kind = JETWATT_BATCH_OTHER;
	o->confidence = confidence(b + from, to - from, r->confidence);
	for (size_t i = from; i < to; i++)
		o->missing += i > from ? b[i].missing : 0;
	parts(o, it + from, to - from);
}

/* Is wait @i the last of its minibatch? */
static bool whole(const struct jetwatt_beat *b, size_t from, size_t i, const struct jetwatt_rhythm *r)
{
	if (r->model.train.k)
		return b[i].place & JETWATT_PLACE_EXTRA || b[i].place + 1 >= r->model.train.k;
	return i + 1 - from >= (size_t)r->k;
}

/* The period of the cycle or phase that a wait is in, and its place there. */
static void phase(const struct jetwatt_beat *b, const struct jetwatt_rhythm *r,
		  struct jetwatt_batch_why *w)
{
	w->period = (uint32_t)(!b->other ? r->k : b->place == JETWATT_PLACE_NONE ? 0 :
			       r->model.train.k ? r->model.eval.k : b->period);
	w->phase = b->place == JETWATT_PLACE_NONE ? 0 :
		   b->place & JETWATT_PLACE_EXTRA ? w->period : b->place;
}

static float limited(double score)
{
	return (float)fmax(-SCORE_MOST, fmin(SCORE_MOST, score));
}

/* Record what was decided about the end of wait @i - 1 by what wait @i is; @ends minibatches
 * end there. */
static void record(const struct jetwatt_item *it, const struct jetwatt_beat *b, size_t n, size_t i,
		   const struct jetwatt_rhythm *r, struct jetwatt_batch_why *why, int ends,
		   uint64_t end_ns)
{
	struct jetwatt_batch_why *w = &why[it[i - 1].at];

	phase(&b[i - 1], r, w);
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
	w->score = limited(b[i].score);
	w->missing = b[i].missing;
	why[it[i].at].gap_ns = (uint64_t)fmin(b[i].gap_ns, GAP_MOST_NS);
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

int jetwatt_bounds_cut(const struct jetwatt_item *it, const struct jetwatt_beat *b, size_t n,
		       size_t enough, const struct jetwatt_rhythm *r, const struct jetwatt_cut *cut,
		       size_t *next)
{
	struct jetwatt_batch_bound *out = cut->out;
	uint64_t start = out[0].start_ns, at[ENDS_MAX];
	uint32_t flags = out[0].flags;
	size_t from = 0, count = 0;

	for (size_t i = 1; i <= n && from < enough; i++) {
		int nr = 1;

		at[0] = it[i - 1].sync->exit_ns;
		if (i < n)
			nr = ends(it, b, i, r, at);
		else if (!b[n - 1].other && !whole(b, from, n - 1, r))
			nr = 0;	/* may be under way still */
		/* Room for one and a half in the mean: never so many are missing. */
		if (nr > 1 && count + (size_t)nr > i + i / 2)
			nr = 1;
		if (cut->why)
			record(it, b, n, i, r, cut->why, nr, at[0]);
		for (size_t j = from; cut->why && nr && j < i; j++)
			cut->why[it[j].at].minibatch = cut->base + (uint32_t)count;
		for (int e = 0; e < nr; e++) {
			bool seen = at[e] == it[i - 1].sync->exit_ns;

			flags |= seen ? 0 : JETWATT_BATCH_INFERRED;
			out[count] = (struct jetwatt_batch_bound){ .start_ns = start, .end_ns = at[e],
								   .flags = flags };
			fill(&out[count++], it, b, e ? i : from, i, r);
			flags = seen ? 0 : JETWATT_BATCH_INFERRED;
			start = at[e];
		}
		from = nr ? i : from;
	}
	*next = from;
	return (int)count;
}

/* Waits [@from, @to[, which are in the minibatch that mark @to ends. */
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

int jetwatt_bounds_marked(const struct jetwatt_item *it, size_t n, struct jetwatt_rhythm *r,
			  const struct jetwatt_cut *cut)
{
	struct jetwatt_batch_bound *out = cut->out;
	uint32_t flags = JETWATT_BATCH_FIRST;
	size_t from = 0;
	int count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		struct jetwatt_batch_bound *o = &out[count];

		if (s->call != JETWATT_SYNC_MARK)
			continue;
		while (from < i && it[from].sync->exit_ns <= s->enter_ns)
			from++;
		*o = (struct jetwatt_batch_bound){ .start_ns = s->enter_ns, .end_ns = s->exit_ns,
						   .tgid = s->tgid, .cgroup = s->cgroup, .flags = flags,
						   .confidence = 1, .syncs = (uint32_t)(i - from) };
		parts(o, it + from, i - from);
		if (cut->why)
			record_marked(it, from, i, cut->why, cut->base + (uint32_t)count);
		r->k = (int)(i - from);
		flags = 0;
		from = i + 1;
		count++;
	}
	for (size_t i = 0; i < n && count && cut->why; i++) {
		cut->why[it[i].at].rule = JETWATT_RULE_MARK;
		cut->why[it[i].at].score = 1;
	}
	r->confidence = count > 0;
	return count;
}
