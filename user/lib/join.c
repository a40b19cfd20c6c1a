// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Merges samples and waits in order of time.
 *
 * Samples are in order. Waits for the GPU are ordered by their end, and come from several CPUs.
 * Waits may be out of order by the time that a CPU needs from reading the clock to completing the
 * record (at most DISORDER_NS). No stream announces how far it is complete, so the join estimates
 * it: for samples, up to the last sample; for waits, up to the last wait minus DISORDER_NS, or
 * minus the hold time if that is shorter; for a stream that is silent, up to the latest time of
 * both streams minus the hold time. Of the times up to which the two streams are estimated to be
 * complete, the join takes the earlier one and delivers records up to it. The join uses only the
 * times of records, so the same input gives the same output.
 */
#include "lib/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DISORDER_NS	10000000
#define QUEUE_MIN		128	/* minimum size of a queue, in records */

/*
 * struct join_place - a place in the heap of a queue
 * @time_ns: time of the record
 * @nr: number of the record in order of arrival, which decides between equal times
 * @slot: index of the record in the array of slots
 */
struct join_place {
	uint64_t time_ns, nr;
	size_t slot;
};

/**
 * struct queue - a priority queue of records, ordered by time
 * @entry: @max slots of @size bytes
 * @heap: @max places. The first @nr places are a binary heap with the earliest record at the
 *	top. The other places contain the numbers of the free slots
 * @size: size of a record, bytes
 * @nr: number of records
 * @max: number of slots
 * @last_ns: latest time of all records so far
 * @arrived: number of records added so far
 * @moved: number of times that a place was moved within the heap; for tests
 *
 * The queue is a heap, because a trace may contain any times: with waits in descending order, each
 * insertion into a sorted array would move all other records.
 */
struct queue {
	char *entry;
	struct join_place *heap;
	size_t size, nr, max;
	uint64_t last_ns, arrived, moved;
};

/**
 * struct jetwatt_join - a join
 * @state: last value of each series, for the conversion of samples to power
 * @power: queue of power samples
 * @sync: queue of waits
 * @hold_ns: hold time
 * @delivered_ns: time of the last record that was delivered, ns
 * @late: number of records that were discarded because they arrived too late, or because memory was
 *	exhausted
 * @paused: 1: see jetwatt_join_pause()
 * @power_fn: callback for power samples, with @arg
 * @sync_fn: callback for waits, with @arg
 */
struct jetwatt_join {
	struct jetwatt_power_state state;
	struct queue power, sync;
	uint64_t hold_ns, delivered_ns, late;
	int paused;
	jetwatt_power_fn power_fn;
	jetwatt_sync_fn sync_fn;
	void *arg;
};

static const void *queue_first(const struct queue *q)
{
	return q->entry + q->heap[0].slot * q->size;
}

static uint64_t queue_first_ns(const struct queue *q)
{
	return q->nr ? q->heap[0].time_ns : UINT64_MAX;
}

static int is_before(const struct join_place *a, const struct join_place *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->nr < b->nr;
}

static int queue_resize(struct queue *q, size_t max)
{
	struct join_place *heap = malloc(max * sizeof(*heap));
	char *entry = malloc(max * q->size);

	if (!entry || !heap) {
		free(entry);
		free(heap);
		return -ENOMEM;
	}
	for (size_t i = 0; i < max; i++) {
		if (i < q->nr) {
			memcpy(entry + i * q->size, q->entry + q->heap[i].slot * q->size, q->size);
			heap[i] = q->heap[i];
		}
		heap[i].slot = i;
	}
	free(q->entry);
	free(q->heap);
	q->entry = entry;
	q->heap = heap;
	q->max = max;
	return 0;
}

/* Halve the queue when it is less than an eighth full, but keep at least QUEUE_MIN slots. */
static void queue_shrink(struct queue *q)
{
	if (q->max > QUEUE_MIN && q->nr < q->max / 8)
		queue_resize(q, q->max / 2);
}

