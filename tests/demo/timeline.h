/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace of jetwatt record, exported as jsonl, as arrays for a plot. */
#ifndef JETWATT_DEMO_TIMELINE_H
#define JETWATT_DEMO_TIMELINE_H

#include <stddef.h>

/**
 * struct timeline - power of the module over time
 * @t_s: times of the samples, in seconds since the first sample
 * @w: total power of each sample, in W
 * @bound_s: ends of minibatches, in seconds since the first sample
 * @mark_s: times of the mode switches, in seconds since the first sample
 * @n: number of samples
 * @bounds: number of minibatches
 * @marks: number of mode switches
 */
struct timeline {
	double *t_s, *w, *bound_s, *mark_s;
	size_t n, bounds, marks;
};

/* Return: 0; or a negative errno. Call timeline_free() in both cases. */
int timeline_read(struct timeline *t, const char *path);
void timeline_free(struct timeline *t);

#endif
