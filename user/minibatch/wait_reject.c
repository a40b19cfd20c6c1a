// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether a period is the job's own or a beat with something that disturbs the job.
 *
 * The default assumption is that a job waits once per minibatch. Another process that wakes up
 * periodically, such as a monitoring tool, may delay every second or third wait of the job. The
 * delayed waits are peaks with a period. Two properties distinguish such a beat from the starts of
 * minibatches. First, the peaks of a beat are small: the delay is a small fraction of a minibatch's
 * duration, whereas a data loader or waits of different lengths make larger differences. Second,
 * the beat slips: two independent clocks have no common period, so after some waits the next peak
 * is one wait early or late. The order of calls in a program does not slip.
 *
 * A period is accepted if its peaks are too high or its waits too different for a beat, or if the
 * period lasts, almost without slips, for longer than a beat would. If all that is known of the
 * periods of the job and of the other process is that they differ by less than a tenth, the
 * probability that a beat does not slip falls as 10 / (number of waits).
 */
#include "minibatch/period.h"

#include <math.h>

/* maximum delay that a disturbance causes, as fraction of the mean time between waits, which is a
 * minibatch's duration if the job waits once per minibatch */
#define DELAY		0.11
/* maximum difference between waits that a disturbance causes, as the same fraction */
#define UNEVEN		0.24
/* maximum length of an additional wait, as fraction of the mean wait */
#define NO_WAIT		0.2
/* minimum ratio of a minibatch's first gap to its longest other gap for starts that are the
 * job's own */
#define APART		3
#define LASTING		200	/* a period with at most SLIPS over this many waits is no beat */
/* maximum number of slips per wait for a period that is the job's own; lost waits cause some
 * slips */
#define SLIPS		0.01
#define SHORTEST	0.2	/* quantile of the gaps that counts as a short gap */
/* the short gaps of another phase are longer than those of its neighbour by at least this
 * (logarithm) */
#define OTHER_GAP	0.8
/* the short gaps of another phase are shorter than the long gaps of its neighbour by at most
 * this (logarithm) */
#define SAME_GAP	0.4
/* the time between waits in another phase differs from that in its neighbour by at least this
 * (logarithm) */
#define OTHER_CYCLE	0.25

/* Return the mean time between waits in the group of @k waits at @b, ns. */
static double mean_cycle(const struct jetwatt_batch_wait *b, int k)
{
	double sum = 0;

	for (int i = 0; i < k; i++)
		sum += b[i].cycle_ns;
	return fmax(sum / k, 1);
}

/* Return how far the first gap of a group exceeds its other gaps, as fraction of the mean time between
 * the group's waits: the lower quartile over all groups. */
static double gap_excess(const struct jetwatt_batch_wait *b, const size_t *at, size_t peaks, int k,
			 double *scratch)
{
	size_t n = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		const struct jetwatt_batch_wait *g = b + at[j];
		double most = 0;

		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 1; i < k; i++)
			most = fmax(most, g[i].gap_ns);
		scratch[n++] = (g->gap_ns - most) / mean_cycle(g, k);
	}
	jetwatt_peaks_median(scratch, n);
	return n ? scratch[n / 4] : 0;
}

/*
 * Check whether a known cause explains that the group of waits at @b has @n waits instead of @k.
 * Either the probe has lost waits, or the group has one additional very short wait, that for a
 * copy of a result from the GPU. A beat cannot add a wait.
 */
static bool is_explained(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	double shortest = INFINITY, sum = 0;

	for (size_t i = 0; i <= n; i++)
		if (b[i].lost)
			return true;
	if (n != (size_t)k + 1)
		return false;
	for (size_t i = 0; i < n; i++) {
		double wait = b[i].cycle_ns - b[i].gap_ns;

		shortest = fmin(shortest, wait);
		sum += wait;
	}
	return shortest < NO_WAIT * sum / (double)n;
}

/*
 * Return: difference between the longest and the shortest wait of a group, as fraction of the mean time
 * between waits: lower quartile of the longest wait minus upper quartile of the shortest wait.
 */
static double wait_spread(const struct jetwatt_batch_wait *b, const size_t *at, size_t peaks, int k,
			  double *scratch)
{
	double shortest = INFINITY, longest = -INFINITY;

	for (int i = 0; i < k; i++) {
		size_t n = 0;

		for (size_t j = 0; j + 1 < peaks; j++) {
			const struct jetwatt_batch_wait *g = b + at[j];

			if (at[j + 1] - at[j] == (size_t)k)
				scratch[n++] = (g[i].cycle_ns - g[i].gap_ns) / mean_cycle(g, k);
		}
		if (n < 4)
			return 0;
		jetwatt_peaks_median(scratch, n);
		shortest = fmin(shortest, scratch[n - 1 - n / 4]);
		longest = fmax(longest, scratch[n / 4]);
	}
	return longest - shortest;
}

/**
 * jetwatt_period_is_own() - check whether a period of @k waits is the job's own, not a beat
 * @b: the waits
 * @at: indices of the waits at which the series peaks
 * @peaks: number of peaks
 * @k: the period, in waits
 * @scratch: scratch memory for as many values as there are waits
 */
bool jetwatt_period_is_own(const struct jetwatt_batch_wait *b, const size_t *at, size_t peaks,
			   int k, double *scratch)
{
	size_t slips = 0, span;

	if (peaks < 2)
		return false;
	if (gap_excess(b, at, peaks, k, scratch) > DELAY ||
	    wait_spread(b, at, peaks, k, scratch) > UNEVEN)
		return true;
	span = at[peaks - 1] - at[0];
	for (size_t j = 0; j + 1 < peaks; j++)
		slips += at[j + 1] - at[j] != (size_t)k &&
			 !is_explained(b + at[j], at[j + 1] - at[j], k);
	return span >= LASTING && (double)slips <= SLIPS * (double)span;
}

