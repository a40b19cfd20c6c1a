// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatches with more than JETWATT_PERIOD_MAX waits, found by the lengths of waits.
 *
 * Without traced launches, or if each launch is a CUDA graph, launches do not show the anchor of a minibatch
 * (long_cycle.c). The wait for most of the minibatch's work is then far longer than the other waits, which
 * fetch small results, and the GPU spends most of its time in it.
 *
 * The limits are strict, because other waits may be long, too: a prompt before a hundred tokens, an
 * evaluation, a step that also writes a log. In these cases the waits between the long waits take most of the
 * time, or several milliseconds each, or their number varies. A long gap alone is no evidence: it may be a
 * pause of the data loader between short minibatches. What cannot be told apart: a server that always generates
 * the same number of tokens, of a few milliseconds each, after a prompt that takes longer than all of them.
 */
#include "minibatch/bounds.h"

#include <math.h>
#include <stdlib.h>

/* minimum number of cycles */
#define CYCLES_MIN	5
/* A wait is long if it exceeds MEAN times the mean. If there are fewer long waits than cycles are needed, as
 * at the start of the program, the mean is computed without them, up to LEVELS times. */
#define MEAN		2
#define LEVELS		4
/* Anchors are at least CLEAR times as long as the limit, and other waits at most 1 / CLEAR times, except for
 * the share STRAY of the number of anchors. */
#define CLEAR		2
#define STRAY		0.05
/* At least the share SIZES of the cycles has the median number of waits, up to the factor ALIKE; and the share
 * TIMES takes as long as the previous cycle, up to this factor. */
#define ALIKE		1.5
#define SIZES		0.9
#define TIMES		0.8
/* The waits between the anchors take at most the share OTHERS of the time, and OTHERS_NS on average. */
#define OTHERS		0.5
#define OTHERS_NS	5e6
#define LEAST_NS	1e3	/* shorter waits do not differ */

static double wait_ns(const struct jetwatt_item *it)
{
	return (double)(it->sync->exit_ns - it->sync->enter_ns);
}

static double between_ns(const struct jetwatt_item *it, size_t from, size_t to)
{
	return (double)(it[to].sync->exit_ns - it[from].sync->exit_ns);
}

/* Return the limit between the lengths of anchors and of other waits, ns; 0: there is none. */
static double find_limit(const struct jetwatt_item *it, size_t n)
{
	double below = INFINITY;

	for (int level = 0; level < LEVELS; level++) {
		double all = 0, in_long = 0, limit;
		size_t count = 0, longer = 0;

		for (size_t i = 0; i < n; i++)
			if (wait_ns(&it[i]) < below) {
				all += wait_ns(&it[i]);
				count++;
			}
		limit = MEAN * all / (double)count;
		for (size_t i = 0; i < n; i++)
			if (wait_ns(&it[i]) >= limit && wait_ns(&it[i]) < below) {
				in_long += wait_ns(&it[i]);
				longer++;
			}
		if (!longer || longer * JETWATT_PERIOD_MAX > n)
			return 0;
		if (longer > CYCLES_MIN)
			return sqrt(in_long / (double)longer *
				    fmax((all - in_long) / (double)(count - longer), LEAST_NS));
		below = limit;
	}
	return 0;
}

/* List the waits of at least @limit ns. Return whether the other waits are clearly shorter. */
static bool list_anchors(struct jetwatt_cycles *c, size_t n, double limit)
{
	size_t stray = 0;

	c->n = 0;
	for (size_t i = 0; i < n; i++) {
		double ns = wait_ns(&c->it[i]);

		if (ns >= limit)
			c->at[c->n++] = i;
		stray += ns > limit / CLEAR && ns < limit * CLEAR;
	}
	return (double)stray <= STRAY * (double)c->n;
}

static bool are_alike(double a, double b)
{
	return a <= ALIKE * b && b <= ALIKE * a;
}

/* Return whether the cycles have similar numbers of waits, more than JETWATT_PERIOD_MAX, and times. @usual: set
 * to the usual number of waits. */
static bool are_regular(const struct jetwatt_cycles *c, uint32_t *usual)
{
	size_t cycles = c->n - 1, sizes = 0, times = 1;
	double waits;

	for (size_t i = 0; i < cycles; i++)
		c->v[i] = (double)(c->at[i + 1] - c->at[i]);
	waits = jetwatt_peaks_median(c->v, cycles);
	*usual = (uint32_t)waits;
	if (waits <= JETWATT_PERIOD_MAX)
		return false;
	for (size_t i = 0; i < cycles; i++) {
		sizes += are_alike((double)(c->at[i + 1] - c->at[i]), waits);
		times += i && are_alike(between_ns(c->it, c->at[i], c->at[i + 1]),
					between_ns(c->it, c->at[i - 1], c->at[i]));
	}
	return (double)sizes >= SIZES * (double)cycles && (double)times >= TIMES * (double)cycles;
}

/* Return whether the waits between the anchors are too short for minibatches. */
static bool are_others_short(const struct jetwatt_cycles *c)
{
	double all = between_ns(c->it, c->at[0], c->at[c->n - 1]), others = all;

	for (size_t i = 1; i < c->n; i++)
		others -= between_ns(c->it, c->at[i] - 1, c->at[i]);
	return others <= OTHERS * all && others <= OTHERS_NS * (double)(c->at[c->n - 1] - c->at[0] - (c->n - 1));
}

static bool one_thread(const struct jetwatt_item *it, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (it[i].sync->tid != it[0].sync->tid)
			return false;
	return true;
}

bool jetwatt_long_waits_find(struct jetwatt_cycles *c, size_t n, struct jetwatt_long_cycle *cycle)
{
	double limit = n > JETWATT_PERIOD_MAX * CYCLES_MIN ? find_limit(c->it, n) : 0;

	/* The long waits of one thread may be beside the minibatches of another. */
	if (!(limit > 0) || !list_anchors(c, n, limit) || c->n <= CYCLES_MIN || !are_regular(c, &cycle->waits) ||
	    !are_others_short(c) || !one_thread(c->it, n))
		return false;
	cycle->wait_ns = (uint64_t)limit;
	jetwatt_long_cycle_place(c, &cycle->after);
	return true;
}

bool jetwatt_long_waits_seen(const struct jetwatt_sync *wait, size_t n, uint32_t tgid)
{
	struct jetwatt_item *it = malloc(n * sizeof(*it));
	struct jetwatt_cycles c = { it, malloc(n * sizeof(*c.at)), 0, malloc(n * sizeof(*c.v)) };
	struct jetwatt_long_cycle cycle;
	bool found = false;
	size_t own = 0;

	for (size_t i = 0; it && i < n; i++)
		if (wait[i].tgid == tgid)
			it[own++] = (struct jetwatt_item){ &wait[i], i, 1, 0 };
	if (own && c.at && c.v)
		found = jetwatt_long_waits_find(&c, own, &cycle);
	free(it);
	free(c.at);
	free(c.v);
	return found;
}
