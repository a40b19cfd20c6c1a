// SPDX-License-Identifier: LGPL-2.1-only
#include "lib/own.h"

/* This many waits of the helper without one of the job's: it does not wait itself any more. */
#define ALONE	64
/* Waits after which those before count half. */
#define LATELY	4096

static void report(struct jetwatt_own *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn, void *arg)
{
	struct jetwatt_sync told = *s;

	told.lost += o->lost;
	o->lost = 0;
	fn(&told, arg);
}

static void drop(struct jetwatt_own *o, const struct jetwatt_sync *s)
{
	o->dropped++;
	o->lost += s->lost;
}

static size_t place(struct jetwatt_own *o, uint32_t tgid)
{
	size_t i = tgid % JETWATT_OWN_PROCESSES;

	if (o->process[i].tgid != tgid) {
		o->process[i].tgid = tgid;
		o->process[i].own = o->process[i].helper = 0;
		o->process[i].alone = 0;
	}
	return i;
}

/* What is held back of a process: report it, or drop it if @fn is NULL. */
static void decide(struct jetwatt_own *o, uint32_t tgid, jetwatt_sync_fn fn, void *arg)
{
	size_t left = 0;

	for (size_t i = 0; i < o->nr_held; i++) {
		struct jetwatt_sync s = o->held[i];

		if (s.tgid != tgid)
			o->held[left++] = s;
		else if (fn)
			report(o, &s, fn, arg);
		else
			drop(o, &s);
	}
	o->nr_held = left;
}

static void release(struct jetwatt_own *o, uint32_t tgid, jetwatt_sync_fn fn, void *arg)
{
	o->process[place(o, tgid)].alone = 1;
	decide(o, tgid, fn, arg);
}

static int held_back(struct jetwatt_own *o, const struct jetwatt_sync *s, size_t i,
		     jetwatt_sync_fn fn, void *arg)
{
	if (o->process[i].alone)
		return 0;
	/* No room: the process that has waited for longest. It may be this one. */
	if (o->nr_held == JETWATT_OWN_HELD)
		release(o, o->held[0].tgid, fn, arg);
	if (o->process[place(o, s->tgid)].alone)
		return 0;
	o->held[o->nr_held++] = *s;
	return 1;
}

void jetwatt_own_add(struct jetwatt_own *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn,
		     void *arg)
{
	size_t i = place(o, s->tgid);

	if (s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN) {
		report(o, s, fn, arg);
		return;
	}
	if (o->process[i].own + o->process[i].helper >= LATELY) {
		o->process[i].own /= 2;
		o->process[i].helper /= 2;
	}
	if (s->call != JETWATT_SYNC_HELPER) {
		o->process[i].own++;
		decide(o, s->tgid, NULL, NULL);
		report(o, s, fn, arg);
		return;
	}
	o->process[i].helper++;
	if (!o->process[i].own && held_back(o, s, i, fn, arg))
		return;
	if (o->process[i].own * ALONE < o->process[i].helper)
		report(o, s, fn, arg);
	else
		drop(o, s);
}

uint64_t jetwatt_own_release(struct jetwatt_own *o, uint64_t now_ns, jetwatt_sync_fn fn, void *arg)
{
	uint64_t due = 0;

	for (size_t i = 0; i < o->nr_held;) {
		uint64_t at = o->held[i].exit_ns + JETWATT_OWN_HOLD_NS;

		if (at <= now_ns) {
			release(o, o->held[i].tgid, fn, arg);
			due = 0;
			i = 0;
			continue;
		}
		due = !due || at < due ? at : due;
		i++;
	}
	return due;
}
