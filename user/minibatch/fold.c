// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the period of a job whose peaks are hidden by a disturbance.
 *
 * A periodic disturbance may delay waits as much as a data loader does. Because of the delay, the
 * longest gap of a minibatch may for some time not be its first gap. Therefore the waits are
 * divided into windows of several minibatches, and each window votes for the position in the
 * minibatch whose median gap is the longest. If the longest gap is at the start of the minibatch,
 * most windows vote for the same position. If a beat or chance causes the longest gap, its position
 * differs from window to window.
 */
#include "minibatch/period.h"

#include <math.h>
#include <string.h>

#define GROUPS		6	/* number of minibatches per window */
/* minimum logarithm of how much likelier the windows' votes are with this period than by chance */
#define EVIDENCE	12.0
/* minimum fraction of the windows with the same vote (0.75 for a period of 2, 0.67 for 3); with twice
 * the true period, only half of the windows agree */
#define AGREE		0.65
/* minimum excess of the longest median gap over the others, as fraction of the mean time between
 * waits */
#define STANDS		0.02

/* Return the position in the minibatch with the longest median gap, 0..@k-1; @by: set to the
 * excess of the longest gap over the other gaps, as fraction of the mean time between waits. */
static int longest_gap(const struct jetwatt_batch_wait *b, int k, double *by)
{
	double best = -INFINITY, next = -INFINITY, cycle = 0, share[GROUPS];
	int at = 0;

	for (int i = 0; i < k * GROUPS; i++)
		cycle += b[i].cycle_ns / (k * GROUPS);
	for (int i = 0; i < k; i++) {
		double mid;

		for (int j = 0; j < GROUPS; j++)
			share[j] = b[i + j * k].gap_ns / fmax(cycle, 1);
		/* Take the lower of the two middle values: a delay in only half of the groups of @k
		 * waits does not raise it, for example a log that a job with one wait per minibatch
		 * writes every 2 * @k minibatches. */
		jetwatt_peaks_median(share, GROUPS);
		mid = share[(GROUPS - 1) / 2];
		if (mid > best) {
			next = best;
			best = mid;
			at = i;
		} else {
			next = fmax(next, mid);
		}
	}
	*by = best - next;
	return at;
}

/**
 * jetwatt_fold_find() - find the longest period for which most windows have their longest gap at
 *	the same position of the minibatch
 * @b: the waits
 * @n: number of waits
 * @scratch: scratch memory for @n values
 *
 * Return: the period, as number of waits per minibatch; 1 if no period was found.
 */
int jetwatt_fold_find(const struct jetwatt_batch_wait *b, size_t n, double *scratch)
{
	for (int k = JETWATT_PERIOD_MAX; k >= 2; k--) {
		size_t votes[JETWATT_PERIOD_MAX] = { 0 }, windows = 0, most = 0;
		double agree, chance = 1.0 / k, evidence;

		/* Skip the first group of waits: the gap before the first wait is unknown. */
		for (size_t i = (size_t)k; i + (size_t)(k * GROUPS) <= n; i += (size_t)(k * GROUPS)) {
			size_t v = ++votes[longest_gap(b + i, k, &scratch[windows++])];

			most = v > most ? v : most;
		}
		if (!windows)
			continue;
		agree = (double)most / (double)windows;
		if (agree < fmax(AGREE, 0.5 * (1 + chance)))
			continue;
		evidence = (double)windows * agree * log(agree / chance);
		if (most < windows)
			evidence += (double)(windows - most) * log((1 - agree) / (1 - chance));
		if (evidence >= EVIDENCE && jetwatt_peaks_median(scratch, windows) >= STANDS)
			return k;
	}
	return 1;
}

/**
 * jetwatt_fold_smooth() - replace each value by the median of the values at its position in up to
 *	five minibatches around it
 * @v: the values
 * @n: number of values
 * @k: the period
 * @scratch: scratch memory for @n values
 */
void jetwatt_fold_smooth(double *v, size_t n, int k, double *scratch)
{
	for (size_t i = 0; i < n; i++) {
		double around[5];
		size_t m = 0;

		for (int j = -2; j <= 2; j++) {
			long from = (long)i + j * k;

			if (from >= 0 && from < (long)n)
				around[m++] = v[from];
		}
		scratch[i] = jetwatt_peaks_median(around, m);
	}
	memcpy(v, scratch, n * sizeof(*v));
}
