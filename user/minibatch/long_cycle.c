// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatches with more than JETWATT_PERIOD_MAX waits, found by the numbers of launches.
 *
 * Some models wait in the middle of a pass, because the host needs a result to go on: a mixture of
 * experts once or twice per layer (26 waits per training step of a Mixtral with 4 layers), a
 * detector for its proposals (108 waits per training step of Faster R-CNN, 20 to 30 per inference;
 * tests/trace/gpu, recorded on a real GPU). Their number may differ from minibatch to minibatch.
 * But one wait of each minibatch, the anchor, follows far more launches than the others: it waits
 * for the backward pass and the optimizer, or for the backbone of the network. All waits from one
 * boundary to the next are then merged into one wait, and the other files of this directory do the
 * rest.
 *
 * A run may have such anchors although its minibatches are short: a step of each ten that also
 * computes values for the log, a prompt before a hundred tokens. Then the waits between two anchors
 * take most of the time and repeat with a short period, and nothing is merged.
 */
#include "minibatch/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The launches before an anchor are at least this fraction of the launches before the anchor that
 * has the most. */
#define ALIKE		0.85
#define LEVELS		6	/* number of fractions of the largest number of launches that are tried */
#define CYCLES_MIN	4	/* minimum number of cycles */
/* A cycle is regular if its numbers of waits and of launches differ from their medians by at most
 * this factor. Anchors are accepted if this share of the cycles is regular. */
#define REGULAR		2
#define REGULAR_SHARE	0.8
/* Anchors are accepted if they have this share of all launches, or if a boundary is apparent: in
 * APPARENT_SHARE of the cycles, the longest time without work is at the same position and is
 * APPARENT times as long as the next one. */
#define ANCHOR_SHARE	0.5
#define APPARENT	2
#define APPARENT_SHARE	0.7
#define NEAR_ANCHOR	8	/* a boundary is at most this many waits before or after an anchor */
/* The waits between the anchors are minibatches of their own if they take this share of the time and
 * this time each, in ns, and if this share of them repeats with a period of at most
 * JETWATT_PERIOD_MAX, */
#define OWN_TIME	0.3
#define OWN_NS		500000
#define OWN_SHARE	0.9
/* which means that their launches differ by at most this fraction (and by 1) from the median. */
#define OWN_NEAR	0.15

/**
 * struct jetwatt_cycles - the cycles between the anchors of a sequence of waits
 * @it: the waits
 * @at: indices of the anchors
 * @n: number of anchors
 * @v: scratch memory, one value per wait
 */
struct jetwatt_cycles {
	const struct jetwatt_item *it;
	size_t *at, n;
	double *v;
};

static uint32_t launches_of(const struct jetwatt_item *it)
{
	return it->sync->launches;
}

/* Return the time without work after a wait, in ns: until the next launch, or until the next wait. */
static double idle_after(const struct jetwatt_item *it)
{
	const struct jetwatt_sync *next = it[1].sync;
	uint64_t from = it->sync->exit_ns, to = next->enter_ns;

	if (next->launch_ns && next->launch_ns < to)
		to = next->launch_ns;
	return to > from ? (double)(to - from) : 0;
}

static double launches_in(const struct jetwatt_cycles *c, size_t i)
{
	double sum = 0;

	for (size_t j = c->at[i] + 1; j <= c->at[i + 1]; j++)
		sum += launches_of(&c->it[j]);
	return sum;
}

static bool is_near(double a, double b)
{
	return a <= REGULAR * b && b <= REGULAR * a;
}

/* Return whether most cycles have as many waits and launches as the others, and more than
 * JETWATT_PERIOD_MAX waits. @usual: set to the usual number of waits. */
static bool are_regular(const struct jetwatt_cycles *c, uint32_t *usual)
{
	size_t cycles = c->n - 1, regular = 0;
	double waits, launches;

	for (size_t i = 0; i < cycles; i++)
		c->v[i] = (double)(c->at[i + 1] - c->at[i]);
	waits = jetwatt_peaks_median(c->v, cycles);
	*usual = (uint32_t)waits;
	if (waits <= JETWATT_PERIOD_MAX)
		return false;
	for (size_t i = 0; i < cycles; i++)
		c->v[i] = launches_in(c, i);
	launches = jetwatt_peaks_median(c->v, cycles);
	for (size_t i = 0; i < cycles; i++)
		regular += is_near((double)(c->at[i + 1] - c->at[i]), waits) &&
			   is_near(launches_in(c, i), launches);
	return (double)regular >= REGULAR_SHARE * (double)cycles;
}

