// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out when power has settled after a change of mode.
 *
 * Power varies more within a minibatch than it drifts while it settles. Therefore the code computes
 * the mean power in overlapping windows of whole minibatches, and fits a constant plus a decaying
 * exponential to these means, for several decay times. Power has settled when the rest of the
 * exponential is below TOLERANCE, as a fraction of power, and no trend is left. With few windows,
 * the fitted constant has a large error. While this error is too large, the result is "not settled",
 * even if the signal looks constant.
 */
#include "energy/settle.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"

#define HOPS		JETWATT_BATCH_HOPS
/* minimum length of a window, ns, so that it contains dozens of samples */
#define WINDOW_NS	100000000.0
/* minimum number of windows: with fewer, a decay looks like noise */
#define WINDOWS_MIN	7
#define REST_NS		300000000.0	/* minimum duration of settled power, ns */
/* power has settled when the rest of the decay is below this fraction of power */
#define TOLERANCE	0.006
/* maximum standard error of the fitted level, as fraction of power */
#define SURE		0.012

/* power counts as constant if its change over all windows, with two standard errors, is at most this
 * fraction of power */
#define TREND		0.03
/* minimum duration of the samples, ns: in a shorter time, a slow decay looks constant */
#define SPAN_NS		1000000000.0
/* minimum duration of the samples if the duration of a minibatch is unknown, ns */
#define BLIND_NS	2000000000.0
/* a decay is certain if its sum of squared residuals is CLEAR * HOPS variances lower than that of a
 * constant, and possible if it is DOUBT * HOPS variances lower */
#define CLEAR		8
#define DOUBT		1.5

/* Trapezoidal integral of @w from the first sample to each sample; NULL: no memory. */
static double *running_integral(const uint64_t *t, const double *w, size_t n)
{
	double *sum = malloc(n * sizeof(*sum));

	if (!sum)
		return NULL;
	sum[0] = 0;
	for (size_t i = 1; i < n; i++)
		sum[i] = sum[i - 1] + 0.5 * (w[i] + w[i - 1]) * (double)(t[i] - t[i - 1]);
	return sum;
}

/* Return the integral @sum of power up to the time @at, in ns after the first sample. *i: index
 * of the sample at which the last call stopped. */
static double integral_to(const uint64_t *t, const double *w, const double *sum, size_t n,
			  double at, size_t *i)
{
	double dt, slope;

	while (*i + 2 < n && (double)(t[*i + 1] - t[0]) <= at)
		++*i;
	while (*i && (double)(t[*i] - t[0]) > at)
		--*i;
	dt = at - (double)(t[*i] - t[0]);
	slope = t[*i + 1] > t[*i] ? (w[*i + 1] - w[*i]) / (double)(t[*i + 1] - t[*i]) : 0;
	return sum[*i] + dt * (w[*i] + 0.5 * slope * dt);
}

/*
 * Compute the mean power in windows of @len ns. A window begins every @len / HOPS ns, and the last
 * window ends with the last sample. @out: mean power of each window, W. @first: start of the first
 * window, in ns after the first sample. Return: number of windows.
 */
static size_t window_means(const uint64_t *t, const double *w, const double *sum, size_t n,
			   double len, double *out, size_t max, double *first)
{
	double span = (double)(t[n - 1] - t[0]), hop = len / HOPS;
	size_t count, i = 0, j = 0;

	if (span < len)
		return 0;
	count = (size_t)((span - len) / hop) + 1;
	count = count < max ? count : max;
	*first = span - len - (double)(count - 1) * hop;
	for (size_t k = 0; k < count; k++) {
		double from = *first + (double)k * hop;

		out[k] = (integral_to(t, w, sum, n, from + len, &j) -
			  integral_to(t, w, sum, n, from, &i)) /
			 len;
	}
	return count;
}

double jetwatt_batch_window(uint64_t minibatch_ns)
{
	return minibatch_ns ? (double)minibatch_ns * ceil(WINDOW_NS / (double)minibatch_ns) : WINDOW_NS;
}

