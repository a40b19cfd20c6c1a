// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples, waits and readings of a session: writes them to the recorder, passes them to the
 * join, and stores what the join delivers.
 */
#include "measure/session.h"

#include <linux/jetwatt.h>
#include <stdlib.h>

#include "util/clock.h"

/* A rail of the total that was not read for this time, in ns, has failed. */
#define FAILED_RAIL_NS		2000000000ull
/* Interval of reading sysfs, ns: some files request their value from the firmware, which takes
 * milliseconds. */
#define SYSFS_NS		1000000000ull

/* Append an entry to a growing array. Return: the entry; NULL: out of memory. */
static void *append_entry(void **array, size_t *n, size_t *max, size_t size)
{
	if (*n == *max) {
		size_t more = *max ? *max * 2 : 1024;
		void *p = reallocarray(*array, more, size);

		if (!p)
			return NULL;
		*array = p;
		*max = more;
	}
	return (char *)*array + size * (*n)++;
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwatt_session *w = arg;
	struct jetwatt_power *at = append_entry((void **)&w->power, &w->nr_power, &w->max_power,
						sizeof(*at));

	if (!at) {
		w->out_of_memory = w->failed = 1;
		return;
	}
	*at = *p;
	w->power_ns = p->time_ns;
	w->telemetry = p->telemetry;
	for (int i = 0; i < w->nr_total; i++) {
		int r = w->total[i];

		if (p->valid & 1u << r || !w->alive_ns[r])
			w->alive_ns[r] = p->time_ns;
		else if (p->time_ns - w->alive_ns[r] > FAILED_RAIL_NS) {
			w->failed_rail = r;
			w->failed = 1;
		}
	}
	if (w->on_power)
		w->on_power(p, w->arg);
}

static void on_sync(const struct jetwatt_sync *s, void *arg)
{
	struct jetwatt_session *w = arg;
	int mark = s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN;
	struct jetwatt_sync *at = mark ?
		append_entry((void **)&w->mark, &w->nr_mark, &w->max_mark, sizeof(*at)) :
		append_entry((void **)&w->sync, &w->nr_sync, &w->max_sync, sizeof(*at));

	if (!at) {
		w->out_of_memory = w->failed = 1;
		return;
	}
	*at = *s;
	if (mark)
		return;
	w->waits++;
	w->last_wait_ns = s->exit_ns;
}

void jetwatt_session_wait(const struct jetwatt_sync *s, void *session)
{
	struct jetwatt_session *w = session;

	if (w->recorder)
		jetwatt_trace_write_sync(s, w->recorder);
	jetwatt_join_sync(s, w->join);
}

void jetwatt_session_reading(const struct jetwatt_reading *r, void *session)
{
	struct jetwatt_session *w = session;

	if (w->recorder)
		jetwatt_trace_write_reading(r, w->recorder);
	if (w->join)
		jetwatt_join_reading(r, w->join);
}

void jetwatt_session_read_sysfs(struct jetwatt_session *w, int now)
{
	uint64_t now_ns = jetwatt_clock_ns();
	struct jetwatt_reading r;

	if (!w->sysfs || !w->join || (!now && now_ns - w->sysfs_ns < SYSFS_NS))
		return;
	w->sysfs_ns = now_ns;
	jetwatt_sysfs_read(w->sysfs, &r);
	jetwatt_session_reading(&r, w);
}

void jetwatt_session_join(struct jetwatt_session *w)
{
	jetwatt_join_set(w->join, on_power, on_sync, w);
}

/* Bus voltages are read in rotation, so the last sample has that of one rail of each bus only. */
static void note_bus(struct jetwatt_session *w, const struct jetwatt_samples *s)
{
	for (uint32_t i = 0; i < s->nr_series; i++) {
		const struct jetwatt_series_view *v = &s->series[i];
		uint32_t n = v->kind == JETWATT_SERIES_BUS_UV ? s->count : 0;

		while (n && v->value[n - 1] == JETWATT_VALUE_NONE)
			n--;
		for (int r = 0; r < w->nr_rails && n; r++)
			if (w->rail[r].id == v->index)
				w->bus_uv[r] = v->value[n - 1];
	}
}

void jetwatt_session_samples(const struct jetwatt_samples *s, void *session)
{
	struct jetwatt_session *w = session;

	w->running = 1;
	w->last_batch_ns = jetwatt_clock_ns();
	if (s->count)
		w->sampled_ns = s->time_ns[s->count - 1];
	note_bus(w, s);
	if (w->recorder)
		jetwatt_trace_write_samples(s, w->recorder);
	if (!w->join)
		return;
	w->samples += s->count;
	w->lost += s->gap;
	jetwatt_join_samples(s, w->join);
}
