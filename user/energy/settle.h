/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compute means of power over windows of whole minibatches, and fit a constant plus a decaying
 * exponential to these means. Used by settle.c and settle_predict.c.
 */
#ifndef JETWATT_ENERGY_SETTLE_H
#define JETWATT_ENERGY_SETTLE_H

#include <stddef.h>
#include <stdint.h>

/* Number of windows that begin within the length of one window, since windows overlap. */
#define JETWATT_BATCH_HOPS	4

/**
 * struct jetwatt_batch_fit - fit of level + decay * exp(-i / tau) to the windows i
 * @level: power to which the exponential decays, W
 * @decay: amplitude of the decay, W
 * @tau: decay time, in intervals between the starts of two windows; 0: a constant without decay
 * @error: standard error of @level for this @tau, W
 * @rss: sum of the squared residuals of the fit, W^2
 * @spread: @error divided by the root mean square of the residuals
 */
struct jetwatt_batch_fit {
	double level, decay, tau, error, rss, spread;
};

/* Return: length of a window, ns: the smallest whole number of minibatches that lasts at least
 * 100 ms. @minibatch_ns: duration of a minibatch, ns; 0: unknown, and a window has 100 ms. */
double jetwatt_batch_window(uint64_t minibatch_ns);

/*
 * Compute the mean power in overlapping windows of @len ns; the last window ends with the last
 * sample. @y: set to an array of mean powers, W, which the caller frees, also after an error.
 * @first: start of the first window, in ns after the first sample. Return: number of windows, 0 if
 * the samples are shorter than @len; -ENOMEM.
 */
long jetwatt_batch_windows(const uint64_t *t, const double *w, size_t n, double len, double **y,
			   double *first);

/* Fit the mean powers @y of @n windows by least squares, for the decay time @tau (as in struct
 * jetwatt_batch_fit). @tau 0, or too long to be told from a constant: fit a constant. */
struct jetwatt_batch_fit jetwatt_batch_least(const double *y, size_t n, double tau);

#endif
