/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A job's own waits, and those of the thread that libcuda has started beside it.
 *
 * That thread, the helper, wakes up for every event of the GPU, also where a thread of the
 * job waits for the same work itself. So its waits are reported only of a process that has
 * next to none of its own. At first that is not known: the helper's waits are held back
 * until the process has waited itself, and then dropped, or until JETWATT_OWN_HOLD_NS have
 * passed, and then reported with the times that they had.
 */
#ifndef JETWATT_LIB_OWN_H
#define JETWATT_LIB_OWN_H

#include "jetwatt.h"

#define JETWATT_OWN_PROCESSES	64
/* Waits that are held back, of all processes. */
#define JETWATT_OWN_HELD	256
/* Less than the time for which the join holds samples: what comes later is left out there. */
#define JETWATT_OWN_HOLD_NS	500000000ull

/**
 * struct jetwatt_own - what is known of processes, and waits held back
 * @own, @helper: number of waits lately, by which thread waited
 * @alone: the helper's waits are reported: the process had none of its own in time. Of two
 *	processes at one place the newer one is known.
 * @held: in the order in which they came
 * @dropped: waits of the helper that were not reported
 * @lost: waits lost before those; the next one that is reported tells
 */
struct jetwatt_own {
	struct {
		uint32_t tgid, own, helper;
		int alone;
	} process[JETWATT_OWN_PROCESSES];
	struct jetwatt_sync held[JETWATT_OWN_HELD];
	size_t nr_held;
	uint64_t dropped;
	uint32_t lost;
};

/**
 * jetwatt_own_add() - report a wait, hold it back or drop it
 * @s: the wait, in order of time
 * @fn: called for it, or for what was held back and is reported to make room for it
 */
void jetwatt_own_add(struct jetwatt_own *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn,
		     void *arg);

/**
 * jetwatt_own_release() - report what was held back long enough
 * @now_ns: no wait that ended JETWATT_OWN_HOLD_NS before that is still to come;
 *	UINT64_MAX: none at all is
 *
 * Return: when there is more to report; 0: nothing is held back.
 */
uint64_t jetwatt_own_release(struct jetwatt_own *o, uint64_t now_ns, jetwatt_sync_fn fn, void *arg);

#endif
