// SPDX-License-Identifier: LGPL-2.1-only
/* Filters the waits of libcuda's helper thread: see helper_filter.h. */
#include "lib/helper_filter.h"

/*
 * After each wait of another thread of the process (an own wait), the filter drops this many waits
 * of the helper. Own waits add to the waits to drop until these are DROPS_MAX, because a program
 * may wait while it compiles, and never again.
 */
#define HELPER_RATIO	64
#define DROPS_MAX	1024

static void report_wait(struct jetwatt_helper_filter *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn,
			void *arg)
{
	struct jetwatt_sync reported = *s;

	reported.lost += o->lost;
	o->lost = 0;
	fn(&reported, arg);
}

static void drop_wait(struct jetwatt_helper_filter *o, const struct jetwatt_sync *s)
{
	o->dropped++;
	o->lost += s->lost;
}

static size_t process_slot(struct jetwatt_helper_filter *o, uint32_t tgid)
{
	size_t i = tgid % JETWATT_HELPER_FILTER_PROCESSES;

	if (o->process[i].tgid != tgid) {
		o->process[i].tgid = tgid;
		o->process[i].drops = 0;
		o->process[i].known = 0;
	}
	return i;
}

/* Report the waits of a process that are held back, or drop them if @fn is NULL. */
static void end_hold(struct jetwatt_helper_filter *o, uint32_t tgid, jetwatt_sync_fn fn, void *arg)
{
	size_t left = 0;

	for (size_t i = 0; i < o->nr_held; i++) {
		struct jetwatt_sync s = o->held[i];

		if (s.tgid != tgid)
			o->held[left++] = s;
		else if (fn)
			report_wait(o, &s, fn, arg);
		else
			drop_wait(o, &s);
	}
	o->nr_held = left;
}

/* Report the waits of a process that are held back, and hold back no wait of its helper from now
 * on. */
static void release_process(struct jetwatt_helper_filter *o, uint32_t tgid, jetwatt_sync_fn fn, void *arg)
{
	o->process[process_slot(o, tgid)].known = 1;
	end_hold(o, tgid, fn, arg);
}

static int hold_back(struct jetwatt_helper_filter *o, const struct jetwatt_sync *s, size_t i,
		     jetwatt_sync_fn fn, void *arg)
{
	if (o->process[i].known)
		return 0;
	/* There is no space to hold back another wait: report the waits of the process whose
	 * wait arrived first. That process may be the one of @s. */
	if (o->nr_held == JETWATT_HELPER_FILTER_HELD)
		release_process(o, o->held[0].tgid, fn, arg);
	if (o->process[process_slot(o, s->tgid)].known)
		return 0;
	o->held[o->nr_held++] = *s;
	return 1;
}

void jetwatt_helper_filter_add(struct jetwatt_helper_filter *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn,
		     void *arg)
{
	size_t i = process_slot(o, s->tgid);

	if (s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN) {
		report_wait(o, s, fn, arg);
		return;
	}
	if (s->call != JETWATT_SYNC_HELPER) {
		if (o->process[i].drops <= DROPS_MAX - HELPER_RATIO)
			o->process[i].drops += HELPER_RATIO;
		o->process[i].known = 1;
		end_hold(o, s->tgid, NULL, NULL);
		report_wait(o, s, fn, arg);
		return;
	}
	if (hold_back(o, s, i, fn, arg))
		return;
	if (!o->process[i].drops) {
		report_wait(o, s, fn, arg);
	} else {
		o->process[i].drops--;
		drop_wait(o, s);
	}
}

uint64_t jetwatt_helper_filter_release(struct jetwatt_helper_filter *o, uint64_t now_ns, jetwatt_sync_fn fn, void *arg)
{
	uint64_t due = 0;

	for (size_t i = 0; i < o->nr_held;) {
		uint64_t at = o->held[i].exit_ns + JETWATT_HELPER_FILTER_HOLD_NS;

		if (at <= now_ns) {
			release_process(o, o->held[i].tgid, fn, arg);
			due = 0;
			i = 0;
			continue;
		}
		due = !due || at < due ? at : due;
		i++;
	}
	return due;
}
