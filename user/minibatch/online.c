// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detects the boundaries of minibatches while the job runs. The detector learns the cycle from the
 * last waits; from then on the same Viterbi decoder as for a whole job follows the waits one by
 * one, until the cycle is learned again. If no cycle explains the waits, a minibatch ends whenever
 * the usual number of waits has passed. minibatch.h describes how the boundaries may differ from
 * those of the whole job.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/bounds.h"
#include "minibatch/minibatch.h"
#include "minibatch/viterbi.h"

/* number of waits that are stored, and from which the cycle is learned */
#define STORED_WAITS	256
#define WAITS_MIN	24	/* minimum number of waits from which the cycle is learned */
/* with fewer stored waits, learn again after WAITS_MIN / 2 new waits, because a period of 8 waits
 * is found only after many waits */
#define WAITS_FEW	96
/* learn again after this many new waits if these took at least LEARN_NS; else after STORED_WAITS
 * new waits */
#define LEARN_WAITS	64
/* minimum time between two times of learning, ns, because learning takes CPU time */
#define LEARN_NS	1000000000ull
/* number of minibatches from which the median duration is computed */
#define DURATIONS	32
/* number of recent waits that are stored to compute a gap and the floor of its logarithm */
#define RECENT		4

/**
 * struct jetwatt_batch_track - state of the detector
 * @wait: the last @n waits, without frozen time
 * @fresh: number of waits since the cycle was learned
 * @period: waits per minibatch; 0: not known
 * @left: number of waits until the next bound, used if no cycle was learned
 * @tgid: process whose waits are followed
 * @tid: thread whose waits are followed; 0: all threads of the process
 * @launches: the launches of the process are traced
 * @merge: detects waits that count with the wait before them, if @launches is true
 * @model: the learned model; train.k 0: no cycle explains the waits
 * @follower: decoder, with the last @recent waits
 * @time_ns: durations of the last @times training minibatches, ns
 * @mark_ns: time of the last mark, ns
 * @learned_ns: end of the last wait from which the cycle was learned, ns
 * @marked: 1: the program has sent a mark
 * @bound: scratch memory
 */
