/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Minibatch bounds from the sequence of synchronisation calls, and energy
 * between bounds. Pure: arrays in, arrays out; no descriptors, no clocks.
 */
#ifndef JETWATT_BATCH_H
#define JETWATT_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/**
 * struct jetwatt_batch_bound - one minibatch, or one stretch that is not one
 * @start_ns, @end_ns: from the last sync's exit of the one before to its own
 * @wait_ns: of that, time in which the job waited for the GPU
 * @syncs: number of waits inside
 * @tgid: the process
 * @kind: JETWATT_BATCH_TRAIN, _EVAL, _OTHER
 */
struct jetwatt_batch_bound {
	uint64_t start_ns, end_ns, wait_ns;
	uint32_t syncs, tgid;
	int kind;
};
enum { JETWATT_BATCH_TRAIN, JETWATT_BATCH_EVAL, JETWATT_BATCH_OTHER };

struct jetwatt_batch_info {
	double period_syncs;	/* syncs per minibatch */
	double confidence;	/* 0..1 */
	uint64_t lost;		/* events known to be missing */
};

/**
 * jetwatt_batch_segment() - find minibatches in the waits of one job
 * @sync: waits in order of exit time, of any number of threads and processes
 * @out: at least @n entries
 *
 * Return: bounds found, in order of @end_ns; -EINVAL: not in order; -ENODATA:
 * too few waits to tell; -ENOMEM.
 */
int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info);

/**
 * jetwatt_batch_energy() - energy between two times, trapezoid clipped to them
 * @p: power samples in order of time
 * @nr: rails to add (indices in @rail); the caller knows the rail graph
 * @uj: energy in uJ
 * @covered_ns: may be NULL; how much of the interval lies between samples with
 *	no gap; what lies in a gap is bridged and not in @covered_ns
 *
 * Return: 0, -ENODATA: no sample on either side.
 */
int jetwatt_batch_energy(const struct jetwatt_power *p, size_t n, const int *rail, int nr,
			 uint64_t start_ns, uint64_t end_ns, double *uj, uint64_t *covered_ns);

/**
 * jetwatt_batch_settled() - when has power settled after a switch?
 * @w: total power in W, one value a sample; @t_ns: their times
 *
 * From the power signal itself: the first time from which on the remaining
 * signal has no trend beyond its own noise.
 *
 * Return: index of the first settled sample, or -ENODATA: not settled yet.
 */
long jetwatt_batch_settled(const uint64_t *t_ns, const double *w, size_t n);

/* The same where the length of a minibatch is known: power is then averaged
 * over whole minibatches, so swings inside one are no noise. 0: not known; then
 * it is guessed from the signal, which takes 2 s of it (1 s otherwise) and a few
 * minibatches: one of several seconds may be taken for a level. */
long jetwatt_batch_settled_over(const uint64_t *t_ns, const double *w, size_t n,
				uint64_t minibatch_ns);

#endif
