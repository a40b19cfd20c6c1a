// SPDX-License-Identifier: GPL-2.0-only
/* Queries about what a session has measured so far, and the discarding of old samples. */
#include "measure/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

/* Minimum allocated size of an array after shrinking, in entries. */
#define ENTRIES_MIN	128
/* Waits are counted and discarded if more than this number is stored (3.5 MiB). */
#define WAITS_MAX	65536

/* Halve the allocated size of an array of which at most a quarter is used. */
static void shrink_array(void **array, size_t *max, size_t n, size_t size)
{
	size_t less = *max / 2;
	void *p;

	if (less < ENTRIES_MIN || n > less / 2)
		return;
	p = reallocarray(*array, less, size);
	if (!p)
		return;
	*array = p;
	*max = less;
}

void jetwatt_session_discard(struct jetwatt_session *w, uint64_t before_ns)
{
	size_t n = 0;

	while (n < w->nr_power && w->power[n].time_ns < before_ns)
		n++;
	n -= n > 0;
	memmove(w->power, w->power + n, (w->nr_power - n) * sizeof(*w->power));
	w->nr_power -= n;
	shrink_array((void **)&w->power, &w->max_power, w->nr_power, sizeof(*w->power));
	shrink_array((void **)&w->sync, &w->max_sync, w->nr_sync, sizeof(*w->sync));
}

uint64_t jetwatt_session_waits_lost(const struct jetwatt_session *w)
{
	return (w->probe ? jetwatt_probe_lost(w->probe) : w->waits_lost) +
	       jetwatt_join_late(w->join);
}

/* Count the training minibatches that end after w->counted_ns and not after @until_ns. Return: 0; -ENOMEM. */
static int count_minibatches(const struct jetwatt_session *w, uint64_t until_ns, size_t *count)
{
	struct jetwatt_batch_bound *b = calloc(2 * w->nr_sync + 1, sizeof(*b));
	struct jetwatt_batch_info info;
	int n = b ? jetwatt_batch_segment(w->sync, w->nr_sync, b, &info) : -ENOMEM;

	*count = 0;
	for (int i = 0; i < n; i++)
		*count += b[i].kind == JETWATT_BATCH_TRAIN && b[i].end_ns > w->counted_ns && b[i].end_ns <= until_ns;
	free(b);
	return n == -ENOMEM ? n : 0;
}

size_t jetwatt_session_minibatches(const struct jetwatt_session *w)
{
	size_t count;

	count_minibatches(w, UINT64_MAX, &count);
	return w->minibatches + count;
}

void jetwatt_session_forget(struct jetwatt_session *w, size_t keep)
{
	uint64_t until_ns;
	size_t count;

	if (w->nr_sync <= WAITS_MAX || w->nr_sync <= keep)
		return;
	/* The boundaries near the last wait may be found differently once more waits are known. */
	until_ns = w->sync[w->nr_sync - keep - 1].exit_ns;
	if (count_minibatches(w, until_ns, &count))
		return;
	w->minibatches += count;
	w->counted_ns = until_ns;
	memmove(w->sync, w->sync + w->nr_sync - keep, keep * sizeof(*w->sync));
	w->nr_sync = keep;
	w->nr_mark = 0;
}

double jetwatt_session_total(const struct jetwatt_session *w, const struct jetwatt_power *p)
{
	int64_t uw = 0;

	for (int i = 0; i < w->nr_total; i++)
		uw += p->uw[w->total[i]];
	return uw * 1e-6;
}

const char *jetwatt_session_scope(const struct jetwatt_session *w, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (int i = 0; i < w->nr_total && at < len; i++)
		at += snprintf(buf + at, len - at, "%s%s", i ? " + " : "",
			       w->rail[w->total[i]].label);
	return buf;
}

void jetwatt_session_probe_state(const struct jetwatt_session *w, struct jetwatt_probe_state *st)
{
	if (w->probe)
		jetwatt_probe_state(w->probe, st);
	else
		*st = w->trace_state;
}
