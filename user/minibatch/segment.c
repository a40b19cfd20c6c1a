// SPDX-License-Identifier: GPL-2.0-only
/* Finds the minibatches of all jobs in a sequence of waits, one job after the other. */
#include "minibatch/bounds.h"
#include "minibatch/period.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW		4096	/* number of waits that are analysed together (a window) */
/* the GPU is shared if more than 1 in this many waits of a job follows a wait of another job */
#define SHARED_WAITS	20

static int by_job(const void *a, const void *b)
{
	const struct jetwatt_item *x = a, *y = b;

	if (x->sync->tgid != y->sync->tgid)
		return x->sync->tgid < y->sync->tgid ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* A bound and its index before sorting. */
struct segment_sorted {
	struct jetwatt_batch_bound bound;
	uint32_t was;
};

static int by_end(const void *a, const void *b)
{
	const struct segment_sorted *x = a, *y = b;

	if (x->bound.end_ns != y->bound.end_ns)
		return x->bound.end_ns < y->bound.end_ns ? -1 : 1;
	if (x->bound.tgid != y->bound.tgid)
		return x->bound.tgid < y->bound.tgid ? -1 : 1;
	return x->was < y->was ? -1 : x->was > y->was;
}

static bool several_threads(const struct jetwatt_item *it, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (it[i].sync->tid != it[0].sync->tid)
			return true;
	return false;
}

/*
 * For a job whose threads have no common period: find the thread with the most waits, and move the
 * waits of that thread to the front of @it. Return: number of waits of the thread.
 */
static size_t busiest_thread(struct jetwatt_item *it, size_t n)
{
	uint32_t best = 0;
	size_t most = 0, kept = 0;

	/* A job has many threads, but waits in few of them, so only threads in the first 64 waits are
	 * candidates. Stop once a thread has more than half of the waits. */
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

/*
 * Analyse a window of one job's waits. If the waits of only one thread are used, move them to the
 * front of @it and reduce @n to their number.
 */
static int segment_window(struct jetwatt_item *it, size_t *n, struct jetwatt_batch_wait *b,
			  struct jetwatt_period *r)
{
	uint32_t tid;
	int rc;

	if (r->model.train.k) {
		jetwatt_wait_times(it, *n, b);
		rc = jetwatt_refine_more(b, *n, r);
		if (rc)
			return rc < 0 ? rc : 0;
	}
	jetwatt_wait_rough_logs(it, *n, b);
	rc = jetwatt_period_find(b, *n, r);
	if (rc || r->model.train.k || !several_threads(it, *n) || jetwatt_period_calls(b, *n))
		return rc;
	*n = busiest_thread(it, *n);
	tid = it[0].sync->tid;
	jetwatt_wait_rough_logs(it, *n, b);
	rc = jetwatt_period_find(b, *n, r);
	r->tid = tid;
	return rc;
}

/* Return whether the job shares the GPU: more than 1 in SHARED_WAITS of its waits follows a wait of
 * another job. */
static bool is_shared(const struct jetwatt_item *it, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += it[i].at && it[i].sync[-1].tgid != it[i].sync->tgid;
	return count * SHARED_WAITS > n;
}

/*
 * Find the minibatches of one job, window by window. The bounds in about the first 7/8 of a window are
 * kept, and the next window begins after them. The time per wait therefore does not depend on the
 * length of the run, and the job may change its behaviour.
 * Return: number of bounds; -ENOMEM.
 */
static int segment_job(struct jetwatt_item *it, size_t n, const struct jetwatt_bounds_out *dst,
		       struct jetwatt_period *r)
{
	struct jetwatt_batch_bound *out = dst->out;
	struct jetwatt_sync *merged;
	size_t scratch = n < WINDOW ? n : WINDOW, done = 0;
	struct jetwatt_batch_wait *b;
	uint64_t missing = 0, begin_ns = it[0].sync->enter_ns;
	int count, rc = 0;

	*r = (struct jetwatt_period){ .k = 1, .shared = is_shared(it, n), .why = dst->why != NULL };
	if (dst->why)
		jetwatt_bounds_begin(it, n, dst->why);
	count = jetwatt_bounds_marked(it, n, r, dst);
	if (count)
		return count;
	r->launches = jetwatt_launches_traced(it, n);
	b = malloc(scratch * sizeof(*b));
	merged = malloc(n * sizeof(*merged));
	if (!b || !merged) {
		free(b);
		free(merged);
		return -ENOMEM;
	}
	n = jetwatt_merge_waits(it, n, r->launches, merged, dst->why);
	if (!r->launches)
		n = jetwatt_bursts_merge(it, n, merged, dst->why);
	rc = jetwatt_long_cycles_merge(it, &n, merged, dst->why, r);
	out[0].start_ns = begin_ns;
	out[0].flags = JETWATT_BATCH_FIRST;
	while (done < n && rc >= 0) {
		struct jetwatt_batch_bound *to = &out[count];
		struct jetwatt_bounds_out part = { to, dst->base + (uint32_t)count, dst->why };
		size_t left = n - done, seen = left < WINDOW ? left : WINDOW, all = seen, next;
		bool last = seen == left;

		rc = segment_window(it + done, &seen, b, r);
		if (rc)
			break;
		rc = jetwatt_bounds_write(it + done, b, seen, last ? seen + 1 : seen - seen / 8, r,
					  &part, &next);
		count += rc;
		if (last || rc < 0)
			break;
		for (size_t i = 0; i < next && r->model.train.k; i++)
			missing += b[i].missing;
		/* Move the waits that are left over to the start of the next window. */
		next = rc ? next : seen;
		done += all - (seen - next);
		memmove(it + done, it + done - all + seen, (seen - next) * sizeof(*it));
		if (rc)
			out[count] = (struct jetwatt_batch_bound){ .start_ns = to[rc - 1].end_ns };
	}
	r->missing += missing;
	free(merged);
	free(b);
	return rc < 0 ? rc : count;
}

/* Sort the bounds of several jobs by their end, and change the indices of bounds in @why (which may
 * be NULL) accordingly. Return: @count; -ENOMEM. */
static int merge_bounds(struct jetwatt_batch_bound *out, size_t count,
			struct jetwatt_batch_why *why, size_t n)
{
	struct segment_sorted *s = malloc((count + 1) * sizeof(*s));
	uint32_t *now = malloc((count + 1) * sizeof(*now));
	int rc = -ENOMEM;

	if (!s || !now)
		goto out;
	for (size_t i = 0; i < count; i++)
		s[i] = (struct segment_sorted){ out[i], (uint32_t)i };
	qsort(s, count, sizeof(*s), by_end);
	for (size_t i = 0; i < count; i++) {
		out[i] = s[i].bound;
		now[s[i].was] = (uint32_t)i;
	}
	for (size_t i = 0; why && i < n; i++)
		if (why[i].minibatch != JETWATT_BATCH_NONE)
			why[i].minibatch = now[why[i].minibatch];
	rc = (int)count;
out:
	free(s);
	free(now);
	return rc;
}

int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info)
{
	return jetwatt_batch_segment_why(sync, n, out, info, NULL);
}

int jetwatt_batch_segment_why(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
			  struct jetwatt_batch_info *info, struct jetwatt_batch_why *why)
{
	struct jetwatt_period r;
	uint32_t tgid;

	return jetwatt_batch_segment_job(sync, n, out, info, why, &r, &tgid);
}

/* Sort the waits by job; within a job they keep their order. */
static struct jetwatt_item *by_jobs(const struct jetwatt_sync *sync, size_t n)
{
	struct jetwatt_item *it = malloc((n + 1) * sizeof(*it));

	for (size_t i = 0; i < n && it; i++)
		it[i] = (struct jetwatt_item){ &sync[i], i, 1, 0 };
	if (it)
		qsort(it, n, sizeof(*it), by_job);
	return it;
}

/* Return the index behind the last wait of the job whose waits begin at index @from. */
static size_t job_end(const struct jetwatt_item *it, size_t n, size_t from)
{
	size_t i = from;

	while (i < n && it[i].sync->tgid == it[from].sync->tgid)
		i++;
	return i;
}

int jetwatt_batch_why_init(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_why *why)
{
	struct jetwatt_item *it = by_jobs(sync, n);

	if (!it)
		return -ENOMEM;
	for (size_t from = 0, to; from < n; from = to) {
		to = job_end(it, n, from);
		jetwatt_bounds_begin(it + from, to - from, why);
	}
	free(it);
	return 0;
}

int jetwatt_batch_segment_job(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
		       struct jetwatt_batch_info *info, struct jetwatt_batch_why *why,
		       struct jetwatt_period *main_job, uint32_t *tgid)
{
	size_t jobs = 0, most = 0;
	struct jetwatt_item *it;
	int count = 0;

	*info = (struct jetwatt_batch_info){ 0 };
	for (size_t i = 0; i < n; i++)
		if (sync[i].exit_ns < sync[i].enter_ns ||
		    (i && sync[i].exit_ns < sync[i - 1].exit_ns))
			return -EINVAL;
	if (!n)
		return -ENODATA;
	it = by_jobs(sync, n);
	if (!it)
		return -ENOMEM;
	for (size_t from = 0, i; from < n; from = i) {
		struct jetwatt_bounds_out dst = { out + count, (uint32_t)count, why };
		uint32_t job = it[from].sync->tgid;
		struct jetwatt_period r;
		int got;

		i = job_end(it, n, from);
		got = segment_job(it + from, i - from, &dst, &r);
		if (got < 0) {
			free(it);
			return got;
		}
		/* The period that is returned in @info is that of the job with the most waits. */
		if (i - from > most) {
			most = i - from;
			info->period_syncs = r.cycle.waits ? r.cycle.waits : (double)r.k;
			*main_job = r;
			*tgid = job;
		}
		info->confidence += r.confidence * (double)(i - from) / (double)n;
		info->lost += r.missing;
		count += got;
		jobs++;
	}
	free(it);
	if (why)
		jetwatt_merged_why(why, n);
	return jobs > 1 ? merge_bounds(out, (size_t)count, why, n) : count;
}
