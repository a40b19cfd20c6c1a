// SPDX-License-Identifier: GPL-2.0-only
/*
 * From peaks to minibatches, where k is known and some events may be missing.
 *
 * A lost event leaves a gap that is longer than any true one, so peaks alone
 * would put a beginning there. The best division of the whole sequence is
 * sought instead, by dynamic programming: a group earns 1 if its first gap
 * stands out from its others and loses 1 if not, and pays for every wait more
 * or less than k. A group is compared with itself only, so a change of clocks
 * costs nothing. Waits may also stay outside of all groups, at a price: that
 * is how an evaluation is found, whose waits are of another rhythm.
 */
#include "minibatch/minibatch.h"
#include "minibatch/period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define OUTSIDE_ENTER	0.55	/* price of leaving the rhythm ... */
#define OUTSIDE_STAY	0.5	/* ... and of k waits outside */

/* How far a prefix of the waits is worth dividing, and how it was reached. */
struct reach {
	double in, out;		/* the last wait is in a group, outside of all */
	float worth;		/* of the last group */
	uint8_t size;		/* ... and how many waits it has */
	bool in_after_out;	/* what was before it */
	bool out_after_out;
};

static double price(int size, int k, double slip)
{
	static const double off[] = { 0, 0.5, 1.5 };
	int by = abs(size - k);

	return slip * (by < 3 ? off[by] : 2.5);
}

/* What the first gap of a group is compared with: the longest other one. Where
 * a wait is missing that may be a false one, and the median is taken. */
static double others(const double *v, int n, bool missing)
{
	double a[JETWATT_RHYTHM_MAX + 2];

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

static double worth(const double *v, size_t n, size_t at, int size, int k, double scale,
		    double slip)
{
	double over;

	/* The first may have begun before we looked, the last goes on. */
	if (!at)
		return size < k ? 0 : 0.2 - price(size, k, slip);
	if (size == 1 && at + 1 < n)
		return -price(size, k, slip);
	if (size == 1)
		over = at < (size_t)k ? 0 : (v[at] - others(v + at - k + 1, k - 1, false)) / scale;
	else
		over = (v[at] - others(v + at + 1, size - 1, size < k)) / scale;
	over = over < 0 ? 0 : over > 1 ? 1 : over;
	/* A lost wait inside makes a gap above all: nothing is known then. */
	for (int i = 1; i < size && size == k - 1 && over < 0.5; i++)
		if (v[at + (size_t)i] > v[at] + scale)
			over = 0.5;
	/* One under way at the end may as well be something else. */
	return 2 * over - 1 - (at + (size_t)size == n && size < k ? 0.3 : price(size, k, slip));
}

/**
 * jetwatt_group_waits() - divide waits into groups of about @k
 * @v: the series whose peaks begin a group
 * @contrast: by how much they stand out, typically
 * @slip: price of losing count, 1 if events may be missing; more if it is known
 *	that hardly any are
 *
 * Sets @first, @other and @score of every beat, and @rule of what is merged; @other ones are left
 * undivided.
 * Return: 0; 1: call again, more is known to be @inside; -ENOMEM.
 */
int jetwatt_group_waits(struct jetwatt_beat *b, const double *v, size_t n, int k, double contrast,
			double slip, struct jetwatt_rhythm *r)
{
	struct reach *best = malloc((n + 1) * sizeof(*best));
	double scale = fmax(0.15, 0.5 * contrast);
	bool out, again = false;

	if (!best)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		best[i] = (struct reach){ .in = -INFINITY, .out = -INFINITY };
	best[0].in = 0;
	for (size_t i = 0; i < n; i++) {
		double here = fmax(best[i].in, best[i].out);
		double leave = best[i].in - OUTSIDE_ENTER;

		for (int size = 1; size <= k + 2 && i + (size_t)size <= n; size++) {
			struct reach *to = &best[i + (size_t)size];
			double sum = here + worth(v, n, i, size, k, scale, slip);

			if (sum > to->in) {
				to->in = sum;
				to->size = (uint8_t)size;
				to->worth = (float)(sum - here);
				to->in_after_out = best[i].out > best[i].in;
			}
		}
		best[i + 1].out_after_out = best[i].out >= leave;
		if (!b[i].inside)
			best[i + 1].out = fmax(best[i].out, leave) - OUTSIDE_STAY / k;
	}
	out = best[n].out > best[n].in;
	r->missing = 0;
	for (size_t i = n; i;) {
		size_t size = out ? 1 : best[i].size;

		for (size_t j = i - size; j < i; j++) {
			b[j].first = !out && j == i - size;
			b[j].other = out;
			b[j].score = out ? 0 : best[i].worth;
		}
		if (!out && size < (size_t)k && i < n && i > size)
			r->missing += (size_t)k - size;
		out = out ? best[i].out_after_out : best[i].in_after_out;
		i -= size;
	}
	/* One or two that fit nowhere are remains of a damaged group; where hardly any
	 * is damaged, leaving the rhythm for a moment is no way to lose count. */
	for (size_t i = 1, j; i < n; i = j) {
		for (j = i + 1; j < n && b[j].other == b[i].other; j++)
			;
		if (!b[i].other || j - i > (slip > 1 ? (size_t)k : 2))
			continue;
		for (size_t l = i; l < j; l++) {
			b[l].other = false;
			b[l].rule = JETWATT_RULE_MERGED;
			b[l].inside = slip > 1;
		}
		again |= slip > 1;
	}
	free(best);
	return again;
}
