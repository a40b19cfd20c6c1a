// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicts the level that power will reach after a change of mode, before power has settled.
 *
 * The model is that of settle.c: a constant level plus a decaying exponential. The start of a decay
 * alone hardly determines the final level, because the decay time is unknown. However, the decay
 * time is a property of the board (its regulators, its leakage). Earlier changes of mode give the
 * likelihood of each decay time on a grid; together with the first samples, this determines the
 * level long before it is reached. The prediction is the mean of the levels for all decay times,
 * weighted by the likelihood of each decay time, from these samples and from earlier changes of
 * mode; its error includes the differences between the levels.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "energy/energy.h"
#include "energy/settle.h"

#define TAUS		JETWATT_BATCH_TAUS
#define TAU_NS		50000000.0	/* first decay time of the grid */
#define STEP		1.1		/* ratio of decay times; a larger ratio misses levels */
#define WINDOWS_MIN	16		/* minimum number of windows: four that do not overlap */
#define FLOOR		0.0015		/* minimum error of a window, as share of power */
#define WINDOW_WEIGHT	0.5		/* weight of a window: the noise of windows is correlated */
#define DECAY_WEIGHT	0.9		/* weight of earlier changes of mode when one is added */
#define RANGE_MIN	1.0		/* minimum range of log-likelihoods that counts */
#define RANGE_MAX	20.0		/* maximum distance of a log-likelihood from the best */

/* Make log-likelihoods relative to the highest one, so that the best decay time has 0. */
static void subtract_best(double *like)
{
	double best = like[0];

	for (int i = 1; i < TAUS; i++)
		best = fmax(best, like[i]);
	for (int i = 0; i < TAUS; i++)
		like[i] = fmax(like[i] - best, -RANGE_MAX);
}

void jetwatt_batch_decay_add(struct jetwatt_batch_decay *all, const struct jetwatt_batch_decay *one)
{
	double least = 0;

	for (int i = 0; i < TAUS; i++)
		least = fmin(least, one->like[i]);
	if (least > -RANGE_MIN)
		return;
	for (int i = 0; i < TAUS; i++)
		all->like[i] = DECAY_WEIGHT * all->like[i] + one->like[i];
	subtract_best(all->like);
}

int jetwatt_batch_level(const uint64_t *t_ns, const double *w, size_t n, uint64_t minibatch_ns,
			const struct jetwatt_batch_decay *known, struct jetwatt_batch_level *out)
{
	double len = jetwatt_batch_window(minibatch_ns), first, *y, mean = 0, sum = 0, alone;
	double level[TAUS], var[TAUS];
	long count;

	if (!minibatch_ns || n < WINDOWS_MIN || (double)(t_ns[n - 1] - t_ns[0]) < len)
		return -ENODATA;
	count = jetwatt_batch_windows(t_ns, w, n, len, &y, &first);
	if (count < WINDOWS_MIN) {
		free(y);
		return count < 0 ? (int)count : -ENODATA;
	}
	for (long i = 0; i < count; i++)
		mean += y[i] / (double)count;
	alone = WINDOW_WEIGHT * (double)count / JETWATT_BATCH_HOPS;
	for (int i = 0; i < TAUS; i++) {
		double tau = TAU_NS * pow(STEP, i) / len * JETWATT_BATCH_HOPS, left;
		struct jetwatt_batch_fit f = jetwatt_batch_least(y, (size_t)count, tau);

		left = f.rss / (double)count + FLOOR * FLOOR * mean * mean;
		level[i] = f.level;
		var[i] = f.spread * f.spread * left / WINDOW_WEIGHT;
		out->decay.like[i] = -alone / 2 * log(left);
	}
	free(y);
	subtract_best(out->decay.like);
	out->w = out->sd = 0;
	for (int i = 0; i < TAUS; i++) {
		double p = exp(out->decay.like[i] + known->like[i]);

		sum += p;
		out->w += p * level[i];
	}
	out->w /= sum;
	for (int i = 0; i < TAUS; i++)
		out->sd += exp(out->decay.like[i] + known->like[i]) / sum *
			   (var[i] + (level[i] - out->w) * (level[i] - out->w));
	out->sd = sqrt(out->sd);
	return out->w > 0 ? 0 : -ENODATA;
}