long jetwatt_batch_windows(const uint64_t *t, const double *w, size_t n, double len, double **y,
			   double *first)
{
	size_t windows = (size_t)((double)(t[n - 1] - t[0]) / len * HOPS) + 2;
	double *sum = running_integral(t, w, n);
	long count = -ENOMEM;

	*y = malloc(windows * sizeof(**y));
	if (sum && *y)
		count = (long)window_means(t, w, sum, n, len, *y, windows, first);
	free(sum);
	return count;
}

struct jetwatt_batch_fit jetwatt_batch_least(const double *y, size_t n, double tau)
{
	double sx = 0, sxx = 0, sy = 0, sxy = 0, step = tau > 0 ? exp(-1 / tau) : 0, x = 1, det;
	struct jetwatt_batch_fit f = { .tau = tau };

	for (size_t i = 0; i < n; i++, x *= step) {
		double e = tau > 0 ? x : 0;

		sx += e;
		sxx += e * e;
		sy += y[i];
		sxy += e * y[i];
	}
	det = (double)n * sxx - sx * sx;
	if (tau > 0 && det > 1e-9 * (double)n * sxx) {
		f.level = (sxx * sy - sx * sxy) / det;
		f.decay = ((double)n * sxy - sx * sy) / det;
	} else {
		f.level = sy / (double)n;
		f.tau = 0;
	}
	x = 1;
	for (size_t i = 0; i < n; i++, x *= step) {
		double r = y[i] - f.level - (f.tau > 0 ? f.decay * x : 0);

		f.rss += r * r;
	}
	/* The windows overlap: HOPS successive windows contain as much
	 * information as one independent window. */
	f.spread = sqrt(HOPS * (f.tau > 0 ? sxx / det : 1 / (double)n));
	f.error = sqrt(f.rss / (double)n) * f.spread;
	return f;
}

static struct jetwatt_batch_fit best_fit(const double *y, size_t n, double floor_w)
{
	struct jetwatt_batch_fit flat = jetwatt_batch_least(y, n, 0), best = flat;
	double gain, falls, slope = 0, trend, cube = (double)n * (double)n * (double)n;

	for (double tau = 1; tau < 2 * (double)n; tau *= 1.3) {
		struct jetwatt_batch_fit f = jetwatt_batch_least(y, n, tau);

		if (f.rss < best.rss)
			best = f;
	}
	/* A decay that explains little more than a constant is noise. A decay that explains
	 * somewhat more than a constant may be real or noise, and then the level of power is
	 * unknown. */
	gain = (flat.rss - best.rss) / (best.rss / (double)n + floor_w * floor_w);
	if (gain >= CLEAR * HOPS)
		return best;
	/* The level of power is also unknown if there is, or may be, a relevant trend. */
	for (size_t i = 0; i < n; i++)
		slope += ((double)i - 0.5 * (double)(n - 1)) * y[i] * 12 / cube;
	trend = fabs(slope) + 2 * sqrt(flat.rss / (double)n * HOPS * 12 / cube);
	if (trend * (double)n > TREND * fabs(flat.level))
		flat.error = INFINITY;
	falls = fabs(best.decay) * (1 - exp(-(double)n / best.tau));
	if (best.tau > 0 && gain >= DOUBT * HOPS && falls > 2 * TOLERANCE * fabs(flat.level))
		flat.error = INFINITY;
	return flat;
}

/* Return whether the mean powers of the first and the second half differ by no more than their
 * scatter explains, or 1.5 TOLERANCE. @y: mean power of the @n windows after the decay, W. */
static bool has_no_trend(const double *y, size_t n, double level)
{
	double a = 0, b = 0, var = 0, mean, error;
	size_t half = n / 2;

	for (size_t i = 0; i < half; i++) {
		a += y[i] / (double)half;
		b += y[n - half + i] / (double)half;
	}
	mean = 0.5 * (a + b);
	for (size_t i = 0; i < n; i++)
		var += (y[i] - mean) * (y[i] - mean) / (double)n;
	error = sqrt(2 * var * HOPS / (double)half);
	return fabs(a - b) <= fmax(1.5 * TOLERANCE * fabs(level), 2.5 * error);
}

