// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether waits that were labelled as minibatches may be parts of longer minibatches, although no
 * period was found: some of the waits, or of the gaps before them, are far longer than the others, and recur
 * after about the same number of waits and the same time. The bounds stay; only the confidence falls.
 */
#include "minibatch/period.h"

#include <math.h>

/* A value is long if it is at least MEAN times the mean. At least LONGS of them are needed. */
#define MEAN	2
#define LONGS	5
/* A group begins with a long value. The share APART_SHARE of the groups begins with a value that is at least APART
 * times as long as the others of the group. */
#define APART		3
#define APART_SHARE	0.75
/* The share REGULAR of the groups has the mean number of waits, and takes as long as the previous group, up to
 * the factor ALIKE. */
#define ALIKE	1.5
#define REGULAR	0.8
/* long waits: minimum number of waits in a group, share of all time of waiting, and maximum mean time of the
 * other waits, ns: longer ones, such as the tokens after a prompt, are probably minibatches */
#define WAITS		4
#define LONG_SHARE	0.5
#define OTHERS_NS	2e7
/* long gaps: minimum number of waits in a group, and mean difference between the lengths (logarithm) of
 * successive waits of a group; minibatches of one wait between two pauses of the data loader are alike */
#define GAPS_WAITS	2.5
#define UNLIKE	0.3

static double wait_ns(const struct jetwatt_batch_wait *b)
{
	return b->cycle_ns - b->gap_ns;
}

static double gap_ns(const struct jetwatt_batch_wait *b)
{
	return b->gap_ns;
}

static bool are_alike(double a, double b)
{
	return a <= ALIKE * b && b <= ALIKE * a;
}

/**
 * struct groups - the groups of waits that begin with a long value
 * @n: number of groups
 * @waits: mean number of waits
 * @share: share of the long values in the sum of all
 * @others_ns: mean time of the waits that begin no group, with the gaps before them, ns
 * @unlike: mean difference between the lengths of successive waits of a group, as logarithm
 */
struct groups {
	size_t n;
	double waits, share, others_ns, unlike;
};

/* Divide waits into groups. @value: the value. Return whether the groups are regular; @g is set. */
static bool are_regular(const struct jetwatt_batch_wait *b, size_t n,
			double (*value)(const struct jetwatt_batch_wait *), struct groups *g)
{
	double sum = 0, in_long = 0, time = 0, before = 0, most = 0;
	size_t longs = 0, first = 0, last = 0, from, sizes = 0, times = 0, apart = 0;

	for (size_t i = 1; i < n; i++)
		sum += value(&b[i]);
	for (size_t i = 1; i < n; i++) {
		if (value(&b[i]) * (double)(n - 1) < MEAN * sum)
			continue;
		first = longs++ ? first : i;
		last = i;
		in_long += value(&b[i]);
	}
	if (longs < LONGS)
		return false;
	*g = (struct groups){ longs - 1, (double)(last - first) / (double)(longs - 1), in_long / sum, 0, 0 };
	from = first;
	for (size_t i = first + 1; i <= last; i++) {
		time += b[i - 1].cycle_ns;
		if (value(&b[i]) * (double)(n - 1) < MEAN * sum) {
			most = fmax(most, value(&b[i]));
			g->others_ns += b[i].cycle_ns;
			g->unlike += fabs(b[i].wait - b[i - 1].wait);
			continue;
		}
		sizes += are_alike((double)(i - from), g->waits);
		times += are_alike(time, before);
		apart += value(&b[from]) >= APART * most;
		before = time;
		time = most = 0;
		from = i;
	}
	g->others_ns /= fmax((double)(last - first - g->n), 1);
	g->unlike /= fmax((double)(last - first - g->n), 1);
	return (double)sizes >= REGULAR * (double)g->n && (double)times >= REGULAR * (double)(g->n - 1) &&
	       (double)apart >= APART_SHARE * (double)g->n;
}

bool jetwatt_singles_doubtful(const struct jetwatt_batch_wait *b, size_t n)
{
	struct groups g;

	if (are_regular(b, n, wait_ns, &g) && g.waits >= WAITS && g.share >= LONG_SHARE && g.others_ns <= OTHERS_NS)
		return true;
	return are_regular(b, n, gap_ns, &g) && g.waits >= GAPS_WAITS && g.unlike >= UNLIKE;
}