/* Return whether the waits between the anchors repeat with the period @k. */
static bool repeat_with(const struct jetwatt_cycles *c, size_t k)
{
	size_t alike = 0, all = 0;

	for (size_t phase = 0; phase < k; phase++) {
		size_t n = 0;
		double mid;

		for (size_t i = 0; i + 1 < c->n; i++)
			for (size_t j = c->at[i] + 1 + phase; j < c->at[i + 1]; j += k)
				c->v[n++] = launches_of(&c->it[j]);
		mid = jetwatt_peaks_median(c->v, n);
		for (size_t i = 0; i < n; i++)
			alike += fabs(c->v[i] - mid) <= fmax(1, OWN_NEAR * mid);
		all += n;
	}
	return (double)alike >= OWN_SHARE * (double)all;
}

/* Return whether the waits between the anchors are minibatches of their own. */
static bool are_own(const struct jetwatt_cycles *c)
{
	size_t last = c->n - 1, waits = c->at[last] - c->at[0] - last;
	double all = (double)(c->it[c->at[last]].sync->exit_ns - c->it[c->at[0]].sync->exit_ns), own = all;

	for (size_t i = 1; i < c->n; i++)
		own -= (double)(c->it[c->at[i]].sync->exit_ns - c->it[c->at[i] - 1].sync->exit_ns);
	if (own < OWN_TIME * all || own < OWN_NS * (double)waits)
		return false;
	for (size_t k = 1; k <= JETWATT_PERIOD_MAX; k++)
		if (repeat_with(c, k))
			return true;
	return false;
}

/* Find the boundary: the position of the longest time without work, relative to the anchor before it
 * or after it. @after: set to the position. Return whether the boundary is apparent. */
static bool find_boundary(const struct jetwatt_cycles *c, int *after)
{
	size_t votes[2 * NEAR_ANCHOR] = { 0 }, apparent[2 * NEAR_ANCHOR] = { 0 }, best = NEAR_ANCHOR;

	for (size_t i = 0; i + 1 < c->n; i++) {
		size_t from = c->at[i], to = c->at[i + 1], longest = from;
		double most = -1, next = -1;

		for (size_t j = from; j < to; j++) {
			double idle = idle_after(&c->it[j]);

			next = fmax(next, fmin(idle, most));
			longest = idle > most ? j : longest;
			most = fmax(most, idle);
		}
		for (int before = 0; before < 2; before++) {
			size_t from_anchor = before ? to - longest : longest - from, at;

			if (from_anchor >= NEAR_ANCHOR)
				continue;
			at = before ? NEAR_ANCHOR - from_anchor : NEAR_ANCHOR + from_anchor;
			votes[at]++;
			apparent[at] += most >= APPARENT * next;
		}
	}
	for (size_t i = 0; i < 2 * NEAR_ANCHOR; i++)
		if (votes[i] > votes[best])
			best = i;
	*after = (double)votes[best] >= APPARENT_SHARE * (double)(c->n - 1) ? (int)best - NEAR_ANCHOR : 0;
	return (double)apparent[best] >= APPARENT_SHARE * (double)(c->n - 1);
}

/* Return whether the anchors bound cycles; if so, set @cycle->waits and
 * @cycle->after. */
static bool are_anchors(const struct jetwatt_cycles *c, struct jetwatt_long_cycle *cycle)
{
	double anchors = 0, all = 0;

	if (c->n <= CYCLES_MIN || !are_regular(c, &cycle->waits) || are_own(c))
		return false;
	for (size_t i = 0; i + 1 < c->n; i++) {
		anchors += launches_of(&c->it[c->at[i + 1]]);
		all += launches_in(c, i);
	}
	return find_boundary(c, &cycle->after) || anchors >= ANCHOR_SHARE * all;
}

int jetwatt_long_cycle_find(const struct jetwatt_item *it, size_t n, struct jetwatt_long_cycle *cycle)
{
	struct jetwatt_cycles c = { it, malloc(n * sizeof(*c.at)), 0, malloc(n * sizeof(*c.v)) };
	double below = INFINITY;
	bool found = false;

	if (!c.at || !c.v) {
		free(c.at);
		free(c.v);
		return -ENOMEM;
	}
	for (int level = 0; level < LEVELS && !found && below > 0; level++) {
		double most = 0;

		for (size_t i = 0; i < n; i++)
			if (launches_of(&it[i]) < below)
				most = fmax(most, launches_of(&it[i]));
		below = ALIKE * most;
		c.n = 0;
		for (size_t i = 0; i < n; i++)
			if (launches_of(&it[i]) >= below)
				c.at[c.n++] = i;
		/* More anchors than one in JETWATT_PERIOD_MAX waits are none; a lower level has more. */
		if (c.n * JETWATT_PERIOD_MAX > n)
			break;
		found = are_anchors(&c, cycle);
	}
	cycle->launches = found ? (uint32_t)ceil(below) : 0;
	free(c.at);
	free(c.v);
	return found;
}