/* Return the period of the power signal: the lag, in samples, of the first peak of the
 * autocorrelation above 0.5; 0 if there is none, or fewer than 48 samples. */
static size_t find_lag(const double *w, size_t n)
{
	enum { POINTS = 1024, LAGS = 400 };
	size_t every = n / POINTS + 1, m = n / every, lags, best_lag = 0;
	double x[POINTS] = { 0 }, slow, power = 0, best = 0.5, was = 1;
	bool fell = false;

	if (m < 48)
		return 0;
	m = m < POINTS ? m : POINTS;
	for (size_t i = 0; i < m; i++) {
		x[i] = 0;
		for (size_t j = 0; j < every; j++)
			x[i] += w[n - m * every + i * every + j] / (double)every;
	}
	/* Remove the slow part of the power signal by a filter; otherwise the decay would be
	 * taken for a period. */
	slow = x[m - 1];
	for (size_t i = m; i-- > 0;) {
		slow += (x[i] - slow) / (0.25 * (double)m);
		x[i] -= slow;
	}
	for (size_t i = 0; i < m; i++)
		power += x[i] * x[i] / (double)m;
	if (power <= 0)
		return 0;
	lags = m / 3 < LAGS ? m / 3 : LAGS;
	for (size_t lag = 2; lag < lags; lag++) {
		double c = 0;

		for (size_t i = lag; i < m; i++)
			c += x[i] * x[i - lag];
		c /= power * (double)(m - lag);
		/* A peak of the correlation is a period only if the correlation fell below 0.2
		 * before. */
		fell |= c < 0.2;
		if (fell && c > best && c >= was) {
			best = c;
			best_lag = lag;
		} else if (best_lag && c < best - 0.1) {
			break;
		}
		was = c;
	}
	return best_lag * every;
}

long jetwatt_batch_settled_over(const uint64_t *t_ns, const double *w, size_t n,
				uint64_t minibatch_ns)
{
	double len, first = 0, *y = NULL, mean = 0, from, span;
	struct jetwatt_batch_fit f;
	size_t skip = 0, at = 0, count;
	long rc;

	if (n < 16 || t_ns[n - 1] <= t_ns[0])
		return -ENODATA;
	span = (double)(t_ns[n - 1] - t_ns[0]);
	len = jetwatt_batch_window(minibatch_ns);
	if (span < len * (1 + (double)WINDOWS_MIN / HOPS) ||
	    span < (minibatch_ns ? SPAN_NS : BLIND_NS))
		return -ENODATA;
	rc = jetwatt_batch_windows(t_ns, w, n, len, &y, &first);
	if (rc < 0)
		goto out;
	count = (size_t)rc;
	rc = -ENODATA;
	if (count < WINDOWS_MIN)
		goto out;
	for (size_t i = 0; i < count; i++)
		mean += y[i] / (double)count;
	f = best_fit(y, count, 0.25 * TOLERANCE * fabs(mean));
	if (f.error > SURE * fabs(f.level))
		goto out;
	/* Skip the windows in which the rest of the decay exceeds the tolerance. */
	if (f.tau > 0 && fabs(f.decay) > TOLERANCE * fabs(f.level))
		skip = (size_t)ceil(f.tau * log(fabs(f.decay) / (TOLERANCE * fabs(f.level))));
	if (skip + WINDOWS_MIN - 1 > count)
		goto out;
	from = first + (double)skip * len / HOPS;
	if (span - from < REST_NS || !has_no_trend(y + skip, count - skip, f.level))
		goto out;
	while (at < n && (double)(t_ns[at] - t_ns[0]) < (skip ? from : 0))
		at++;
	rc = (long)at;
out:
	free(y);
	return rc;
}

long jetwatt_batch_settled(const uint64_t *t_ns, const double *w, size_t n)
{
	size_t lag = n < 16 ? 0 : find_lag(w, n);
	uint64_t mean_ns = n > 1 ? (t_ns[n - 1] - t_ns[0]) / (n - 1) : 0;

	return jetwatt_batch_settled_over(t_ns, w, n, lag * mean_ns);
}
