/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A job's own waits, and those of the thread that libcuda has started beside it.
 */
#ifndef JETWATT_LIB_OWN_H
#define JETWATT_LIB_OWN_H

#include "jetwatt.h"

#define JETWATT_OWN_PROCESSES	64

/* Waits of a process lately, by who waited; of two processes at one place the newer one. */
struct jetwatt_own {
	struct {
		uint32_t tgid, own, helper;
	} process[JETWATT_OWN_PROCESSES];
};

/**
 * jetwatt_own_counts() - decide whether a wait is reported
 * @s: the wait, in order of time
 *
 * The helper wakes up for every event of the GPU, also where a thread of the job waits
 * for the same work itself: its waits count only where the job has next to none.
 */
int jetwatt_own_counts(struct jetwatt_own *o, const struct jetwatt_sync *s);

#endif
