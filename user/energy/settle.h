/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Means of power over windows of whole minibatches, and a constant plus a decaying
 * exponential that is fitted to them.
 */
#ifndef JETWATT_ENERGY_SETTLE_H
#define JETWATT_ENERGY_SETTLE_H

#include <stddef.h>
#include <stdint.h>

/* Windows begin so many times per length. */
#define JETWATT_BATCH_HOPS	4

/* level + decay * exp(-i / tau), i in windows; @tau 0: a constant. @error: standard error of the
 * level, for this tau; @rss: sum of squares of what is left; @spread: @error for what is left
 * of 1 in the mean. */
struct jetwatt_batch_fit {
	double level, decay, tau, error, rss, spread;
};

/* How long a window is: whole minibatches; 0: they are not known. */
double jetwatt_batch_window(uint64_t minibatch_ns);

/* Means over windows of @len ns, the last ending with the samples. @y: to be freed, also if it
 * fails; @first: when the first one begins, after the first sample. Return: how many; -ENOMEM. */
long jetwatt_batch_windows(const uint64_t *t, const double *w, size_t n, double len, double **y,
			   double *first);

/* Least squares, for a given @tau. */
struct jetwatt_batch_fit jetwatt_batch_least(const double *y, size_t n, double tau);

#endif
