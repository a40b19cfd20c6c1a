/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Filters the waits of the helper thread cuda-EvtHandlr, which libcuda starts in a job. The probe
 * uses this filter.
 *
 * The helper wakes up for every event of the GPU, also if a thread of the job waits for the same
 * work. Therefore the helper's waits are reported only for a process whose other threads hardly
 * ever wait. Whether other threads wait is unknown at first, so the helper's waits are held back.
 * If another thread of the process waits within JETWATT_HELPER_FILTER_HOLD_NS, the helper's waits
 * are dropped; else, or if the space for them is full, they are reported with their original times.
 */
#ifndef JETWATT_LIB_HELPER_FILTER_H
#define JETWATT_LIB_HELPER_FILTER_H

#include "jetwatt.h"

#define JETWATT_HELPER_FILTER_PROCESSES	64	/* slots for processes */
#define JETWATT_HELPER_FILTER_HELD	256	/* maximum number of waits held back, of all processes */
/*
 * Time for which waits of the helper are held back, ns. This time must be shorter than the hold
 * time of the join, which discards records that arrive later. If the join gets waits of another
 * process or marks meanwhile, it may deliver them and then discard the waits that are held back.
 */
#define JETWATT_HELPER_FILTER_HOLD_NS	500000000ull

/**
 * struct jetwatt_helper_filter - state of the filter; all zero at first
 * @process: slots, by tgid modulo JETWATT_HELPER_FILTER_PROCESSES; a new process replaces
 *	the one in its slot. drops: number of the helper's next waits to drop, because the job's
 *	own threads wait. known: 1: the helper's waits are not held back any more, because the
 *	process had own waits, had none in time, or @held was full
 * @held: waits held back, in order of arrival
 * @nr_held: number of waits held back
 * @dropped: number of the helper's waits that were dropped
 * @lost: number of lost waits that the dropped records had reported; added to the number in
 *	the next reported record
 */
struct jetwatt_helper_filter {
	struct {
		uint32_t tgid, drops;
		int known;
	} process[JETWATT_HELPER_FILTER_PROCESSES];
	struct jetwatt_sync held[JETWATT_HELPER_FILTER_HELD];
	size_t nr_held;
	uint64_t dropped;
	uint32_t lost;
};

/**
 * jetwatt_helper_filter_add() - report a wait, hold it back, or drop it
 * @o: the filter
 * @s: the wait
 * @fn: called for each wait to report: the wait @s, and waits that were held back if there is
 *	no more space for them
 * @arg: passed to @fn
 */
void jetwatt_helper_filter_add(struct jetwatt_helper_filter *o, const struct jetwatt_sync *s, jetwatt_sync_fn fn,
		     void *arg);

/**
 * jetwatt_helper_filter_release() - report the held waits of each process whose hold time is over
 * @o: the filter
 * @now_ns: present time; all waits that ended JETWATT_HELPER_FILTER_HOLD_NS before @now_ns
 *	must have been added.
 *	UINT64_MAX: report all waits
 * @fn: called for each wait to report
 * @arg: passed to @fn
 *
 * Return: time at which the next wait that is held back is to be reported; 0: no wait is held back.
 */
uint64_t jetwatt_helper_filter_release(struct jetwatt_helper_filter *o, uint64_t now_ns, jetwatt_sync_fn fn, void *arg);

#endif