struct jetwatt_batch_track {
	struct jetwatt_sync wait[STORED_WAITS];
	size_t n, fresh, period, left;
	uint32_t tgid, tid;
	bool launches;
	struct jetwatt_merge merge;
	struct jetwatt_wait_hmm model;
	struct jetwatt_follower *follower;
	struct jetwatt_sync recent[RECENT];
	size_t nr_recent;
	uint64_t time_ns[DURATIONS], mark_ns, learned_ns;
	size_t times;
	int marked;
	struct jetwatt_batch_bound bound[2 * STORED_WAITS];
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

void jetwatt_batch_track_reset(struct jetwatt_batch_track *t)
{
	struct jetwatt_follower *follower = t->follower;

	memset(t, 0, sizeof(*t));
	t->follower = follower;
}

static void add_duration(struct jetwatt_batch_track *t, uint64_t ns)
{
	if (t->times == DURATIONS)
		memmove(t->time_ns, t->time_ns + 1, sizeof(t->time_ns) - sizeof(*t->time_ns));
	else
		t->times++;
	t->time_ns[t->times - 1] = ns;
}

static int add_mark(struct jetwatt_batch_track *t, uint64_t end_ns)
{
	if (t->mark_ns && end_ns > t->mark_ns)
		add_duration(t, end_ns - t->mark_ns);
	t->mark_ns = end_ns;
	t->marked = 1;
	return 1;
}

static bool is_own(const struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	return s->tgid == t->tgid && (!t->tid || s->tid == t->tid);
}

/* Return whether the next wait of the followed process counts with a wait before or after it, because
 * it has no launch (no_launch.c). */
static bool merges(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	enum jetwatt_merged how = JETWATT_MERGED_NOT;

	if (t->launches && s->tgid == t->tgid)
		how = jetwatt_merge_next(&t->merge, s);
	if (how == JETWATT_MERGED_BEFORE && t->nr_recent && is_own(t, s))
		t->recent[t->nr_recent - 1].exit_ns = s->exit_ns;
	return how == JETWATT_MERGED_BEFORE || how == JETWATT_MERGED_AFTER;
}

/* Label the next wait of the job. Return: whether a minibatch ends with this wait. */
static bool follow_wait(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	const struct jetwatt_wait_hmm *m = &t->model;
	struct jetwatt_item it[RECENT];
	struct jetwatt_batch_wait b[RECENT], *last;

	if (t->nr_recent == RECENT)
		memmove(t->recent, t->recent + 1, sizeof(t->recent) - sizeof(*t->recent));
	else
		t->nr_recent++;
	t->recent[t->nr_recent - 1] = *s;
	for (size_t i = 0; i < t->nr_recent; i++)
		it[i] = (struct jetwatt_item){ &t->recent[i], i, 1 };
	jetwatt_wait_times(it, t->nr_recent, b);
	last = &b[t->nr_recent - 1];
	jetwatt_wait_logs(last, 1);
	jetwatt_follower_next(t->follower, last);
	if (last->phase_index & (JETWATT_PHASE_INDEX_NONE | JETWATT_PHASE_INDEX_EXTRA))
		return false;
	return last->phase_index + 1 >= (last->other_phase ? m->eval.k : m->train.k);
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
		return add_mark(t, own.exit_ns);
	if (s->call == JETWATT_SYNC_MARK_BEGIN || t->marked)
		return 0;
	/* The records of two threads may arrive in the wrong order. */
	if (t->n && own.exit_ns < t->wait[t->n - 1].exit_ns)
		own.exit_ns = t->wait[t->n - 1].exit_ns;
	if (t->n == STORED_WAITS)
		memmove(t->wait, t->wait + 1, sizeof(t->wait) - sizeof(*t->wait));
	else
		t->n++;
	t->wait[t->n - 1] = own;
	t->fresh++;
	if (!t->period)
		return -EAGAIN;
	if (merges(t, &own) || !is_own(t, s))
		return 0;
	if (t->model.train.k)
		return follow_wait(t, &own);
	t->left = t->left > 1 ? t->left - 1 : t->period;
	return t->left == t->period;
}

/*
 * Examine the stored waits again, with what was learned from them. Initialise the decoder with them,
 * or, if no cycle was learned, compute the number of waits until the next bound from @last, the last
 * bound that was found.
 */
static void follow_from(struct jetwatt_batch_track *t, const struct jetwatt_batch_bound *last)
{
	size_t since = 0;

	if (t->model.train.k)
		jetwatt_follower_begin(t->follower, &t->model);
	t->nr_recent = 0;
	t->merge = (struct jetwatt_merge){ 0 };
	for (size_t i = 0; i < t->n; i++) {
		if (merges(t, &t->wait[i]) || !is_own(t, &t->wait[i]))
			continue;
		if (t->model.train.k)
			follow_wait(t, &t->wait[i]);
		since += t->wait[i].exit_ns > last->end_ns;
	}
	t->left = t->period - since % t->period;
}

/* Return whether there are enough new waits to learn the cycle again. */
static bool is_due(const struct jetwatt_batch_track *t)
{
	if (t->n < WAITS_MIN)
		return false;
	if (!t->period || t->n < WAITS_FEW)
		return t->fresh >= WAITS_MIN / 2;
	return t->fresh >= STORED_WAITS ||
	       (t->fresh >= LEARN_WAITS && t->wait[t->n - 1].exit_ns - t->learned_ns >= LEARN_NS);
}

int jetwatt_batch_track_learn(struct jetwatt_batch_track *t)
{
	const struct jetwatt_batch_bound *last = NULL;
	struct jetwatt_batch_info info;
	struct jetwatt_period r;
	uint32_t tgid;
	int n;

	if (t->marked)
		return 0;
	if (!is_due(t))
		return t->period ? 0 : -EAGAIN;
	t->fresh = 0;
	t->learned_ns = t->wait[t->n - 1].exit_ns;
	n = jetwatt_batch_segment_job(t->wait, t->n, t->bound, &info, NULL, &r, &tgid);
	if (n <= 0 || !(info.period_syncs >= 0.5))
		return t->period ? 0 : -EAGAIN;
	t->times = 0;
	for (int i = 0; i < n; i++) {
		const struct jetwatt_batch_bound *b = &t->bound[i];

		if (b->tgid != tgid || b->kind != JETWATT_BATCH_TRAIN || b->flags & JETWATT_BATCH_INFERRED)
			continue;
		last = b;
		if (!(b->flags & JETWATT_BATCH_FIRST))
			add_duration(t, b->end_ns - b->start_ns);
	}
	if (!last)
		return t->period ? 0 : -EAGAIN;
	t->period = lround(fmax(info.period_syncs, 1));
	t->tgid = tgid;
	t->tid = r.tid;
	t->launches = r.launches;
	t->model = r.model;
	follow_from(t, last);
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
	uint64_t sorted[DURATIONS];

	if (!t->times)
		return 0;
	memcpy(sorted, t->time_ns, t->times * sizeof(*sorted));
	qsort(sorted, t->times, sizeof(*sorted), by_value);
	return sorted[t->times / 2];
}