/**
 * jetwatt_starts_are_own() - check whether the labelled starts of minibatches are too distinct to
 * be caused by another job
 * @b: the waits
 * @n: number of waits
 * @scratch: scratch memory for @n values
 *
 * A job that shares the GPU also waits for the other job, for up to a whole minibatch of the other
 * job, and two jobs may beat for a long time. The other job affects waits and the gaps after them,
 * but not the gaps between launches within a minibatch, which are very short.
 */
bool jetwatt_starts_are_own(const struct jetwatt_batch_wait *b, size_t n, double *scratch)
{
	size_t groups = 0, end;

	for (size_t i = 1; i < n; i = end) {
		double most = 0;

		for (end = i + 1;
		     end < n && !b[end].starts_minibatch && b[end].other_phase == b[i].other_phase;
		     end++)
			most = fmax(most, b[end].gap_ns);
		if (b[i].starts_minibatch && !b[i].other_phase && end > i + 1)
			scratch[groups++] = b[i].gap_ns / fmax(most, 1);
	}
	jetwatt_peaks_median(scratch, groups);
	return groups && scratch[groups / 4] > APART;
}

/* Return the median logarithm of the time between successive waits from @from to @to - 1. */
static double median_cycle(const struct jetwatt_batch_wait *b, size_t from, size_t to,
			   double *scratch)
{
	for (size_t i = from; i < to; i++)
		scratch[i - from] = log(fmax(b[i].cycle_ns, 1));
	return jetwatt_peaks_median(scratch, to - from);
}

/**
 * jetwatt_phase_is_own() - check whether periodic peaks are a phase with a period of its own, in a
 * job with one wait per minibatch
 * @b: the waits
 * @n: number of waits
 * @at: indices of the waits at which the series peaks
 * @peaks: number of peaks
 * @k: period of the peaks, in waits
 * @scratch: scratch memory for @n values
 *
 * The peaks are a phase if the period lasts for LASTING waits, or if the peaks are too high or the
 * waits too different for a beat, and the waits before and after have another speed.
 */
bool jetwatt_phase_is_own(const struct jetwatt_batch_wait *b, size_t n, const size_t *at,
			  size_t peaks, int k, double *scratch)
{
	size_t begin = at[0], end = at[peaks - 1] + (size_t)k < n ? at[peaks - 1] + (size_t)k : n;
	size_t len = end - begin, lo = begin > len ? begin - len : 0, hi = end + len < n ? end + len : n;
	double own;

	if (gap_excess(b, at, peaks, k, scratch) <= DELAY &&
	    wait_spread(b, at, peaks, k, scratch) <= UNEVEN)
		return len >= LASTING;
	if (len >= LASTING)
		return true;
	own = median_cycle(b, begin, end, scratch);
	if (begin > lo && fabs(median_cycle(b, lo, begin, scratch) - own) < OTHER_CYCLE)
		return false;
	return end >= hi || fabs(median_cycle(b, end, hi, scratch) - own) >= OTHER_CYCLE;
}

/* Return the quantile @share of the logarithms of the gaps before the waits from @from to @to -
 * 1. */
static double gap_quantile(const struct jetwatt_batch_wait *b, size_t from, size_t to, double share,
			   double *scratch)
{
	for (size_t i = from; i < to; i++)
		scratch[i - from] = b[i].gap;
	jetwatt_peaks_median(scratch, to - from);
	return scratch[(size_t)(share * (double)(to - from))];
}

/*
 * Return whether the sequence of waits from @from to @to - 1 differs from its neighbour, the waits
 * from @lo to @hi - 1. Either the speed of the sequence differs, or each of its waits begins a
 * minibatch, so that its short gaps are as long as the long gaps of the neighbour.
 */
static bool is_unlike(const struct jetwatt_batch_wait *b, size_t from, size_t to, size_t lo,
		      size_t hi, int k, double *scratch)
{
	double gap;

	if (fabs(median_cycle(b, lo, hi, scratch) - median_cycle(b, from, to, scratch)) >=
	    OTHER_CYCLE)
		return true;
	gap = gap_quantile(b, from, to, SHORTEST, scratch);
	return k > 2 && gap - gap_quantile(b, lo, hi, SHORTEST, scratch) >= OTHER_GAP &&
	       gap_quantile(b, lo, hi, 1 - 0.5 / k, scratch) - gap < SAME_GAP;
}

/**
 * jetwatt_phase_differs() - check whether a sequence that does not fit the job's period is another
 * phase
 * @b: the waits
 * @n: number of waits
 * @from: first wait of the sequence
 * @to: first wait after the sequence
 * @k: the job's period
 * @scratch: scratch memory for @n values
 *
 * Another phase differs from the waits before it and from the waits after it. If the sequence does
 * not differ, it belongs to the same phase, and a disturbance hides the period.
 */
bool jetwatt_phase_differs(const struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to,
			   int k, double *scratch)
{
	size_t len = to - from > 4 * (size_t)k ? to - from : 4 * (size_t)k;
	size_t lo = from > len ? from - len : 1, hi = to + len < n ? to + len : n;

	if (from > lo + 1 && !is_unlike(b, from, to, lo, from, k, scratch))
		return false;
	return hi <= to + 1 || is_unlike(b, from, to, to, hi, k, scratch);
}
