/* SPDX-License-Identifier: GPL-2.0-only */
/* What `jetwatt record` wrote, as arrays for a plot. */
#ifndef JETWATT_DEMO_TIMELINE_H
#define JETWATT_DEMO_TIMELINE_H

#include <stddef.h>

/**
 * struct timeline - power of the module over time
 * @t_s, @w, @n: samples, seconds from the first one
 * @bound_s, @bounds: ends of minibatches
 * @mark_s, @marks: switches of modes
 */
struct timeline {
	double *t_s, *w, *bound_s, *mark_s;
	size_t n, bounds, marks;
};

/* Return: 0, negative errno; timeline_free() in both cases. */
int timeline_read(struct timeline *t, const char *path);
void timeline_free(struct timeline *t);

#endif