/* Add a record. Most records are the latest, so they do not move up in the heap. */
static int queue_insert(struct queue *q, const void *entry, uint64_t time_ns)
{
	struct join_place new = { .time_ns = time_ns, .nr = q->arrived };
	size_t i;

	if (q->nr == q->max && queue_resize(q, q->max ? 2 * q->max : QUEUE_MIN))
		return -ENOMEM;
	q->arrived++;
	i = q->nr++;
	new.slot = q->heap[i].slot;
	memcpy(q->entry + new.slot * q->size, entry, q->size);
	for (; i > 0 && is_before(&new, &q->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		q->heap[i] = q->heap[(i - 1) / 2];
		q->moved++;
	}
	q->heap[i] = new;
	if (time_ns > q->last_ns)
		q->last_ns = time_ns;
	return 0;
}

/* Remove the earliest record. Its slot becomes free. */
static void queue_drop(struct queue *q)
{
	struct join_place last = q->heap[--q->nr];
	size_t slot = q->heap[0].slot, i = 0, k;

	for (; (k = 2 * i + 1) < q->nr; i = k) {
		if (k + 1 < q->nr && is_before(&q->heap[k + 1], &q->heap[k]))
			k++;
		if (!is_before(&q->heap[k], &last))
			break;
		q->heap[i] = q->heap[k];
		q->moved++;
	}
	q->heap[i] = last;
	q->heap[q->nr].slot = slot;
}

/* Return a - b, or 0 if the difference is negative. */
static uint64_t sub_or_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Deliver the records up to the time @mark. If a wait ends at the time of a sample, the sample
 * comes first, because the sample's power was drawn during the wait.
 */
static void join_deliver(struct jetwatt_join *j, uint64_t mark)
{
	struct jetwatt_power power;
	struct jetwatt_sync sync;
	uint64_t p, s;

	for (;;) {
		p = queue_first_ns(&j->power);
		s = queue_first_ns(&j->sync);
		if (!j->power.nr && !j->sync.nr)
			break;
		if ((p < s ? p : s) > mark)
			break;
		j->delivered_ns = p < s ? p : s;
		/* The callback may add a record, and thereby move the queue, so it gets a copy
		 * of the record. */
		if (j->power.nr && p <= s) {
			power = *(const struct jetwatt_power *)queue_first(&j->power);
			queue_drop(&j->power);
			if (j->power_fn)
				j->power_fn(&power, j->arg);
		} else {
			sync = *(const struct jetwatt_sync *)queue_first(&j->sync);
			queue_drop(&j->sync);
			if (j->sync_fn)
				j->sync_fn(&sync, j->arg);
		}
	}
}

/* Deliver the records up to the time to which both streams are estimated to be complete. */
static void join_advance(struct jetwatt_join *j)
{
	uint64_t latest, silent, power, sync;

	if (j->paused)
		return;
	latest = j->power.last_ns > j->sync.last_ns ? j->power.last_ns : j->sync.last_ns;
	silent = sub_or_zero(latest, j->hold_ns);
	power = j->power.last_ns > silent ? j->power.last_ns : silent;
	sync = sub_or_zero(j->sync.last_ns, j->hold_ns < DISORDER_NS ? j->hold_ns : DISORDER_NS);
	if (sync < silent)
		sync = silent;
	join_deliver(j, power < sync ? power : sync);
	queue_shrink(&j->power);
	queue_shrink(&j->sync);
}

/* Add a record. Discard and count the new record if a record with a later time has been
 * delivered already, or if memory is exhausted. */
static void join_add(struct jetwatt_join *j, struct queue *q, const void *entry, uint64_t time_ns)
{
	if (time_ns < j->delivered_ns) {
		j->late++;
		return;
	}
	if (!queue_insert(q, entry, time_ns))
		return;
	/* If memory is exhausted, deliver the queued records early, but in order, to free slots. */
	join_deliver(j, time_ns);
	if (queue_insert(q, entry, time_ns))
		j->late++;
}

/* Return: 1 if nothing is queued and, because of a hold time of 0, nothing waits for a record of the other
 * stream, so the power sample @p needs no queue. */
static int needs_no_queue(const struct jetwatt_join *j, const struct jetwatt_power *p)
{
	return !j->hold_ns && !j->paused && !j->power.nr && !j->sync.nr && p->time_ns >= j->power.last_ns &&
	       p->time_ns >= j->sync.last_ns;
}

static void join_add_power(struct jetwatt_join *j, const struct jetwatt_power *p)
{
	if (!needs_no_queue(j, p)) {
		join_add(j, &j->power, p, p->time_ns);
		return;
	}
	j->power.last_ns = j->delivered_ns = p->time_ns;
	if (j->power_fn)
		j->power_fn(p, j->arg);
}

void jetwatt_join_samples(const struct jetwatt_samples *s, void *join)
{
	struct jetwatt_join *j = join;
	struct jetwatt_power p;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (jetwatt_power_sample(&j->state, s, i, &p))
			join_add_power(j, &p);
	join_advance(j);
}

void jetwatt_join_sync(const struct jetwatt_sync *s, void *join)
{
	struct jetwatt_join *j = join;

	join_add(j, &j->sync, s, s->exit_ns);
	join_advance(j);
}

void jetwatt_join_reading(const struct jetwatt_reading *r, void *join)
{
	struct jetwatt_join *j = join;

	jetwatt_power_reading(&j->state, r);
}

void jetwatt_join_pause(struct jetwatt_join *j, int paused)
{
	j->paused = paused;
	join_advance(j);
}

void jetwatt_join_flush(struct jetwatt_join *j)
{
	join_deliver(j, UINT64_MAX);
}

uint64_t jetwatt_join_late(const struct jetwatt_join *j)
{
	return j->late;
}

void jetwatt_join_set(struct jetwatt_join *j, jetwatt_power_fn power, jetwatt_sync_fn sync,
		      void *arg)
{
	j->power_fn = power;
	j->sync_fn = sync;
	j->arg = arg;
}

int jetwatt_join_new_rails(struct jetwatt_join **out, const struct jetwatt_rail *rail, int nr,
			   uint32_t hold_ms)
{
	struct jetwatt_join *j = calloc(1, sizeof(*j));

	*out = j;
	if (!j)
		return -ENOMEM;
	jetwatt_power_init(&j->state, rail, nr);
	j->power.size = sizeof(struct jetwatt_power);
	j->sync.size = sizeof(struct jetwatt_sync);
	j->hold_ns = hold_ms * 1000000ull;
	return 0;
}

int jetwatt_join_new(struct jetwatt_join **j, struct jetwatt *jw, uint32_t hold_ms)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr = jw ? jetwatt_rails(jw, rail, JETWATT_RAILS_MAX) : 0;

	*j = NULL;
	if (nr < 0)
		return nr;
	if (nr > JETWATT_RAILS_MAX)
		return -E2BIG;
	return jetwatt_join_new_rails(j, rail, nr, hold_ms);
}

void jetwatt_join_free(struct jetwatt_join *j)
{
	if (!j)
		return;
	free(j->power.entry);
	free(j->power.heap);
	free(j->sync.entry);
	free(j->sync.heap);
	free(j);
}
