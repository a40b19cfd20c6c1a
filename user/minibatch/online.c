// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detects the boundaries of minibatches while the job runs. The detector learns the cycle from the
 * last waits; from then on the same Viterbi decoder as for a whole job follows the waits one by
 * one, until the cycle is learned again. If the GPU pauses between steps of several kinds (pauses.h), these
 * steps are followed instead. If neither explains the waits, a minibatch ends whenever the usual number of
 * waits has passed. minibatch.h describes how the boundaries may differ from those of the whole job.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/bounds.h"
#include "minibatch/minibatch.h"
#include "minibatch/pauses.h"
#include "minibatch/viterbi.h"

#define CYCLE_WAITS	256	/* number of waits from which the cycle is learned */
/* number of waits that are stored, and in which minibatches of many waits are searched */
#define STORED_WAITS	2048
/* Minibatches of many waits are searched after this many waits, then each time that the number of
 * stored waits has doubled, and, once STORED_WAITS waits are stored, after each STORED_WAITS new
 * waits. */
#define SEARCH_FIRST	64
#define WAITS_MIN	24	/* minimum number of waits from which the cycle is learned */
/* with fewer stored waits, learn again after every WAITS_MIN / 2 new waits: the first fits may
 * miss a long period, such as 8 waits */
#define LEARN_OFTEN_WAITS	96
/* learn again after this many new waits if these took at least LEARN_NS; else after CYCLE_WAITS
 * new waits, or after STORED_WAITS if the minibatches have many waits */
#define LEARN_WAITS	64
#define LEARN_NS	1000000000ull	/* see LEARN_WAITS; learning takes CPU time */
/* number of minibatches from which the median duration is computed */
#define DURATIONS	32
/* number of recent waits that are stored to compute a gap and the floor of its logarithm */
#define RECENT		4

/**
 * struct jetwatt_batch_track - state of the detector
 * @wait: from index @first on the last @n waits, without frozen time
 * @fresh: number of waits since the cycle was learned
 * @search: number of new waits until minibatches of many waits are searched
 * @period: waits per minibatch; 0: not known
 * @left: number of waits until the next bound, used if neither a cycle nor steps are followed
 * @tgid: process whose waits are followed
 * @tid: thread whose waits are followed; 0: all threads of the process
 * @launches: the launches of the process are traced
 * @merge: detects waits that are merged with the wait before or after them
 * @cycle: if @cycle.waits is not 0, minibatches have many waits; @sum: the waits of the present
 *	minibatch
 * @model: the learned model; train.k 0: no cycle explains the waits
 * @steps: the kinds of steps, if @steps.limit is not 0; @step: the current step
 * @follower: decoder of the waits
 * @recent: the last @nr_recent waits that counted
 * @time_ns: durations of @times recent training minibatches, or intervals between marks, ns
 * @mark: the marks
 * @learned_ns: end of the last wait from which the cycle was learned, ns
 * @marked: 1: a mark has ended a minibatch
 */
struct jetwatt_batch_track {
	struct jetwatt_sync wait[2 * STORED_WAITS];
	size_t first, n, fresh, search, period, left;
	uint32_t tgid, tid;
	bool launches;
	struct jetwatt_merge merge;
	struct jetwatt_long_cycle cycle;
	struct jetwatt_long_sum sum;
	struct jetwatt_wait_hmm model;
	struct jetwatt_step_kinds steps;
	struct jetwatt_step_follower step;
	struct jetwatt_follower *follower;
	struct jetwatt_sync recent[RECENT];
	size_t nr_recent;
	struct jetwatt_mark_counts mark;
	uint64_t time_ns[DURATIONS], learned_ns;
	size_t times;
	int marked;
};

