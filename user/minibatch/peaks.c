// SPDX-License-Identifier: GPL-2.0-only
/* Finds the peaks in a series of values, one per wait (mostly the logarithm of the gap before the
 * wait), and tests whether the peaks have a period. */
#include "minibatch/period.h"

#include <math.h>
#include <stdlib.h>

#include "minibatch/order.h"

/* minimum fraction of the groups between peaks that must have k or k + 1 waits (if k > 3; a larger one
 * if k is 2 or 3), and of the peaks that must stand out */
#define IN_STEP		0.6
/* minimum ratio of peak height to scatter if there are at least MANY groups of k waits */
#define SEPARATION_MIN	2.5
#define MANY		8
#define FEW		3	/* with FEW to MANY - 1 groups, JETWATT_PEAKS_WELL_SEPARATED is needed */

/* Return the height of value @i: the value minus the highest other value that is less than @k
 * positions away. */
double jetwatt_peaks_above(const struct jetwatt_peaks *s, size_t i, int k)
{
	size_t lo = i >= (size_t)k ? i - (size_t)k + 1 : 1;
	size_t hi = i + (size_t)k < s->n ? i + (size_t)k : s->n;
	double most = -INFINITY;

	for (size_t j = lo ? lo : 1; j < hi; j++)
		most = j != i ? fmax(most, s->v[j]) : most;
	return s->v[i] - most;
}

/* Return whether value @i is a peak: higher, by the margin, than all values less than @k positions away.
 * The first value is ignored, because the gap before the first wait is unknown. */
bool jetwatt_peaks_at(const struct jetwatt_peaks *s, size_t i, int k)
{
	size_t lo = i >= (size_t)k ? i - (size_t)k + 1 : 1;
	size_t hi = i + (size_t)k < s->n ? i + (size_t)k : s->n;

	for (size_t j = lo ? lo : 1; j < hi; j++)
		if (j != i && s->v[j] + s->margin >= s->v[i])
			return false;
	return i > 0;
}

/* List all peaks. @at: memory for n indices. Return: their number. */
size_t jetwatt_peaks_list(const struct jetwatt_peaks *s, int k, size_t *at)
{
	size_t peaks = 0;

	for (size_t i = 1; i < s->n; i++)
		if (jetwatt_peaks_at(s, i, k))
			at[peaks++] = i;
	return peaks;
}

/* Return whether value @i is higher, by the margin, than the values of the following waits of its
 * minibatch, up to index @end - 1. */
bool jetwatt_peaks_lead(const struct jetwatt_peaks *s, size_t i, int k, size_t end)
{
	for (size_t j = i + 1; j < i + (size_t)k && j < end; j++)
		if (s->v[j] + s->margin >= s->v[i])
			return false;
	return true;
}

/*
 * Return whether peak @j is higher than every value that is not a peak, from three periods before
 * the peak to three periods after it. Noise alone rarely causes such a peak.
 */
bool jetwatt_peaks_stand_out(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			     size_t j, int k, size_t begin, size_t end)
{
	size_t lo = at[j] > begin + 3 * (size_t)k ? at[j] - 3 * (size_t)k : begin;
	size_t hi = at[j] + 3 * (size_t)k < end ? at[j] + 3 * (size_t)k : end;
	size_t p = j;

	while (p && at[p - 1] >= lo)
		p--;
	for (size_t i = lo; i < hi; i++) {
		if (p < peaks && at[p] == i)
			p++;
		else if (s->v[i] >= s->v[at[j]])
			return false;
	}
	return true;
}

/* Sort @v and return its median; 0 if it is empty. */
double jetwatt_peaks_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), jetwatt_minibatch_order_doubles);
	return n ? v[n / 2] : 0;
}

/*
 * Return: separation of the peaks: the median difference between a peak and the highest of the
 * @k - 1 values after the peak, divided by the scatter between groups. The separation of random
 * peaks is one or two.
 */
double jetwatt_peaks_separation(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
				int k)
{
	double stand, scatter;
	size_t n = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		double most = s->v[at[j] + 1];

		for (size_t i = at[j] + 2; i < at[j] + (size_t)k && i < s->n; i++)
			most = fmax(most, s->v[i]);
		s->scratch[n++] = s->v[at[j]] - most;
	}
	stand = jetwatt_peaks_median(s->scratch, n);
	n = 0;
	for (size_t j = 0; j + 2 < peaks; j++)
		s->scratch[n++] = fabs(s->v[at[j] + 1] - s->v[at[j + 1] + 1]);
	scatter = jetwatt_peaks_median(s->scratch, n);
	return stand / (scatter + 1e-3);
}

/* Test how well a period of @k waits per minibatch explains the peaks. @at: memory for n
 * indices. */
struct jetwatt_period_fit jetwatt_peaks_test(const struct jetwatt_peaks *s, int k, size_t *at)
{
	size_t peaks, exact = 0, more = 0, out = 0, waits = 0;
	double next = 0, after = 0, clear, in_step, enough;
	struct jetwatt_period_fit r = { 0 };

	peaks = jetwatt_peaks_list(s, k, at);
	if (peaks < 3)
		return r;
	for (size_t j = 0; j + 1 < peaks; j++) {
		size_t size = at[j + 1] - at[j];

		exact += size == (size_t)k;
		more += size == (size_t)k + 1;
		if (size == (size_t)k || size == (size_t)k + 1)
			waits += size;
		next += fabs(s->v[at[j + 1]] - s->v[at[j]]);
		if (j + 2 < peaks)
			after += fabs(s->v[at[j + 2]] - s->v[at[j]]);
	}
	for (size_t j = 0; j < peaks; j++)
		out += jetwatt_peaks_stand_out(s, at, peaks, j, k, 1, s->n);
	r.in_step = (double)(exact + more) / (double)(peaks - 1);
	r.covered = (double)waits / (double)s->n;
	r.uneven = next / (double)(peaks - 1) - (peaks > 2 ? after / (double)(peaks - 2) : 0);
	clear = jetwatt_peaks_separation(s, at, peaks, k);
	/* Peaks that are caused by chance are mostly two or three waits apart. */
	in_step = k == 2 ? 0.85 : k == 3 ? 0.75 : IN_STEP;
	enough = exact >= MANY	? SEPARATION_MIN
		 : exact >= FEW ? JETWATT_PEAKS_WELL_SEPARATED
				: INFINITY;
	r.fits = clear >= enough && r.in_step >= in_step && exact * 10 >= (exact + more) * 4 &&
		 (double)out >= IN_STEP * (double)peaks &&
		 (r.covered >= 0.4 || (s->n < 8 * (size_t)k && r.covered >= 0.3));
	return r;
}

/* Return: mean difference between a peak and the highest of the @k - 1 values after the peak;
 * the margin of @s if there are no peaks. */
double jetwatt_peaks_contrast(const struct jetwatt_peaks *s, int k)
{
	double sum = 0, near;
	size_t peaks = 0;

	for (size_t i = 1; i + (size_t)k <= s->n; i++) {
		if (!jetwatt_peaks_at(s, i, k))
			continue;
		near = -INFINITY;
		for (size_t j = i + 1; j < i + (size_t)k; j++)
			near = fmax(near, s->v[j]);
		sum += s->v[i] - near;
		peaks++;
	}
	return peaks ? sum / (double)peaks : s->margin;
}
