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

/* Records in order of time, in a ring that grows. */
struct queue {
	char *entry;
	size_t size, head, nr, max;
	uint64_t last_ns;
};

struct jetwatt_join {
	struct jetwatt_power_state state;
	struct queue power, sync;
	uint64_t hold_ns, delivered_ns, late;
	jetwatt_power_fn power_fn;
	jetwatt_sync_fn sync_fn;
	void *arg;
};

static void *at(const struct queue *q, size_t i)
{
	return q->entry + (q->head + i) % q->max * q->size;
}

/* Of both kinds of record; the offsets differ. */
static uint64_t power_time(const void *entry)
{
	return ((const struct jetwatt_power *)entry)->time_ns;
}

static uint64_t sync_time(const void *entry)
{
	return ((const struct jetwatt_sync *)entry)->exit_ns;
}

static int resize(struct queue *q, size_t max)
{
	char *entry = malloc(max * q->size);

	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < q->nr; i++)
		memcpy(entry + i * q->size, at(q, i), q->size);
	free(q->entry);
	q->entry = entry;
	q->max = max;
	q->head = 0;
	return 0;
}

/* What one long delay took is not kept. */
static void give_back(struct queue *q)
{
	if (q->max > LEAST && q->nr < q->max / 8)
		resize(q, q->max / 2);
}

/* Most records belong at the end. */
static int insert(struct queue *q, const void *entry, uint64_t (*time)(const void *))
{
	uint64_t t = time(entry);
	size_t i;

	if (q->nr == q->max && resize(q, q->max ? 2 * q->max : LEAST))
		return -ENOMEM;
	for (i = q->nr; i > 0 && time(at(q, i - 1)) > t; i--)
		memcpy(at(q, i), at(q, i - 1), q->size);
	memcpy(at(q, i), entry, q->size);
	q->nr++;
	if (t > q->last_ns)
		q->last_ns = t;
	return 0;
}

static void drop(struct queue *q)
{
	q->head = (q->head + 1) % q->max;
	q->nr--;
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
		p = j->power.nr ? power_time(at(&j->power, 0)) : UINT64_MAX;
		s = j->sync.nr ? sync_time(at(&j->sync, 0)) : UINT64_MAX;
		if (!j->power.nr && !j->sync.nr)
			break;
		if ((p < s ? p : s) > mark)
			break;
		j->delivered_ns = p < s ? p : s;
		/* copies: a callback may bring the next record */
		if (j->power.nr && p <= s) {
			power = *(struct jetwatt_power *)at(&j->power, 0);
			drop(&j->power);
			if (j->power_fn)
				j->power_fn(&power, j->arg);
		} else {
			sync = *(struct jetwatt_sync *)at(&j->sync, 0);
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
static void add(struct jetwatt_join *j, struct queue *q, const void *entry,
		uint64_t (*time)(const void *))
{
	if (time(entry) < j->delivered_ns) {
		j->late++;
		return;
	}
	if (!insert(q, entry, time))
		return;
	/* No memory: let go of what is held back, early but in order. */
	deliver(j, time(entry));
	if (insert(q, entry, time))
		j->late++;
}

void jetwatt_join_samples(const struct jetwatt_samples *s, void *join)
{
	struct jetwatt_join *j = join;
	struct jetwatt_power p;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (jetwatt_power_sample(&j->state, s, i, &p))
			add(j, &j->power, &p, power_time);
	advance(j);
}

void jetwatt_join_sync(const struct jetwatt_sync *s, void *join)
{
	struct jetwatt_join *j = join;

	add(j, &j->sync, s, sync_time);
	advance(j);
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
	free(j->sync.entry);
	free(j);
}
