// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of minibatches while the job runs: a look at its last waits learns the cycle, and
 * from there the most probable walk follows it wait by wait, until the next look. It is the
 * walk that segments a whole job. Where no cycle explains the waits they are counted instead.
 * What may differ from the bounds of the whole job: minibatch.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/bounds.h"
#include "minibatch/minibatch.h"
#include "minibatch/viterbi.h"

#define KEEP	256	/* waits that are looked at */
#define LEAST	24	/* so many tell at the earliest */
#define FEW	96	/* until there are so many the next look comes sooner: a period of 8 shows late */
#define AGAIN	64	/* new ones until the next look, if they took AGAIN_NS; else KEEP */
#define AGAIN_NS	1000000000ull	/* a look takes a while: not too many of a fast job */
#define TIMES	32	/* minibatches whose median is told */
#define RECENT	4	/* waits of the job that a gap and its floor are made of */

/**
 * struct jetwatt_batch_track - what is known
 * @wait: the last @n, in the job's own time; @fresh of them came after the last look, which
 *	was at @look_ns
 * @period: waits to a minibatch, 0: not known; of the process @tgid, and of its thread @tid
 *	alone unless that is 0
 * @model: its cycle, which @follower walks along with its @recent waits; if it has none,
 *	waits are counted: @left until the next bound
 * @time_ns: of the last minibatches of training
 * @marked: the program has said where they end, last at @mark_ns
 */
struct jetwatt_batch_track {
	struct jetwatt_sync wait[KEEP];
	size_t n, fresh, period, left;
	uint32_t tgid, tid;
	struct jetwatt_motif model;
	struct jetwatt_follower *follower;
	struct jetwatt_sync recent[RECENT];
	size_t nr_recent;
	uint64_t time_ns[TIMES], mark_ns, look_ns;
	size_t times;
	int marked;
	struct jetwatt_batch_bound bound[2 * KEEP];
};

struct jetwatt_batch_track *jetwatt_batch_track_new(void)
{
	struct jetwatt_batch_track *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->follower = jetwatt_follower_new();
	if (t->follower)
		return t;
	free(t);
	return NULL;
}

void jetwatt_batch_track_free(struct jetwatt_batch_track *t)
{
	if (t)
		free(t->follower);
	free(t);
}

void jetwatt_batch_track_forget(struct jetwatt_batch_track *t)
{
	struct jetwatt_follower *follower = t->follower;

	memset(t, 0, sizeof(*t));
	t->follower = follower;
}

static void took(struct jetwatt_batch_track *t, uint64_t ns)
{
	if (t->times == TIMES)
		memmove(t->time_ns, t->time_ns + 1, sizeof(t->time_ns) - sizeof(*t->time_ns));
	else
		t->times++;
	t->time_ns[t->times - 1] = ns;
}

static int marked(struct jetwatt_batch_track *t, uint64_t end_ns)
{
	if (t->mark_ns && end_ns > t->mark_ns)
		took(t, end_ns - t->mark_ns);
	t->mark_ns = end_ns;
	t->marked = 1;
	return 1;
}

static bool is_own(const struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	return s->tgid == t->tgid && (!t->tid || s->tid == t->tid);
}

/* The next wait of the job, along its cycle. Return: a minibatch ends with it. */
static bool follow(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	const struct jetwatt_motif *m = &t->model;
	struct jetwatt_item it[RECENT];
	struct jetwatt_beat b[RECENT], *last;

	if (t->nr_recent == RECENT)
		memmove(t->recent, t->recent + 1, sizeof(t->recent) - sizeof(*t->recent));
	else
		t->nr_recent++;
	t->recent[t->nr_recent - 1] = *s;
	for (size_t i = 0; i < t->nr_recent; i++)
		it[i] = (struct jetwatt_item){ &t->recent[i], i };
	jetwatt_beats_times(it, t->nr_recent, b);
	last = &b[t->nr_recent - 1];
	jetwatt_beats_sharpen(last, 1);
	jetwatt_follower_next(t->follower, last);
	if (last->place & (JETWATT_PLACE_NONE | JETWATT_PLACE_EXTRA))
		return false;
	return last->place + 1 >= (last->other ? m->eval.k : m->train.k);
}

