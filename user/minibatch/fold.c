// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rhythm of a job under what hides its peaks.
 *
 * What beats against a job delays waits by as much as a loader does, so for a
 * while another gap of a minibatch is its longest. Seen over a few minibatches
 * at once, position by position, the longest one is the same again and again
 * however long one looks, because a program does not lose count; that of a
 * beat, or of chance, is at any position. So windows of a few minibatches vote.
 */
#include "minibatch/period.h"

#include <math.h>
#include <string.h>

#define GROUPS		6	/* in a window */
#define EVIDENCE	12.0	/* logarithm of the likelihood of the votes over chance */
#define AGREE		0.65	/* of the votes, at least; a half do on twice the true number */
#define STANDS		0.02	/* of the cycle between waits: less is no gap to speak of */

/* The position, of @k, whose gap is typically the longest; @by: by which share of a cycle. */
static int longest(const struct jetwatt_beat *b, int k, double *by)
{
	double best = -INFINITY, next = -INFINITY, cycle = 0, share[GROUPS];
	int at = 0;

	for (int i = 0; i < k * GROUPS; i++)
		cycle += b[i].cycle_ns / (k * GROUPS);
	for (int i = 0; i < k; i++) {
		double mid;

		for (int j = 0; j < GROUPS; j++)
			share[j] = b[i + j * k].gap_ns / fmax(cycle, 1);
		mid = jetwatt_peaks_median(share, GROUPS);
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
 * jetwatt_fold_find() - the most waits per minibatch that votes agree on
 * @room: for @n values
 *
 * Return: 1 if there are none.
 */
int jetwatt_fold_find(const struct jetwatt_beat *b, size_t n, double *room)
{
	for (int k = JETWATT_RHYTHM_MAX; k >= 2; k--) {
		size_t votes[JETWATT_RHYTHM_MAX] = { 0 }, windows = 0, most = 0;
		double agree, chance = 1.0 / k, evidence;

		/* The gap of the first wait is not known. */
		for (size_t i = (size_t)k; i + (size_t)(k * GROUPS) <= n; i += (size_t)(k * GROUPS)) {
			size_t v = ++votes[longest(b + i, k, &room[windows++])];

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
		if (evidence >= EVIDENCE && jetwatt_peaks_median(room, windows) >= STANDS)
			return k;
	}
	return 1;
}

/**
 * jetwatt_fold_smooth() - each value of @v as it is in the minibatches around
 * @room: for @n values
 */
void jetwatt_fold_smooth(double *v, size_t n, int k, double *room)
{
	for (size_t i = 0; i < n; i++) {
		double around[5];
		size_t m = 0;

		for (int j = -2; j <= 2; j++) {
			long from = (long)i + j * k;

			if (from >= 0 && from < (long)n)
				around[m++] = v[from];
		}
		room[i] = jetwatt_peaks_median(around, m);
	}
	memcpy(v, room, n * sizeof(*v));
}
