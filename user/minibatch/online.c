// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of minibatches while the job runs: a look at its last waits tells how
 * many there are to a minibatch and which of them was the last one's end; from
 * there they are counted, until the next look.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

#define KEEP	256	/* waits that are looked at */
#define LEAST	24	/* so many tell at the earliest */
#define AGAIN	64	/* new ones until the next look, which is at these: it takes its time */
#define SPAN	16	/* minibatches that it sees at least */
#define TIMES	32	/* minibatches whose median is told */

/**
 * struct jetwatt_batch_track - what is known
 * @wait: the last @n, in the job's own time; @fresh of them came after the last look
 * @period: waits to a minibatch, 0: not known; of the process @tgid
 * @left: of those, until the next bound
 * @time_ns: of the last minibatches of training
 * @marked: the program has said where they end, last at @mark_ns
 */
struct jetwatt_batch_track {
	struct jetwatt_sync wait[KEEP];
	size_t n, fresh, period, left;
	uint32_t tgid;
	uint64_t time_ns[TIMES], mark_ns;
	size_t times;
	int marked;
	struct jetwatt_batch_bound bound[2 * KEEP];
};

struct jetwatt_batch_track *jetwatt_batch_track_new(void)
{
	return calloc(1, sizeof(struct jetwatt_batch_track));
}

void jetwatt_batch_track_free(struct jetwatt_batch_track *t)
{
	free(t);
}

void jetwatt_batch_track_forget(struct jetwatt_batch_track *t)
{
	memset(t, 0, sizeof(*t));
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
	if (s->tgid != t->tgid)
		return 0;
	t->left = t->left > 1 ? t->left - 1 : t->period;
	return t->left == t->period;
}

/* How many waits until the next bound, counted from the last one that was found. */
static void count_from(struct jetwatt_batch_track *t, const struct jetwatt_batch_bound *last)
{
	size_t since = 0;

	for (size_t i = t->n; i-- > 0 && t->wait[i].exit_ns > last->end_ns;)
		since += t->wait[i].tgid == last->tgid;
	t->tgid = last->tgid;
	t->left = t->period - since % t->period;
}

/* Waits that the next look is at; all, until it is known what a minibatch is. */
static size_t in_sight(const struct jetwatt_batch_track *t)
{
	size_t some = SPAN * t->period > AGAIN ? SPAN * t->period : AGAIN;

	return t->period && some < t->n ? some : t->n;
}

int jetwatt_batch_track_learn(struct jetwatt_batch_track *t)
{
	const struct jetwatt_batch_bound *last = NULL;
	struct jetwatt_batch_info info;
	size_t some = in_sight(t);
	int n;

	if (t->marked)
		return 0;
	if (t->n < LEAST || t->fresh < (t->period ? AGAIN : LEAST / 2))
		return t->period ? 0 : -EAGAIN;
	t->fresh = 0;
	n = jetwatt_batch_segment(t->wait + t->n - some, some, t->bound, &info);
	if (n <= 0 || !(info.period_syncs >= 0.5))
		return t->period ? 0 : -EAGAIN;
	t->times = 0;
	for (int i = 0; i < n; i++) {
		const struct jetwatt_batch_bound *b = &t->bound[i];

		if (b->kind != JETWATT_BATCH_TRAIN || b->flags & JETWATT_BATCH_INFERRED)
			continue;
		last = b;
		if (!(b->flags & JETWATT_BATCH_FIRST))
			took(t, b->end_ns - b->start_ns);
	}
	if (!last)
		return t->period ? 0 : -EAGAIN;
	t->period = lround(fmax(info.period_syncs, 1));
	count_from(t, last);
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
