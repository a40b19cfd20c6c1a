// SPDX-License-Identifier: GPL-2.0-only
/* From the waits of all jobs to minibatches: one job at a time. */
#include "batch/batch.h"
#include "batch/rhythm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A wait and where it stood in the input. */
struct item {
	const struct jetwatt_sync *sync;
	size_t at;
};

static int by_job(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->sync->tgid != y->sync->tgid)
		return x->sync->tgid < y->sync->tgid ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_end(const void *a, const void *b)
{
	const struct jetwatt_batch_bound *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static uint32_t who(const struct jetwatt_sync *s)
{
	return s->tid * 2654435761u ^ s->call;
}

/* Logarithms with a floor that follows the job's speed: jitter of a time that
 * is next to nothing is next to nothing too. */
static void beats(const struct item *it, size_t n, struct jetwatt_beat *b)
{
	uint64_t free_from = it[0].sync->exit_ns;

	for (size_t i = 0; i < n; i++) {
		size_t lo = i > 3 ? i - 3 : 0, hi = i + 3 < n ? i + 3 : n - 1;
		const struct jetwatt_sync *s = it[i].sync;
		double span = hi > lo ? (double)(it[hi].sync->exit_ns - it[lo].sync->exit_ns) : 0;
		double floor_ns = 3e4 + 2e-3 * span;
		double gap = i && s->enter_ns > free_from ? (double)(s->enter_ns - free_from) : 0;

		b[i].gap_ns = gap;
		b[i].cycle_ns = s->exit_ns > free_from ? (double)(s->exit_ns - free_from) : 0;
		b[i].gap = log(gap + floor_ns);
		b[i].wait = log((double)(s->exit_ns - s->enter_ns) + floor_ns);
		b[i].who = who(s);
		if (s->exit_ns > free_from)
			free_from = s->exit_ns;
	}
}

/* The waits of one thread of many that do not keep step with each other: the
 * thread with the most. Moves them to the front. Return: how many. */
static size_t busiest_thread(struct item *it, size_t n)
{
	uint32_t best = 0;
	size_t most = 0, kept = 0;

	/* Threads come and go, but a job waits in few of them: candidates by
	 * repeated majority would miss none that has half of the waits. */
	for (size_t i = 0; i < n && most * 2 <= n; i++) {
		size_t count = 0;
		bool seen = false;

		for (size_t j = 0; j < i && j < 64 && !seen; j++)
			seen = it[j].sync->tid == it[i].sync->tid;
		if (seen || i >= 64)
			continue;
		for (size_t j = i; j < n; j++)
			count += it[j].sync->tid == it[i].sync->tid;
		if (count > most) {
			most = count;
			best = it[i].sync->tid;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (it[i].sync->tid == best)
			it[kept++] = it[i];
	return kept;
}

/* Minibatches of one job. Return: how many, or -ENOMEM. */
static int job(struct item *it, size_t n, struct jetwatt_batch_bound *out,
	       struct jetwatt_rhythm *r)
{
	struct jetwatt_beat *b = malloc(n * sizeof(*b));
	uint64_t start = it[0].sync->enter_ns;
	size_t from = 0;
	int rc, count = 0;

	if (!b)
		return -ENOMEM;
	beats(it, n, b);
	for (size_t i = 1; i < n; i++)
		if (it[i].sync->tid != it[0].sync->tid) {
			if (jetwatt_rhythm_calls(b, n))
				break;
			n = busiest_thread(it, n);
			start = it[0].sync->enter_ns;
			beats(it, n, b);
			break;
		}
	rc = jetwatt_rhythm_find(b, n, r);
	for (size_t i = 1; i <= n && !rc; i++) {
		struct jetwatt_batch_bound *o = &out[count];

		if (i < n && !b[i].first)
			continue;
		/* The last may be under way still. */
		if (i == n && !b[from].other && i - from < (size_t)r->k)
			break;
		*o = (struct jetwatt_batch_bound){
			.start_ns = start, .end_ns = it[i - 1].sync->exit_ns,
			.syncs = (uint32_t)(i - from), .tgid = it[from].sync->tgid,
			.kind = b[from].other ? JETWATT_BATCH_EVAL : JETWATT_BATCH_TRAIN,
		};
		/* Begun before we looked. */
		if (!from && o->syncs < (uint32_t)r->k)
			o->kind = JETWATT_BATCH_OTHER;
		for (size_t j = from; j < i; j++)
			o->wait_ns += it[j].sync->exit_ns - it[j].sync->enter_ns;
		start = o->end_ns;
		from = i;
		count++;
	}
	free(b);
	return rc ? rc : count;
}

int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info)
{
	size_t from = 0, jobs = 0, most = 0;
	struct item *it;
	int count = 0;

	*info = (struct jetwatt_batch_info){ 0 };
	for (size_t i = 0; i < n; i++)
		if (sync[i].exit_ns < sync[i].enter_ns ||
		    (i && sync[i].exit_ns < sync[i - 1].exit_ns))
			return -EINVAL;
	if (!n)
		return -ENODATA;
	it = malloc(n * sizeof(*it));
	if (!it)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		it[i] = (struct item){ &sync[i], i };
	qsort(it, n, sizeof(*it), by_job);

	for (size_t i = 1; i <= n; i++) {
		struct jetwatt_rhythm r;
		int got;

		if (i < n && it[i].sync->tgid == it[from].sync->tgid)
			continue;
		got = job(it + from, i - from, out + count, &r);
		if (got < 0) {
			free(it);
			return got;
		}
		/* Of several jobs, the one with the most waits speaks for all. */
		if (i - from > most) {
			most = i - from;
			info->period_syncs = r.k;
		}
		info->confidence += r.confidence * (double)(i - from) / (double)n;
		info->lost += r.missing;
		count += got;
		from = i;
		jobs++;
	}
	free(it);
	if (jobs > 1)
		qsort(out, (size_t)count, sizeof(*out), by_end);
	return count;
}
