// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares two autocorrelated series, by a bootstrap over block means and Cliff's delta, or two
 * values with standard errors.
 */
#include "cmd/compare/effect_size.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"

/* Largest and smallest number of blocks per series; means of long blocks are nearly independent. */
#define BLOCKS_MAX	20
#define BLOCKS_MIN	6
#define NORMAL_95	1.96	/* 95 % of a normal distribution are within this many standard deviations */
#define RESAMPLES	4000

/* Split a series of values into at most BLOCKS_MAX blocks of nearly equal length, and store the
 * mean of each block. Return: number of blocks. */
static int block_means(const double *v, size_t n, double *mean)
{
	int k = n < BLOCKS_MAX ? n : BLOCKS_MAX;

	for (int i = 0; i < k; i++) {
		size_t from = n * i / k, to = n * (i + 1) / k;

		mean[i] = 0;
		for (size_t j = from; j < to; j++)
			mean[i] += v[j];
		mean[i] /= to - from;
	}
	return k;
}

/* Random numbers by xorshift64*, with a fixed seed: the same series give the same result
 * everywhere. */
static uint64_t xorshift_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

/* Return: the mean of @k block means drawn with replacement. A bootstrap of k values underestimates
 * the spread, so the deviation is scaled by sqrt(k / (k - 1)). */
static double resampled_mean(const double *mean, int k, uint64_t *state)
{
	double sum = 0, all = 0;

	for (int i = 0; i < k; i++) {
		sum += mean[(xorshift_next(state) >> 33) % k];
		all += mean[i];
	}
	return (all + (sum - all) * sqrt(k / (k - 1.))) / k;
}

/* Cliff's delta of two sorted series: the probability that a value of @b is above a value of @a,
 * minus the probability that it is below. */
static double cliffs_delta(const double *a, size_t na, const double *b, size_t nb)
{
	size_t below = 0, upto = 0;
	double sum = 0;

	for (size_t j = 0; j < nb; j++) {
		while (below < na && a[below] < b[j])
			below++;
		while (upto < na && a[upto] <= b[j])
			upto++;
		sum += (double)below - (double)(na - upto);
	}
	return sum / ((double)na * nb);
}

static double effect_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : 0;
}

static void bootstrap_change(const double *a, size_t na, const double *b, size_t nb, double *change,
			     struct jetwatt_effect *e)
{
	double in_a[BLOCKS_MAX], in_b[BLOCKS_MAX];
	int ka = block_means(a, na, in_a), kb = block_means(b, nb, in_b), up = 0, down = 0;
	uint64_t state = 88172645463325252ull;

	e->confidence = -1;
	if (ka < BLOCKS_MIN || kb < BLOCKS_MIN)
		return;
	for (int i = 0; i < RESAMPLES; i++) {
		change[i] = resampled_mean(in_b, kb, &state) - resampled_mean(in_a, ka, &state);
		up += change[i] > 0;
		down += change[i] < 0;
	}
	qsort(change, RESAMPLES, sizeof(*change), jetwatt_order_doubles);
	if (e->mean[0] != 0) {
		e->lo = change[RESAMPLES * 25 / 1000] / fabs(e->mean[0]);
		e->hi = change[RESAMPLES * 975 / 1000] / fabs(e->mean[0]);
	}
	e->confidence = (double)abs(up - down) / RESAMPLES;
}

int jetwatt_effect(const double *a, size_t na, const double *b, size_t nb, struct jetwatt_effect *e)
{
	double *sorted = malloc((na + nb + 1) * sizeof(*sorted));
	double *change = malloc(RESAMPLES * sizeof(*change));
	int err = -ENOMEM;

	memset(e, 0, sizeof(*e));
	e->confidence = -1;
	if (!sorted || !change)
		goto out;
	err = 0;
	e->mean[0] = effect_mean(a, na);
	e->mean[1] = effect_mean(b, nb);
	if (!na || !nb)
		goto out;
	/* There is no change relative to 0, but whether the mean has changed is known. */
	e->change = e->lo = e->hi = e->mean[0] != 0 ? (e->mean[1] - e->mean[0]) / fabs(e->mean[0]) : NAN;
	memcpy(sorted, a, na * sizeof(*a));
	memcpy(sorted + na, b, nb * sizeof(*b));
	qsort(sorted, na, sizeof(*a), jetwatt_order_doubles);
	qsort(sorted + na, nb, sizeof(*b), jetwatt_order_doubles);
	/* If all values of both series are equal except for rounding errors, nothing has changed. */
	if (fmax(sorted[na - 1], sorted[na + nb - 1]) - fmin(sorted[0], sorted[na]) <=
	    1e-9 * fabs(e->mean[0])) {
		e->change = e->lo = e->hi = 0;
		e->confidence = 0;
		goto out;
	}
	e->delta = cliffs_delta(sorted, na, sorted + na, nb);
	bootstrap_change(a, na, b, nb, change, e);
out:
	free(sorted);
	free(change);
	return err;
}

void jetwatt_effect_single(const double mean[2], const double sd[2], struct jetwatt_effect *e)
{
	double ratio = mean[1] / mean[0], error = hypot(sd[0], sd[1]);

	*e = (struct jetwatt_effect){ .mean = { mean[0], mean[1] }, .change = ratio - 1, .delta = NAN,
				      .lo = NAN, .hi = NAN, .confidence = -1 };
	if (isnan(error))
		return;
	/* The error of the quotient, relative to it, is about @error. */
	e->lo = ratio * (1 - NORMAL_95 * error) - 1;
	e->hi = ratio * (1 + NORMAL_95 * error) - 1;
	e->confidence = error > 0 ? erf(fabs(log(ratio)) / error / M_SQRT2) : ratio != 1;
}

const char *jetwatt_effect_size(const struct jetwatt_effect *e)
{
	double d = fabs(e->delta);

	return isnan(d) ? "-" : d < 0.147 ? "none" : d < 0.33 ? "small" : d < 0.474 ? "medium" : "large";
}

int jetwatt_effect_moved(const struct jetwatt_effect *e)
{
	return e->confidence >= 0.99 && !(fabs(e->delta) < 0.147);
}
