// SPDX-License-Identifier: GPL-2.0-only
/* Merges the waits of a minibatch with more than JETWATT_PERIOD_MAX waits (long_cycle.c, long_wait.c) into one. */
#include "minibatch/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* number of waits in a window, in which cycles are searched together; the last window has up to
 * twice as many */
#define WINDOW		4096
/* Waits without the end of a minibatch between them are no cycle if they are more than this many times
 * the usual waits of a cycle. */
#define TOO_MANY	3

/* Add a wait to the cycle. */
static void add(struct jetwatt_long_sum *sum, const struct jetwatt_sync *s)
{
	uint64_t begin = s->enter_ns > sum->until ? s->enter_ns : sum->until,
		 launch = s->launch_ns && s->launch_ns < s->enter_ns ? s->launch_ns : s->enter_ns;
	struct jetwatt_sync first = sum->sync;

	if (sum->waits && launch > sum->until)
		sum->idle_ns += launch - sum->until;
	if (s->exit_ns > begin)
		sum->waited_ns += s->exit_ns - begin;
	sum->sync = *s;
	if (sum->waits++) {
		sum->sync.launches += first.launches;
		sum->sync.lost += first.lost;
		if (first.launch_ns)
			sum->sync.launch_ns = first.launch_ns;
	}
	if (s->exit_ns > sum->until)
		sum->until = s->exit_ns;
}

/* Complete the merged wait of a cycle: its length is the total length of the cycle's waits. */
static void complete(struct jetwatt_long_sum *sum)
{
	sum->sync.enter_ns = sum->sync.exit_ns - sum->waited_ns;
}

bool jetwatt_long_next(struct jetwatt_long_sum *sum, const struct jetwatt_long_cycle *cycle,
		       const struct jetwatt_sync *s, struct jetwatt_sync *merged)
{
	size_t after = cycle->after > 0 ? (size_t)cycle->after : 0;

	add(sum, s);
	if (jetwatt_long_is_anchor(cycle, s))
		sum->anchor = sum->waits;
	if (!sum->anchor || sum->waits - sum->anchor < after)
		return false;
	complete(sum);
	*merged = sum->sync;
	*sum = (struct jetwatt_long_sum){ 0 };
	return true;
}

bool jetwatt_long_is_lost(const struct jetwatt_long_sum *sum, const struct jetwatt_long_cycle *cycle)
{
	return sum->waits > TOO_MANY * cycle->waits;
}

/* Merge the items @from to @to - 1 into the item @at; if these items are too many for one cycle,
 * move them to the indices from @at on instead. Return: number of items. */
static size_t merge_cycle(struct jetwatt_item *it, size_t from, size_t to, size_t at,
			  struct jetwatt_sync *merged, const struct jetwatt_long_cycle *cycle,
			  struct jetwatt_batch_why *why)
{
	struct jetwatt_long_sum sum = { 0 };
	uint32_t waits = 0;

	if (to - from > TOO_MANY * cycle->waits) {
		for (size_t i = from; i < to; i++)
			jetwatt_item_move(it, i, at + i - from, merged);
		return to - from;
	}
	for (size_t i = from; i < to; i++) {
		add(&sum, it[i].sync);
		waits += it[i].waits;
		if (!why || i + 1 == to)
			continue;
		why[it[i].at].rule = JETWATT_RULE_PART;
		why[it[i].at].minibatch = (uint32_t)it[to - 1].at;
	}
	complete(&sum);
	merged[at] = sum.sync;
	it[at] = (struct jetwatt_item){ &merged[at], it[to - 1].at, waits, sum.idle_ns };
	return 1;
}

/* Return the index of the first item after the minibatch that begins with the item @from; 0: the
 * minibatch is not complete. */
static size_t minibatch_end(const struct jetwatt_item *it, size_t from, size_t n,
			    const struct jetwatt_long_cycle *cycle)
{
	size_t anchor = n, after = (size_t)(cycle->after > 0 ? cycle->after : 0);

	for (size_t i = from; i < n; i++) {
		if (!jetwatt_long_is_anchor(cycle, it[i].sync))
			continue;
		if (cycle->after >= 0 && i + after < n)
			return i + after + 1;
		if (cycle->after < 0 && anchor < n)
			return jetwatt_long_cycle_boundary(it, anchor, i);
		anchor = i;
	}
	return 0;
}

/* Find the anchors of long minibatches. Return: 1: there are some; 0: there are none, and @cycle is all zero;
 * -ENOMEM. */
static int find_cycle(const struct jetwatt_item *it, size_t n, const struct jetwatt_period *r,
		      struct jetwatt_long_cycle *cycle)
{
	struct jetwatt_cycles c = { it, malloc(n * sizeof(*c.at)), 0, malloc(n * sizeof(*c.v)) };
	int rc = -ENOMEM;

	*cycle = (struct jetwatt_long_cycle){ 0 };
	if (c.at && c.v)
		/* Another job that uses the GPU may prolong waits. */
		rc = (r->launches && jetwatt_long_cycle_find(&c, n, cycle)) ||
		     (!r->shared && jetwatt_long_waits_find(&c, n, cycle));
	if (rc <= 0)
		*cycle = (struct jetwatt_long_cycle){ 0 };
	free(c.at);
	free(c.v);
	return rc;
}

int jetwatt_long_cycles_merge(struct jetwatt_item *it, size_t *n, struct jetwatt_sync *merged,
			      struct jetwatt_batch_why *why, struct jetwatt_period *r)
{
	struct jetwatt_long_cycle *cycle = &r->cycle;
	size_t kept = 0, done = 0, end;

	while (done < *n) {
		size_t seen = *n - done < 2 * WINDOW ? *n - done : WINDOW;
		int rc = find_cycle(it + done, seen, r, cycle);

		if (rc < 0)
			return rc;
		if (!rc) {
			for (end = done + seen; done < end; done++)
				jetwatt_item_move(it, done, kept++, merged);
			continue;
		}
		for (size_t limit = done + seen; (end = minibatch_end(it, done, limit, cycle)); done = end)
			kept += merge_cycle(it, done, end, kept, merged, cycle, why);
		if (done + seen < *n)
			continue;
		/* The last cycle is not complete. */
		if (*n - done > TOO_MANY * cycle->waits) {
			kept += merge_cycle(it, done, *n, kept, merged, cycle, why);
			cycle->waits = 0;
		} else if (why) {
			for (size_t i = done; i < *n; i++)
				why[it[i].at].rule = JETWATT_RULE_PART;
		}
		done = *n;
	}
	*n = kept;
	return 0;
}
