// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divides waits into minibatches of a known period k, even if some waits are missing.
 *
 * A lost wait leaves a gap that may be longer than the true ones, so if every peak began a minibatch, a
 * minibatch would wrongly start after a lost wait. Instead of starting a minibatch at every peak,
 * dynamic programming finds the best division of the whole sequence. The score of a group grows
 * from -1 to 1 with the excess of its first gap over its other gaps, and falls for each wait that
 * the group has more or less than k. Gaps are compared only among neighbours, so a change of clocks
 * does not lower the score. Waits may stay outside of all groups, which lowers the score. Leaving
 * waits outside detects an evaluation, whose waits have another period.
 */
#include "minibatch/minibatch.h"
#include "minibatch/period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* reduction of the score when a sequence of waits outside of all groups begins */
#define OUTSIDE_ENTER	0.55
/* reduction of the score for each k waits outside of all groups */
#define OUTSIDE_STAY	0.5

/* The best division of the waits up to a certain wait into groups, and the last group of this
 * division. */
struct division {
	/* in: score of the best division whose last wait is in a group; out: score of the best
	 * division whose last wait is outside of all groups */
	double in, out;
	float worth;		/* score of the last group */
	uint8_t size;		/* number of waits in the last group */
	bool in_after_out;	/* the wait before the last group is outside of all groups */
	/* if the last wait is outside of all groups: the wait before the last one is outside as
	 * well */
	bool out_after_out;
};

static double size_price(int size, int k, double slip)
{
	static const double off[] = { 0, 0.5, 1.5 };
	int by = abs(size - k);

	return slip * (by < 3 ? off[by] : 2.5);
}

/*
 * Return the value with which the first gap of a group is compared: the longest other gap. If a
 * wait of the group is missing, the longest gap may include the missing wait, so the median of the
 * gaps is returned.
 */
static double other_gaps(const double *v, int n, bool missing)
{
	double a[JETWATT_PERIOD_MAX + 2];

	for (int i = 0; i < n; i++) {
		int j = i;

		for (; j && a[j - 1] > v[i]; j--)
			a[j] = a[j - 1];
		a[j] = v[i];
	}
	if (!missing)
		return a[n - 1];
	return n % 2 ? a[n / 2] : 0.5 * (a[n / 2 - 1] + a[n / 2]);
}

/* Return the score of a group of @size waits that begins with wait @at. */
static double group_score(const double *v, size_t n, size_t at, int size, int k, double scale,
			  double slip)
{
	double over;

	/* The first minibatch may have begun before the first wait, so the first group may have
	 * fewer than @k waits. */
	if (!at)
		return size < k ? 0 : 0.2 - size_price(size, k, slip);
	if (size == 1 && at + 1 < n)
		return -size_price(size, k, slip);
	if (size == 1)
		over = at < (size_t)k ? 0
				      : (v[at] - other_gaps(v + at - k + 1, k - 1, false)) / scale;
	else
		over = (v[at] - other_gaps(v + at + 1, size - 1, size < k)) / scale;
	over = over < 0 ? 0 : over > 1 ? 1 : over;
	/* A lost wait in the group causes the longest gap, so the length of the first gap proves
	 * nothing. */
	for (int i = 1; i < size && size == k - 1 && over < 0.5; i++)
		if (v[at + (size_t)i] > v[at] + scale)
			over = 0.5;
	/* An incomplete group at the end of the waits may be a minibatch that is cut off, or
	 * something else: its score falls by 0.3, whatever its size. */
	return 2 * over - 1 -
	       (at + (size_t)size == n && size < k ? 0.3 : size_price(size, k, slip));
}

/**
 * jetwatt_group_waits() - divide waits into groups of about @k
 * @b: the waits; the function sets starts_minibatch, other_phase and score of each wait, and
 *	the rule and in_phase of merged waits
 * @v: the series whose peaks begin a group
 * @n: number of waits
 * @k: the period
 * @contrast: typical height of the peaks over their neighbours
 * @slip: factor of the cost of a group that does not have @k waits: 1 if waits may be missing;
 *	larger if hardly any wait is missing
 * @r: receives the number of missing waits
 *
 * Waits of another phase are not divided.
 *
 * Return: 0; 1: call the function again, because further waits were found to be in_phase; -ENOMEM.
 */
int jetwatt_group_waits(struct jetwatt_batch_wait *b, const double *v, size_t n, int k,
			double contrast, double slip, struct jetwatt_period *r)
{
	struct division *best = malloc((n + 1) * sizeof(*best));
	double scale = fmax(0.15, 0.5 * contrast);
	bool out, again = false;

	if (!best)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		best[i] = (struct division){ .in = -INFINITY, .out = -INFINITY };
	best[0].in = 0;
	for (size_t i = 0; i < n; i++) {
		double here = fmax(best[i].in, best[i].out);
		double leave = best[i].in - OUTSIDE_ENTER;

		for (int size = 1; size <= k + 2 && i + (size_t)size <= n; size++) {
			struct division *to = &best[i + (size_t)size];
			double sum = here + group_score(v, n, i, size, k, scale, slip);

			if (sum > to->in) {
				to->in = sum;
				to->size = (uint8_t)size;
				to->worth = (float)(sum - here);
				to->in_after_out = best[i].out > best[i].in;
			}
		}
		best[i + 1].out_after_out = best[i].out >= leave;
		if (!b[i].in_phase)
			best[i + 1].out = fmax(best[i].out, leave) - OUTSIDE_STAY / k;
	}
	out = best[n].out > best[n].in;
	r->missing = 0;
	for (size_t i = n; i;) {
		size_t size = out ? 1 : best[i].size;

		for (size_t j = i - size; j < i; j++) {
			b[j].starts_minibatch = !out && j == i - size;
			b[j].other_phase = out;
			b[j].score = out ? 0 : best[i].worth;
		}
		if (!out && size < (size_t)k && i < n && i > size)
			r->missing += (size_t)k - size;
		out = out ? best[i].out_after_out : best[i].in_after_out;
		i -= size;
	}
	/*
	 * One or two waits outside of all groups are the rest of a group from which waits are
	 * missing. If hardly any group misses waits, a sequence of up to @k waits outside of all
	 * groups is the rest of a group too: divide the waits again with this sequence in a group.
	 */
	for (size_t i = 1, j; i < n; i = j) {
		for (j = i + 1; j < n && b[j].other_phase == b[i].other_phase; j++)
			;
		if (!b[i].other_phase || j - i > (slip > 1 ? (size_t)k : 2))
			continue;
		for (size_t l = i; l < j; l++) {
			b[l].other_phase = false;
			b[l].rule = JETWATT_RULE_MERGED;
			b[l].in_phase = slip > 1;
		}
		again |= slip > 1;
	}
	free(best);
	return again;
}
