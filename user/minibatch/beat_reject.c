// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a rhythm one of the job, or of something that disturbs it?
 *
 * One wait per minibatch is what is believed if nothing speaks against it. What
 * wakes up in a rhythm of its own, an observer or a timer, delays every second
 * or third wait of such a job: peaks, in step with each other. Two things tell
 * them from beginnings of minibatches. They are small: a delay is a small share
 * of the cycle, where a loader or waits that differ are more. And they slip: two
 * clocks have no common period, so after some waits the beat is one off, which
 * the order of calls in a program never is. A rhythm is believed if it is too
 * strong for a beat, or if it lasts without slips for longer than a beat would:
 * with a detuning of which nothing is known but that it is below a tenth, the
 * chance that none shows falls as ten over the number of waits.
 */
#include "minibatch/period.h"

#include <math.h>

#define DELAY		0.11	/* of the cycle between waits, at most: a disturbance's */
#define UNEVEN		0.24	/* ... by which waits differ: they hide it, and have jitter */
#define NO_WAIT		0.2	/* of the mean: a wait that is none of the usual ones */
#define APART		3	/* times as long as any other gap */
#define LASTING		200	/* waits without slips that no beat lasts */
#define SLIPS		0.01	/* per wait: fewer than a beat's; lost events make some */
#define SHORTEST	0.2	/* of gaps: what they are below is short */
#define OTHER_GAP	0.8	/* logarithm by which short gaps of another phase are longer */
#define SAME_GAP	0.4	/* ... and then at most by so much shorter than a beginning's */
#define OTHER_CYCLE	0.25	/* logarithm by which a phase differs from what is around */

/* Cycle between waits, mean over the group that begins at @b. */
static double cycle(const struct jetwatt_beat *b, int k)
{
	double sum = 0;

	for (int i = 0; i < k; i++)
		sum += b[i].cycle_ns;
	return fmax(sum / k, 1);
}

/* By which share of the cycle do beginnings stand out? Three in four do by more. */
static double gaps(const struct jetwatt_beat *b, const size_t *at, size_t peaks, int k,
		   double *room)
{
	size_t n = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		const struct jetwatt_beat *g = b + at[j];
		double most = 0;

		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 1; i < k; i++)
			most = fmax(most, g[i].gap_ns);
		room[n++] = (g->gap_ns - most) / cycle(g, k);
	}
	jetwatt_peaks_median(room, n);
	return n ? room[n / 4] : 0;
}

/* Is it known why these @n waits are not @k? One that is next to none is a value that is
 * fetched: no beat adds such. */
static bool excused(const struct jetwatt_beat *b, size_t n, int k)
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

/* By which share of the cycle does one wait of a group differ from another? As
 * above: three in four of the longer one from as many of the shorter. */
static double waits(const struct jetwatt_beat *b, const size_t *at, size_t peaks, int k,
		    double *room)
{
	double shortest = INFINITY, longest = -INFINITY;

	for (int i = 0; i < k; i++) {
		size_t n = 0;

		for (size_t j = 0; j + 1 < peaks; j++) {
			const struct jetwatt_beat *g = b + at[j];

			if (at[j + 1] - at[j] == (size_t)k)
				room[n++] = (g[i].cycle_ns - g[i].gap_ns) / cycle(g, k);
		}
		if (n < 4)
			return 0;
		jetwatt_peaks_median(room, n);
		shortest = fmin(shortest, room[n - 1 - n / 4]);
		longest = fmax(longest, room[n / 4]);
	}
	return longest - shortest;
}

/**
 * jetwatt_weight_usual() - is k waits per minibatch the rhythm of the job?
 * @at: where peaks are
 * @room: for as many values as there are waits
 */
bool jetwatt_weight_usual(const struct jetwatt_beat *b, const size_t *at, size_t peaks, int k,
			  double *room)
{
	size_t slips = 0, span;

	if (peaks < 2)
		return false;
	if (gaps(b, at, peaks, k, room) > DELAY || waits(b, at, peaks, k, room) > UNEVEN)
		return true;
	span = at[peaks - 1] - at[0];
	for (size_t j = 0; j + 1 < peaks; j++)
		slips += at[j + 1] - at[j] != (size_t)k && !excused(b + at[j], at[j + 1] - at[j], k);
	return span >= LASTING && (double)slips <= SLIPS * (double)span;
}