int jetwatt_batch_track_add(struct jetwatt_batch_track *t, const struct jetwatt_sync *s,
			    uint64_t held_ns)
{
	struct jetwatt_sync own = *s;

	own.enter_ns -= held_ns;
	own.exit_ns -= held_ns;
	if (own.launch_ns)
		own.launch_ns -= held_ns;
	if (s->call == JETWATT_SYNC_MARK)
		return marked(t, own.exit_ns);
	if (s->call == JETWATT_SYNC_MARK_BEGIN || t->marked)
		return 0;
	/* Two threads' records may change places in the buffer. */
	if (t->n && own.exit_ns < t->wait[t->n - 1].exit_ns)
		own.exit_ns = t->wait[t->n - 1].exit_ns;
	if (t->n == KEEP)
		memmove(t->wait, t->wait + 1, sizeof(t->wait) - sizeof(*t->wait));
	else
		t->n++;
	t->wait[t->n - 1] = own;
	t->fresh++;
	if (!t->period)
		return -EAGAIN;
	if (!is_own(t, s))
		return 0;
	if (t->model.train.k)
		return follow(t, &own);
	t->left = t->left > 1 ? t->left - 1 : t->period;
	return t->left == t->period;
}

/* How many waits until the next bound, counted from the last one that was found. */
static void count_from(struct jetwatt_batch_track *t, const struct jetwatt_batch_bound *last)
{
	size_t since = 0;

	for (size_t i = t->n; i-- > 0 && t->wait[i].exit_ns > last->end_ns;)
		since += is_own(t, &t->wait[i]);
	t->left = t->period - since % t->period;
}

/* Walk along the cycle through the waits that it was learned from. */
static void follow_from(struct jetwatt_batch_track *t)
{
	jetwatt_follower_begin(t->follower, &t->model);
	t->nr_recent = 0;
	for (size_t i = 0; i < t->n; i++)
		if (is_own(t, &t->wait[i]))
			follow(t, &t->wait[i]);
}

/* Enough new waits for another look? */
static bool is_due(const struct jetwatt_batch_track *t)
{
	if (t->n < LEAST)
		return false;
	if (!t->period || t->n < FEW)
		return t->fresh >= LEAST / 2;
	return t->fresh >= KEEP ||
	       (t->fresh >= AGAIN && t->wait[t->n - 1].exit_ns - t->look_ns >= AGAIN_NS);
}

int jetwatt_batch_track_learn(struct jetwatt_batch_track *t)
{
	const struct jetwatt_batch_bound *last = NULL;
	struct jetwatt_batch_info info;
	struct jetwatt_rhythm r;
	uint32_t tgid;
	int n;

	if (t->marked)
		return 0;
	if (!is_due(t))
		return t->period ? 0 : -EAGAIN;
	t->fresh = 0;
	t->look_ns = t->wait[t->n - 1].exit_ns;
	n = jetwatt_batch_find(t->wait, t->n, t->bound, &info, NULL, &r, &tgid);
	if (n <= 0 || !(info.period_syncs >= 0.5))
		return t->period ? 0 : -EAGAIN;
	t->times = 0;
	for (int i = 0; i < n; i++) {
		const struct jetwatt_batch_bound *b = &t->bound[i];

		if (b->tgid != tgid || b->kind != JETWATT_BATCH_TRAIN || b->flags & JETWATT_BATCH_INFERRED)
			continue;
		last = b;
		if (!(b->flags & JETWATT_BATCH_FIRST))
			took(t, b->end_ns - b->start_ns);
	}
	if (!last)
		return t->period ? 0 : -EAGAIN;
	t->period = lround(fmax(info.period_syncs, 1));
	t->tgid = tgid;
	t->tid = r.tid;
	t->model = r.model;
	count_from(t, last);
	if (t->model.train.k)
		follow_from(t);
	return 0;
}

size_t jetwatt_batch_track_period(const struct jetwatt_batch_track *t)
{
	return t->period;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t jetwatt_batch_track_ns(const struct jetwatt_batch_track *t)
{
	uint64_t sorted[TIMES];

	if (!t->times)
		return 0;
	memcpy(sorted, t->time_ns, t->times * sizeof(*sorted));
	qsort(sorted, t->times, sizeof(*sorted), by_value);
	return sorted[t->times / 2];
}