struct jetwatt_batch_track *jetwatt_batch_track_new(void)
{
	struct jetwatt_batch_track *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->search = SEARCH_FIRST;
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
	t->search = SEARCH_FIRST;
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

static int add_mark(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	uint64_t ns;
	bool changed, ends = jetwatt_marks_next(&t->mark, s, &ns, &changed);

	t->marked = 1;
	if (changed)
		t->times = 0;
	if (ends && ns)
		add_duration(t, ns);
	return ends;
}

static bool is_own(const struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	return s->tgid == t->tgid && (!t->tid || s->tid == t->tid);
}

/* Return whether the next wait of the followed process is merged with a wait before or after it. */
static bool merges(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	enum jetwatt_merged how = JETWATT_MERGED_NOT;

	if (s->tgid == t->tgid)
		how = jetwatt_merge_next(&t->merge, t->launches, s);
	if (how == JETWATT_MERGED_BEFORE && t->nr_recent && is_own(t, s))
		t->recent[t->nr_recent - 1].exit_ns = s->exit_ns;
	return how == JETWATT_MERGED_BEFORE || how == JETWATT_MERGED_AFTER;
}

/* Compute the times of the next wait of the job. */
static struct jetwatt_batch_wait wait_times(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	struct jetwatt_item it[RECENT];
	struct jetwatt_batch_wait b[RECENT];

	if (t->nr_recent == RECENT)
		memmove(t->recent, t->recent + 1, sizeof(t->recent) - sizeof(*t->recent));
	else
		t->nr_recent++;
	t->recent[t->nr_recent - 1] = *s;
	for (size_t i = 0; i < t->nr_recent; i++)
		it[i] = (struct jetwatt_item){ &t->recent[i], i, 1, 0 };
	jetwatt_wait_times(it, t->nr_recent, b);
	return b[t->nr_recent - 1];
}

/* Return whether minibatches end by the kinds of steps or by a learned cycle, not by the number of waits. */
static bool follows(const struct jetwatt_batch_track *t)
{
	return t->model.train.k || t->steps.limit > 0;
}

/* Label the next wait of the job. Return: whether a minibatch ends with this wait. */
static bool follow_wait(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	const struct jetwatt_wait_hmm *m = &t->model;
	struct jetwatt_batch_wait b = wait_times(t, s);

	if (t->steps.limit > 0) {
		bool ends = jetwatt_pauses_next(&t->step, &t->steps, &b);
		/* no end: the pauses between steps have become shorter, as after a rise of the CPU clock */
		if (t->step.n > JETWATT_PAUSE_WAITS)
			t->steps.limit = 0;
		return ends;
	}
	jetwatt_wait_logs(&b, 1);
	jetwatt_follower_next(t->follower, &b);
	if (b.phase_index & (JETWATT_PHASE_INDEX_NONE | JETWATT_PHASE_INDEX_EXTRA))
		return false;
	return b.phase_index + 1 >= (b.other_phase ? m->eval.k : m->train.k);
}

static const struct jetwatt_sync *last_wait(const struct jetwatt_batch_track *t)
{
	return t->n ? &t->wait[t->first + t->n - 1] : NULL;
}

/* Store a wait. The stored waits are moved to the start of the memory every STORED_WAITS waits. */
static void store_wait(struct jetwatt_batch_track *t, const struct jetwatt_sync *s)
{
	if (t->first + t->n == 2 * STORED_WAITS) {
		memcpy(t->wait, t->wait + t->first, t->n * sizeof(*t->wait));
		t->first = 0;
	}
	t->wait[t->first + t->n] = *s;
	if (t->n == STORED_WAITS)
		t->first++;
	else
		t->n++;
	t->fresh++;
	t->search -= t->search > 0;
}

/* Return whether a wait counts in the period: it is of the followed process and thread, and not
 * merged. Of a minibatch of many waits, only the last counts, and @s becomes the merged wait. */
static bool counts(struct jetwatt_batch_track *t, struct jetwatt_sync *s)
{
	return !merges(t, s) && is_own(t, s) &&
	       (!t->cycle.waits || jetwatt_long_next(&t->sum, &t->cycle, s, s));
}

/* Label the next wait. Return: whether a minibatch ends with this wait. */
static bool next_wait(struct jetwatt_batch_track *t, struct jetwatt_sync *s)
{
	if (!counts(t, s))
		return false;
	if (follows(t))
		return follow_wait(t, s);
	t->left = t->left > 1 ? t->left - 1 : t->period;
	return t->left == t->period;
}

int jetwatt_batch_track_add(struct jetwatt_batch_track *t, const struct jetwatt_sync *s,
			    uint64_t held_ns)
{
	struct jetwatt_sync copy = *s;

	copy.enter_ns -= held_ns;
	copy.exit_ns -= held_ns;
	if (copy.launch_ns)
		copy.launch_ns -= held_ns;
	if (s->call == JETWATT_SYNC_MARK)
		return add_mark(t, &copy);
	if (s->call == JETWATT_SYNC_MARK_BEGIN || t->marked)
		return 0;
	/* The records of two threads may arrive in the wrong order. */
	if (t->n && copy.exit_ns < last_wait(t)->exit_ns)
		copy.exit_ns = last_wait(t)->exit_ns;
	store_wait(t, &copy);
	return t->period ? next_wait(t, &copy) : -EAGAIN;
}

/*
 * Examine the waits @wait again, with what was learned from them. Initialise the decoder, or the
 * current step, with them, and compute the number of waits until the next bound from @last_ns, the
 * end of the last bound that was found.
 */
static void follow_from(struct jetwatt_batch_track *t, const struct jetwatt_sync *wait, size_t n,
			uint64_t last_ns)
{
	size_t since = 0;

	if (t->model.train.k)
		jetwatt_follower_begin(t->follower, &t->model);
	t->nr_recent = 0;
	t->step = (struct jetwatt_step_follower){ 0 };
	t->merge = (struct jetwatt_merge){ 0 };
	t->sum = (struct jetwatt_long_sum){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_sync s = wait[i];

		if (!counts(t, &s))
			continue;
		if (follows(t))
			follow_wait(t, &s);
		since += s.exit_ns > last_ns;
	}
	t->left = t->period - since % t->period;
}

/* Return whether a cycle is known that was learned from many waits. */
static bool is_known(const struct jetwatt_batch_track *t)
{
	return t->period && t->n >= LEARN_OFTEN_WAITS;
}

/* Return whether minibatches of many waits have to be searched. Without launches, learning from all stored waits
 * would take much more time than this test of their lengths. */
static bool searches(const struct jetwatt_batch_track *t)
{
	return !t->search &&
	       (t->launches || jetwatt_long_waits_seen(t->wait + t->first, t->n, t->tgid));
}

/* After a search, or a test that has seen no minibatch of many waits: the next one is after as many new waits as
 * are stored. */
static void postpone_search(struct jetwatt_batch_track *t)
{
	if (!t->search)
		t->search = t->n;
}

/* Return the number of stored waits that belong to the start of the program. */
static size_t start_up(const struct jetwatt_batch_track *t)
{
	return jetwatt_start_up(t->wait + t->first, t->n, WAITS_MIN);
}

/* Return whether there are enough new waits to learn the cycle again. */
static bool is_due(const struct jetwatt_batch_track *t)
{
	if (t->n < WAITS_MIN)
		return false;
	if (!is_known(t))
		return t->fresh >= WAITS_MIN / 2;
	/* No boundary for a long time: the cycle has changed. */
	if (t->cycle.waits && jetwatt_long_is_lost(&t->sum, &t->cycle))
		return true;
	if (searches(t) || (t->fresh % WAITS_MIN == 0 && start_up(t)))
		return true;
	return t->fresh >= (t->cycle.waits ? STORED_WAITS : CYCLE_WAITS) ||
	       (t->fresh >= LEARN_WAITS && last_wait(t)->exit_ns - t->learned_ns >= LEARN_NS);
}

/**
 * struct jetwatt_learned - the minibatches and the period that were found in the last waits
 * @wait: the waits
 * @n: number of waits
 * @bound: their bounds
 * @bounds: number of bounds
 * @info, @period, @tgid: as for jetwatt_batch_segment_job()
 */
struct jetwatt_learned {
	const struct jetwatt_sync *wait;
	size_t n;
	struct jetwatt_batch_bound *bound;
	int bounds;
	struct jetwatt_batch_info info;
	struct jetwatt_period period;
	uint32_t tgid;
};

static void learn_from(const struct jetwatt_batch_track *t, size_t n, struct jetwatt_learned *l)
{
	l->n = n < t->n ? n : t->n;
	l->wait = t->wait + t->first + t->n - l->n;
	l->bounds = jetwatt_batch_segment_job(l->wait, l->n, l->bound, &l->info, NULL, &l->period, &l->tgid);
}

/* Learn from all stored waits if the minibatches have many waits, else from the last
 * CYCLE_WAITS. */
static void learn(struct jetwatt_batch_track *t, struct jetwatt_learned *l)
{
	bool search = searches(t);

	postpone_search(t);
	if (search || t->cycle.waits) {
		learn_from(t, STORED_WAITS, l);
		if (l->bounds > 0 && l->period.cycle.waits)
			return;
	}
	learn_from(t, CYCLE_WAITS, l);
}

/* Use the period and the model that were learned. Return: 0; -EAGAIN: no period is known. */
static int take_over(struct jetwatt_batch_track *t, const struct jetwatt_learned *l)
{
	const struct jetwatt_batch_bound *last = NULL;

	if (l->bounds <= 0 || !(l->info.period_syncs >= 0.5))
		return t->period ? 0 : -EAGAIN;
	t->times = 0;
	for (int i = 0; i < l->bounds; i++) {
		const struct jetwatt_batch_bound *b = &l->bound[i];

		if (b->tgid != l->tgid || b->kind != JETWATT_BATCH_TRAIN || b->flags & JETWATT_BATCH_INFERRED)
			continue;
		last = b;
		if (!(b->flags & JETWATT_BATCH_FIRST))
			add_duration(t, b->end_ns - b->start_ns);
	}
	if (!last)
		return t->period ? 0 : -EAGAIN;
	t->period = l->period.k > 1 ? (size_t)l->period.k : 1;
	t->tgid = l->tgid;
	t->tid = l->period.tid;
	t->launches = l->period.launches;
	t->cycle = l->period.cycle;
	t->model = l->period.model;
	/* The last waits may contain too few steps of the rarer kinds: keep the known kinds as long
	 * as the usual minibatch is the most frequent one of them. */
	if (l->period.steps.limit > 0 || !jetwatt_pauses_usual(&t->steps, l->period.k, last->launches))
		t->steps = l->period.steps;
	follow_from(t, l->wait, l->n, last->end_ns);
	return 0;
}

int jetwatt_batch_track_learn(struct jetwatt_batch_track *t)
{
	struct jetwatt_learned l;
	size_t start;
	int rc;

	if (t->marked)
		return 0;
	if (!is_due(t)) {
		if (is_known(t))
			postpone_search(t);
		return t->period ? 0 : -EAGAIN;
	}
	l.bound = malloc(2 * t->n * sizeof(*l.bound));
	if (!l.bound)
		return t->period ? 0 : -EAGAIN;
	start = start_up(t);
	t->first += start;
	t->n -= start;
	t->fresh = 0;
	t->learned_ns = last_wait(t)->exit_ns;
	learn(t, &l);
	rc = take_over(t, &l);
	free(l.bound);
	return rc;
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