/**
 * jetwatt_weight_apart() - are marked beginnings ones that no other job makes?
 *
 * Who shares the GPU with another job waits for that one as well, by up to its whole
 * minibatch, and two jobs beat in a rhythm that may last. It is in the waits and in what
 * follows them; between launches inside a minibatch there is next to nothing.
 */
bool jetwatt_weight_apart(const struct jetwatt_beat *b, size_t n, double *room)
{
	size_t groups = 0, end;

	for (size_t i = 1; i < n; i = end) {
		double most = 0;

		for (end = i + 1; end < n && !b[end].first && b[end].other == b[i].other; end++)
			most = fmax(most, b[end].gap_ns);
		if (b[i].first && !b[i].other && end > i + 1)
			room[groups++] = b[i].gap_ns / fmax(most, 1);
	}
	jetwatt_peaks_median(room, groups);
	return groups && room[groups / 4] > APART;
}

/* Typical logarithm of the cycle of waits [@from, @to[. */
static double pace(const struct jetwatt_beat *b, size_t from, size_t to, double *room)
{
	for (size_t i = from; i < to; i++)
		room[i - from] = log(fmax(b[i].cycle_ns, 1));
	return jetwatt_peaks_median(room, to - from);
}

/**
 * jetwatt_weight_phase() - are peaks that keep step a phase of their own, in a
 * job with one wait per minibatch?
 *
 * One that is: it is paced otherwise than what is before and after it, or lasts.
 */
bool jetwatt_weight_phase(const struct jetwatt_beat *b, size_t n, const size_t *at, size_t peaks,
			  int k, double *room)
{
	size_t begin = at[0], end = at[peaks - 1] + (size_t)k < n ? at[peaks - 1] + (size_t)k : n;
	size_t len = end - begin, lo = begin > len ? begin - len : 0, hi = end + len < n ? end + len : n;
	double own;

	if (gaps(b, at, peaks, k, room) <= DELAY && waits(b, at, peaks, k, room) <= UNEVEN)
		return len >= LASTING;
	if (len >= LASTING)
		return true;
	own = pace(b, begin, end, room);
	if (begin > lo && fabs(pace(b, lo, begin, room) - own) < OTHER_CYCLE)
		return false;
	return end >= hi || fabs(pace(b, end, hi, room) - own) >= OTHER_CYCLE;
}

/* Logarithm of the gap that a @share of those in [@from, @to[ is below. */
static double gap_at(const struct jetwatt_beat *b, size_t from, size_t to, double share,
		     double *room)
{
	for (size_t i = from; i < to; i++)
		room[i - from] = b[i].gap;
	jetwatt_peaks_median(room, to - from);
	return room[(size_t)(share * (double)(to - from))];
}

/* Does [@from, @to[ go at another pace than [@lo, @hi[ beside it, or begin anew with
 * every wait, so that its shortest gaps are like the longest there? */
static bool unlike(const struct jetwatt_beat *b, size_t from, size_t to, size_t lo, size_t hi,
		   int k, double *room)
{
	double gap;

	if (fabs(pace(b, lo, hi, room) - pace(b, from, to, room)) >= OTHER_CYCLE)
		return true;
	gap = gap_at(b, from, to, SHORTEST, room);
	return k > 2 && gap - gap_at(b, lo, hi, SHORTEST, room) >= OTHER_GAP &&
	       gap_at(b, lo, hi, 1 - 0.5 / k, room) - gap < SAME_GAP;
}

/**
 * jetwatt_weight_differs() - is a stretch that does not fit the job's rhythm
 * another phase, or the same one with its rhythm hidden?
 *
 * Another one differs from both what is before and what is after it.
 */
bool jetwatt_weight_differs(const struct jetwatt_beat *b, size_t n, size_t from, size_t to, int k,
			    double *room)
{
	size_t len = to - from > 4 * (size_t)k ? to - from : 4 * (size_t)k;
	size_t lo = from > len ? from - len : 1, hi = to + len < n ? to + len : n;

	if (from > lo + 1 && !unlike(b, from, to, lo, from, k, room))
		return false;
	return hi <= to + 1 || unlike(b, from, to, to, hi, k, room);
}
