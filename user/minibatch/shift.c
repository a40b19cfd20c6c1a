// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which wait of a known period is the first one of a minibatch, if the peaks of the series
 * that showed the period are at another wait.
 */
#include "minibatch/period.h"

#include <math.h>
#include <string.h>

#define OPTIMIZER	0.6	/* an optimizer step lengthens a wait by less than this (log) */
/* A time without work shows where a minibatch begins only if it is LONGEST_IDLE times as long as
 * the sum of the second longest time and the fraction SHORT_IDLE of the minibatch. */
#define LONGEST_IDLE	3
#define SHORT_IDLE	0.003

/*
 * The lengths of the waits show the period, but not which wait is the first of a minibatch. If one
 * gap is longer than the noise allows, move the peaks of @v to the wait after this gap.
 */
static bool shift_to_longest_gap(const struct jetwatt_batch_wait *b, double *v, size_t n, int k,
				 const size_t *at, size_t peaks)
{
	double sum[JETWATT_PERIOD_MAX] = { 0 }, square[JETWATT_PERIOD_MAX] = { 0 }, mean, error;
	int longest = 0;
	size_t used = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 0; i < k; i++) {
			sum[i] += b[at[j] + (size_t)i].gap;
			square[i] += b[at[j] + (size_t)i].gap * b[at[j] + (size_t)i].gap;
		}
		used++;
	}
	for (int i = 1; i < k; i++)
		if (sum[i] > sum[longest])
			longest = i;
	mean = sum[0] / (double)used;
	error = sqrt((square[0] / (double)used - mean * mean) / (double)used);
	if (longest && sum[longest] / (double)used - mean > fmax(0.02, 4 * error))
		memmove(v + longest, v, (n - (size_t)longest) * sizeof(*v));
	return true;
}

/*
 * The longest gap may be inside a minibatch, if most launches are there: an LSTM, for example,
 * waits for the lengths of its sequences before it launches anything else
 * (tests/trace/gpu/pytorch-lstm). The GPU has no work between two minibatches, so if launches are
 * traced and one time without work is much longer than the others, move the peaks of @v to the wait
 * after it. Return: whether they moved.
 */
bool jetwatt_shift_to_idle(const struct jetwatt_batch_wait *b, double *v, size_t n, int k,
			   const struct jetwatt_peaks *s, size_t *at)
{
	double idle[JETWATT_PERIOD_MAX] = { 0 }, cycle = 0, next = 0;
	size_t peaks = jetwatt_peaks_list(s, k, at), groups = 0;
	int longest = 0;

	for (int i = 0; i < k; i++) {
		groups = 0;
		for (size_t j = 0; j + 1 < peaks; j++)
			if (at[j + 1] - at[j] == (size_t)k) {
				s->scratch[groups++] = b[at[j] + (size_t)i].idle_ns;
				cycle += b[at[j] + (size_t)i].cycle_ns;
			}
		idle[i] = jetwatt_peaks_median(s->scratch, groups);
	}
	for (int i = 1; i < k; i++)
		longest = idle[i] > idle[longest] ? i : longest;
	for (int i = 0; i < k; i++)
		next = i != longest ? fmax(next, idle[i]) : next;
	if (!longest || idle[longest] <= LONGEST_IDLE * (next + SHORT_IDLE * cycle / (double)groups))
		return false;
	memmove(v + longest, v, (n - (size_t)longest) * sizeof(*v));
	return true;
}

/*
 * Return whether the waits of a minibatch before the last one differ from each other in length, or
 * the last one is longer than an optimizer step explains. Waits that do not vary in this way are a
 * minibatch each, and an optimizer step follows every @k-th one. If the waits vary, also move the
 * peaks of @v to the wait after the longest gap.
 */
bool jetwatt_waits_vary(const struct jetwatt_batch_wait *b, double *v, size_t n, int k, size_t *at)
{
	struct jetwatt_peaks s = { v, n, JETWATT_WAIT_MARGIN, NULL };
	double sum[JETWATT_PERIOD_MAX] = { 0 }, lo = INFINITY, hi = -INFINITY,
	       last = 0;
	size_t peaks = 0, used = 0;

	for (size_t i = 1; i < n; i++)
		if (jetwatt_peaks_at(&s, i, k))
			at[peaks++] = i;
	for (size_t j = 0; j + 1 < peaks; j++) {
		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 0; i < k - 1; i++)
			sum[i] += b[at[j] + (size_t)i].wait;
		last += b[at[j] + (size_t)k - 1].wait;
		used++;
	}
	for (int i = 0; i < k - 1 && used; i++) {
		lo = fmin(lo, sum[i] / (double)used);
		hi = fmax(hi, sum[i] / (double)used);
	}
	if (!used)
		return false;
	if (hi - lo > 0.2 || last / (double)used - hi > (k == 2 ? 0.75 : 1) * OPTIMIZER)
		return shift_to_longest_gap(b, v, n, k, at, peaks);
	return false;
}
