/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Minibatch bounds from the sequence of synchronisation calls. Pure: arrays in,
 * arrays out; no descriptors, no clocks.
 */
#ifndef JETWATT_MINIBATCH_MINIBATCH_H
#define JETWATT_MINIBATCH_MINIBATCH_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"

/* ------------------------------------------------------------------ */
/* Bounds                                                             */

enum { JETWATT_BATCH_TRAIN, JETWATT_BATCH_EVAL, JETWATT_BATCH_OTHER };

#define JETWATT_BATCH_FIRST	0x1	/* of its job: warm-up is in it, leave it out of means */
#define JETWATT_BATCH_INFERRED	0x2	/* an end of it was not seen but computed: its wait is missing */
#define JETWATT_BATCH_LAUNCHED	0x4	/* launches were seen: @fetch_ns ends where work was given */

/**
 * struct jetwatt_batch_bound - one minibatch, or one stretch that is not one
 * @start_ns, @end_ns: from the last sync's exit of the one before to its own
 * @wait_ns: of that, time in which the job waited for the GPU
 * @fetch_ns: from @start_ns to the first launch, or where launches are not
 *	seen to the first wait: the stall for data, at most
 * @gpu_ns: time in which the GPU had work of the job: from the first launch
 *	before each wait to its end; without launches the waits alone, at least
 * @cgroup: of its last wait, 0 if unknown
 * @syncs: number of waits inside
 * @missing: waits that should be inside and were not seen
 * @tgid: the process
 * @kind: JETWATT_BATCH_TRAIN, _EVAL, _OTHER
 * @flags: JETWATT_BATCH_FIRST ...
 * @confidence: 0..1, that it is one minibatch and no other number
 */
struct jetwatt_batch_bound {
	uint64_t start_ns, end_ns, wait_ns, fetch_ns, gpu_ns, cgroup;
	uint32_t syncs, missing, tgid;
	int kind;
	uint32_t flags;
	float confidence;
};

struct jetwatt_batch_info {
	double period_syncs;	/* syncs per minibatch */
	double confidence;	/* 0..1 */
	uint64_t lost;		/* events known to be missing */
};

/**
 * jetwatt_batch_segment() - find minibatches in the waits of one job
 * @sync: waits in order of exit time, of any number of threads and processes
 * @out: at least 2 * @n entries
 *
 * Return: bounds found, in order of @end_ns; -EINVAL: not in order; -ENODATA:
 * too few waits to tell; -ENOMEM.
 */
int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info);

/* ------------------------------------------------------------------ */
/* Bounds as they come                                                */

/* A job's waits one by one: is this one the end of a minibatch? Where bounds fall
 * is learned from the last waits with jetwatt_batch_segment(), and counted on
 * from there. What the program marks itself goes before. */
struct jetwatt_batch_track;
struct jetwatt_batch_track *jetwatt_batch_track_new(void);
void jetwatt_batch_track_free(struct jetwatt_batch_track *t);
/* Another job: as new. */
void jetwatt_batch_track_forget(struct jetwatt_batch_track *t);

/**
 * jetwatt_batch_track_add() - the next wait, or mark
 * @held_ns: for how long the job has been held still, in all so far: none of its own time
 *
 * Return: 1: a minibatch has ended; 0: none; -EAGAIN: not known yet where they end.
 */
int jetwatt_batch_track_add(struct jetwatt_batch_track *t, const struct jetwatt_sync *s,
			    uint64_t held_ns);

/* Look again at the last waits, if there are enough that are new: takes a while, so
 * not between a wait and what follows from it. Return: 0, -EAGAIN: not known yet. */
int jetwatt_batch_track_learn(struct jetwatt_batch_track *t);
/* Waits to a minibatch, 0: not known yet. */
size_t jetwatt_batch_track_period(const struct jetwatt_batch_track *t);

/* Median of a minibatch of training, in the job's own time; 0: not known. */
uint64_t jetwatt_batch_track_ns(const struct jetwatt_batch_track *t);

#endif
