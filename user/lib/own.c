// SPDX-License-Identifier: LGPL-2.1-only
#include "own.h"

/* This many waits of the helper without one of the job's: it does not wait itself any more. */
#define ALONE	64
/* Waits after which those before count half. */
#define LATELY	4096

int jetwatt_own_counts(struct jetwatt_own *o, const struct jetwatt_sync *s)
{
	unsigned int i = s->tgid % JETWATT_OWN_PROCESSES;

	if (s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN)
		return 1;
	if (o->process[i].tgid != s->tgid) {
		o->process[i].tgid = s->tgid;
		o->process[i].own = o->process[i].helper = 0;
	}
	if (o->process[i].own + o->process[i].helper >= LATELY) {
		o->process[i].own /= 2;
		o->process[i].helper /= 2;
	}
	if (s->call != JETWATT_SYNC_HELPER) {
		o->process[i].own++;
		return 1;
	}
	o->process[i].helper++;
	return o->process[i].own * ALONE < o->process[i].helper;
}
