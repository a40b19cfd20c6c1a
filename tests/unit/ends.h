/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the ends of a program's minibatches, in all of its waits and while it runs, and compares them
 * with the true ones. */
#ifndef JETWATT_TESTS_ENDS_H
#define JETWATT_TESTS_ENDS_H

#include <stdlib.h>

#include "minibatch/minibatch.h"

/**
 * struct ends - a program's waits and the ends of its minibatches
 * @sync: the waits
 * @waits: their number
 * @end: the true ends, ns
 * @ends: their number
 */
struct ends {
	const struct jetwatt_sync *sync;
	size_t waits;
	const uint64_t *end;
	size_t ends;
};

/*
 * Compare the ends @at with the true ones from index @from, 1 or more, on. @tolerance: fraction
 * of the mean minibatch by which they may differ. Return: F1.
 */
static double ends_f1(const struct ends *e, const uint64_t *at, size_t n, size_t from, double tolerance)
{
	double mean = (double)(e->end[e->ends - 1] - e->end[from - 1]) / (double)(e->ends - from);
	uint64_t near = (uint64_t)(tolerance * mean);
	size_t hits = 0, next = from, found = 0;

	for (size_t i = 0; i < n; i++) {
		if (at[i] < e->end[from - 1] + near)
			continue;
		found++;
		while (next < e->ends && e->end[next] + near < at[i])
			next++;
		if (next < e->ends && e->end[next] <= at[i] + near) {
			hits++;
			next++;
		}
	}
	return 2.0 * (double)hits / (double)(found + e->ends - from);
}

/* Return: F1 of the ends found in all waits together; the first true end only begins a minibatch. */
static double ends_whole(const struct ends *e, double tolerance)
{
	struct jetwatt_batch_bound *b = calloc(2 * e->waits, sizeof(*b));
	uint64_t *at = calloc(2 * e->waits, sizeof(*at));
	struct jetwatt_batch_info info;
	size_t count = 0;
	double f1;
	int n;

	if (!b || !at)
		abort();
	n = jetwatt_batch_segment(e->sync, e->waits, b, &info);
	for (int i = 0; i < n; i++)
		if (b[i].kind != JETWATT_BATCH_OTHER)
			at[count++] = b[i].end_ns;
	f1 = ends_f1(e, at, count, 1, tolerance);
	free(b);
	free(at);
	return f1;
}

/* Return: F1 of the second half of the ends, found while the program runs. */
static __attribute__((unused)) double ends_live(const struct ends *e, double tolerance)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	uint64_t *at = calloc(e->waits, sizeof(*at));
	size_t count = 0;
	double f1;

	if (!t || !at)
		abort();
	for (size_t i = 0; i < e->waits; i++) {
		if (jetwatt_batch_track_add(t, &e->sync[i], 0) > 0)
			at[count++] = e->sync[i].exit_ns;
		jetwatt_batch_track_learn(t);
	}
	f1 = ends_f1(e, at, count, e->ends / 2 + 1, tolerance);
	jetwatt_batch_track_free(t);
	free(at);
	return f1;
}

#endif
