// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where power goes after a switch, before it is there.
 *
 * What settle.c waits for is foretold here: the level of a constant plus a decaying
 * exponential. From the begin of a decay alone its level is hardly known, as its time is
 * not. But that time is the board's (its regulators', its leakage's): what earlier switches
 * have said of it, as a likelihood on a grid, makes the level known long before it is
 * reached. Each time of the grid has its level; the answer is their mean by what the
 * samples and the earlier switches say of each, and its error has in it what they differ by.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "energy/energy.h"
#include "energy/settle.h"

#define TAUS		JETWATT_BATCH_TAUS
#define TAU_NS		50000000.0	/* the first, and the others STEP times the one before: */
#define STEP		1.1		/* ... a coarser grid knows no level between two of them */
#define LEAST		16		/* windows: four that do not overlap */
#define FLOOR		0.0015		/* of power: no window is known better */
#define WORTH		0.5		/* of windows: their noise is not quite independent */
#define KEPT		0.9		/* of what earlier switches said, when another one speaks */
#define SPEAKS		1.0		/* best time against worst, in log likelihood */
#define MOST		20.0		/* beyond so much below the best nothing is told apart */

static void against_best(double *like)
{
	double best = like[0];

	for (int i = 1; i < TAUS; i++)
		best = fmax(best, like[i]);
	for (int i = 0; i < TAUS; i++)
		like[i] = fmax(like[i] - best, -MOST);
}

void jetwatt_batch_decay_add(struct jetwatt_batch_decay *all, const struct jetwatt_batch_decay *one)
{
	double least = 0;

	for (int i = 0; i < TAUS; i++)
		least = fmin(least, one->like[i]);
	if (least > -SPEAKS)
		return;
	for (int i = 0; i < TAUS; i++)
		all->like[i] = KEPT * all->like[i] + one->like[i];
	against_best(all->like);
}

int jetwatt_batch_level(const uint64_t *t_ns, const double *w, size_t n, uint64_t minibatch_ns,
			const struct jetwatt_batch_decay *known, struct jetwatt_batch_level *out)
{
	double len = jetwatt_batch_window(minibatch_ns), first, *y, mean = 0, sum = 0, alone;
	double level[TAUS], var[TAUS];
	long count;

	if (!minibatch_ns || n < LEAST || (double)(t_ns[n - 1] - t_ns[0]) < len)
		return -ENODATA;
	count = jetwatt_batch_windows(t_ns, w, n, len, &y, &first);
	if (count < LEAST) {
		free(y);
		return count < 0 ? (int)count : -ENODATA;
	}
	for (long i = 0; i < count; i++)
		mean += y[i] / (double)count;
	alone = WORTH * (double)count / JETWATT_BATCH_HOPS;
	for (int i = 0; i < TAUS; i++) {
		double tau = TAU_NS * pow(STEP, i) / len * JETWATT_BATCH_HOPS, left;
		struct jetwatt_batch_fit f = jetwatt_batch_least(y, (size_t)count, tau);

		left = f.rss / (double)count + FLOOR * FLOOR * mean * mean;
		level[i] = f.level;
		var[i] = f.spread * f.spread * left / WORTH;
		out->decay.like[i] = -alone / 2 * log(left);
	}
	free(y);
	against_best(out->decay.like);
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
