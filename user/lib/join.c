// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Two streams in one order of time.
 *
 * Each is nearly in order itself: samples are; waits, ordered by their end,
 * come from several CPUs and may be out of order by the time that a CPU needs
 * from reading the clock to filling in the record. Neither says when nothing
 * earlier will come, so the join keeps a mark for each, below which it takes
 * the stream to be complete: the time of its last record less that disorder,
 * or, where the stream is silent, the latest time seen at all less the time
 * to hold. What is older than both marks is delivered. Time is taken from the
 * records only: the same input gives the same output.
 */
#include "lib/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DISORDER_NS	10000000
#define LEAST		128	/* records that there is room for */

/* A place in a queue: @nr counts arrivals, so records of one time keep their order. */
struct join_place {
	uint64_t time_ns, nr;
	size_t slot;
};

/**
 * struct queue - records, of which the earliest can be taken out
 * @entry: @max slots of @size bytes
 * @heap: the first @nr places are a binary heap, whose top is the earliest record; the slots of
 *	the others are free
 * @arrived: records so far
 * @moved: places that were moved to keep the heap; for tests
 *
 * A heap, because the times are a trace's: waits in descending order would make a sorted array
 * move all others for each.
 */
struct queue {
	char *entry;
	struct join_place *heap;
	size_t size, nr, max;
	uint64_t last_ns, arrived, moved;
};

struct jetwatt_join {
	struct jetwatt_power_state state;
	struct queue power, sync;
	uint64_t hold_ns, delivered_ns, late;
	jetwatt_power_fn power_fn;
	jetwatt_sync_fn sync_fn;
	void *arg;
};

static const void *first(const struct queue *q)
{
	return q->entry + q->heap[0].slot * q->size;
}

static uint64_t first_ns(const struct queue *q)
{
	return q->nr ? q->heap[0].time_ns : UINT64_MAX;
}

static int before(const struct join_place *a, const struct join_place *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->nr < b->nr;
}

static int resize(struct queue *q, size_t max)
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

/* What one long delay took is not kept. */
static void give_back(struct queue *q)
{
	if (q->max > LEAST && q->nr < q->max / 8)
		resize(q, q->max / 2);
}

/* Most records are the latest: these stay at the end. */
static int insert(struct queue *q, const void *entry, uint64_t time_ns)
{
	struct join_place new = { .time_ns = time_ns, .nr = q->arrived };
	size_t i;

	if (q->nr == q->max && resize(q, q->max ? 2 * q->max : LEAST))
		return -ENOMEM;
	q->arrived++;
	i = q->nr++;
	new.slot = q->heap[i].slot;
	memcpy(q->entry + new.slot * q->size, entry, q->size);
	for (; i > 0 && before(&new, &q->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		q->heap[i] = q->heap[(i - 1) / 2];
		q->moved++;
	}
	q->heap[i] = new;
	if (time_ns > q->last_ns)
		q->last_ns = time_ns;
	return 0;
}

/* The earliest. Its slot is free from then on. */
static void drop(struct queue *q)
{
	struct join_place last = q->heap[--q->nr];
	size_t slot = q->heap[0].slot, i = 0, k;

	for (; (k = 2 * i + 1) < q->nr; i = k) {
		if (k + 1 < q->nr && before(&q->heap[k + 1], &q->heap[k]))
			k++;
		if (!before(&q->heap[k], &last))
			break;
		q->heap[i] = q->heap[k];
		q->moved++;
	}
	q->heap[i] = last;
	q->heap[q->nr].slot = slot;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Deliver what is not later than @mark. A wait that ends at the time of a
 * sample comes after it: the sample's power was drawn during the wait.
 */
static void deliver(struct jetwatt_join *j, uint64_t mark)
{
	struct jetwatt_power power;
	struct jetwatt_sync sync;
	uint64_t p, s;

	for (;;) {
		p = first_ns(&j->power);
		s = first_ns(&j->sync);
		if (!j->power.nr && !j->sync.nr)
			break;
		if ((p < s ? p : s) > mark)
			break;
		j->delivered_ns = p < s ? p : s;
		/* copies: a callback may bring the next record */
		if (j->power.nr && p <= s) {
			power = *(const struct jetwatt_power *)first(&j->power);
			drop(&j->power);
			if (j->power_fn)
				j->power_fn(&power, j->arg);
		} else {
			sync = *(const struct jetwatt_sync *)first(&j->sync);
			drop(&j->sync);
			if (j->sync_fn)
				j->sync_fn(&sync, j->arg);
		}
	}
}

static void advance(struct jetwatt_join *j)
{
	uint64_t latest, silent, power, sync;

	latest = j->power.last_ns > j->sync.last_ns ? j->power.last_ns : j->sync.last_ns;
	silent = less(latest, j->hold_ns);
	power = j->power.last_ns > silent ? j->power.last_ns : silent;
	sync = less(j->sync.last_ns, j->hold_ns < DISORDER_NS ? j->hold_ns : DISORDER_NS);
	if (sync < silent)
		sync = silent;
	deliver(j, power < sync ? power : sync);
	give_back(&j->power);
	give_back(&j->sync);
}

/* What would break the order is left out and counted. */
static void add(struct jetwatt_join *j, struct queue *q, const void *entry, uint64_t time_ns)
{
	if (time_ns < j->delivered_ns) {
		j->late++;
		return;
	}
	if (!insert(q, entry, time_ns))
		return;
	/* No memory: let go of what is held back, early but in order. */
	deliver(j, time_ns);
	if (insert(q, entry, time_ns))
		j->late++;
}

void jetwatt_join_samples(const struct jetwatt_samples *s, void *join)
{
	struct jetwatt_join *j = join;
	struct jetwatt_power p;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (jetwatt_power_sample(&j->state, s, i, &p))
			add(j, &j->power, &p, p.time_ns);
	advance(j);
}

void jetwatt_join_sync(const struct jetwatt_sync *s, void *join)
{
	struct jetwatt_join *j = join;

	add(j, &j->sync, s, s->exit_ns);
	advance(j);
}

void jetwatt_join_reading(const struct jetwatt_reading *r, void *join)
{
	struct jetwatt_join *j = join;

	jetwatt_power_reading(&j->state, r);
}

void jetwatt_join_flush(struct jetwatt_join *j)
{
	deliver(j, UINT64_MAX);
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
