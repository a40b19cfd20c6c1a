// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatches with more than JETWATT_PERIOD_MAX waits, found by the numbers of launches.
 *
 * Some models wait in the middle of a pass, because the host needs a result before it can continue:
 * a mixture of experts once or twice per layer (26 waits per training step of a Mixtral with 4
 * layers), a detector for its proposals (108 waits per training step of Faster R-CNN, 20 to 30 per
 * inference; tests/trace/gpu, recorded on a real GPU). The number of waits may differ from
 * minibatch to minibatch. But one wait of each minibatch, the anchor, follows far more launches
 * than the others: it waits for the backward pass and the optimizer, or for the backbone of the
 * network. All waits from one boundary to the next are then merged into one wait, which the other
 * files of this directory process as usual.
 *
 * Waits that look like anchors may occur although the minibatches are short: every tenth step also
 * computes values for the log, or a prompt precedes a hundred tokens. If the minibatches are short,
 * the waits between two anchors take much of the time and repeat with a short period, and no waits
 * are merged.
 */
#include "minibatch/bounds.h"
#include "minibatch/pauses.h"

#include <math.h>

/*
 * A wait is an anchor if it follows at least this fraction of the launches that the typical anchor
 * follows. The second fraction of the following array is tried if the first fraction selects no
 * acceptable anchors. Both fractions are tried with the largest number of launches as the typical
 * one, then with the largest number below 85 % of that one, and so on (LEVELS in all), because a few
 * waits may follow more launches than an anchor: in the first minibatch or a checkpoint.
 */
static const double alike[] = { 0.85, 0.95 };
#define LEVELS		6
#define CYCLES_MIN	4	/* minimum number of cycles */
/* A cycle is regular if its numbers of waits and of launches differ from their medians by at most
 * this factor. Anchors are accepted only if this share of the cycles is regular. */
#define REGULAR		2
#define REGULAR_SHARE	0.8
/* Such anchors are accepted if this share of all launches directly precedes them; or if a boundary is
 * apparent: in APPARENT_SHARE of the cycles, the longest time without work is at the same position
 * after an anchor, or near the next anchor, and is APPARENT times as long as the next one; or if
 * REPEATED of the waits follow as many launches as the wait at the same position of the previous cycle;
 * or if the other waits take less than OWN_NS on average. */
#define ANCHOR_SHARE	0.5
#define APPARENT	2
#define APPARENT_SHARE	0.7
#define REPEATED	0.9
#define NEAR_ANCHOR	8	/* a boundary is at most this many waits before or after an anchor */
/* The waits between the anchors are minibatches of their own if three conditions hold. The waits
 * between the anchors take at least the share OWN_TIME of the time, and OWN_NS on average, in ns. At
 * least the share OWN_WAITING of their time is spent waiting, or they follow OWN_LAUNCHES launches on
 * average. For the share OWN_SHARE of the waits between the anchors, the numbers of launches repeat
 * with a period of at most JETWATT_PERIOD_MAX. */
#define OWN_TIME	0.3
#define OWN_NS		1000000
#define OWN_WAITING	0.5
#define OWN_LAUNCHES	4
#define OWN_SHARE	0.9
/* A pause is a time without work of at least the fraction PAUSE of the longest one of the cycle. The other such
 * times are shorter than any pause by at least the factor PAUSES. */
#define PAUSE		0.5
#define PAUSES		2.5
/* Numbers of launches are equal if they differ by at most this fraction of them, or by 1. */
#define EQUAL		0.15

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

static bool is_equal(double a, double b)
{
	return fabs(a - b) <= fmax(1, EQUAL * b);
}

static bool is_near(double a, double b)
{
	return a <= REGULAR * b && b <= REGULAR * a;
}

/* Return whether most cycles have about the median numbers of waits and of launches, and more than
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
	size_t equal = 0, all = 0;

	for (size_t phase = 0; phase < k; phase++) {
		size_t n = 0;
		double mid;

		for (size_t i = 0; i + 1 < c->n; i++)
			for (size_t j = c->at[i] + 1 + phase; j < c->at[i + 1]; j += k)
				c->v[n++] = launches_of(&c->it[j]);
		mid = jetwatt_peaks_median(c->v, n);
		for (size_t i = 0; i < n; i++)
			equal += is_equal(c->v[i], mid);
		all += n;
	}
	return (double)equal >= OWN_SHARE * (double)all;
}

/**
 * struct jetwatt_between - the waits between the anchors
 * @all: time of all cycles, ns
 * @own: time from each anchor to the last wait before the next anchor, ns
 * @waited: part of @own spent waiting, ns
 * @launches: number of launches
 * @waits: number of waits
 */
struct jetwatt_between {
	double all, own, waited, launches, waits;
};

static struct jetwatt_between between(const struct jetwatt_cycles *c)
{
	struct jetwatt_between b = { 0 };

	for (size_t j = c->at[0] + 1, next = 1; j <= c->at[c->n - 1]; j++) {
		const struct jetwatt_sync *s = c->it[j].sync;
		double took = (double)(s->exit_ns - c->it[j - 1].sync->exit_ns);

		b.all += took;
		if (j == c->at[next]) {
			next++;
			continue;
		}
		b.own += took;
		b.waited += (double)(s->exit_ns - s->enter_ns);
		b.launches += s->launches;
		b.waits++;
	}
	return b;
}

/* Return whether the waits between the anchors are too short for minibatches. */
static bool are_short(const struct jetwatt_cycles *c)
{
	struct jetwatt_between b = between(c);

	return b.own < OWN_NS * b.waits;
}

/* Return whether the waits between the anchors are minibatches of their own. */
static bool are_own(const struct jetwatt_cycles *c)
{
	struct jetwatt_between b = between(c);

	if (b.own < OWN_TIME * b.all || are_short(c) ||
	    (b.waited < OWN_WAITING * b.own && b.launches < OWN_LAUNCHES * b.waits))
		return false;
	for (size_t k = 1; k <= JETWATT_PERIOD_MAX; k++)
		if (repeat_with(c, k))
			return true;
	return false;
}

/* Return whether the numbers of launches repeat from cycle to cycle. */
static bool are_repeated(const struct jetwatt_cycles *c)
{
	size_t equal = 0, all = 0;

	for (size_t i = 1; i + 1 < c->n; i++) {
		size_t waits = c->at[i + 1] - c->at[i];

		all += waits;
		if (c->at[i] - c->at[i - 1] != waits)
			continue;
		for (size_t j = 1; j <= waits; j++)
			equal += is_equal(launches_of(&c->it[c->at[i] + j]), launches_of(&c->it[c->at[i - 1] + j]));
	}
	return (double)equal >= REPEATED * (double)all;
}

/* Return the index of the wait of @it[@from..@to - 1] that precedes the longest time without work.
 * @most: set to the longest time without work; @next: set to the second longest, ns. */
static size_t longest_idle(const struct jetwatt_item *it, size_t from, size_t to, double *most, double *next)
{
	size_t at = from;

	*most = *next = -1;
	for (size_t i = from; i < to; i++) {
		double idle = idle_after(&it[i]);

		*next = fmax(*next, fmin(idle, *most));
		at = idle > *most ? i : at;
		*most = fmax(*most, idle);
	}
	return at;
}

size_t jetwatt_long_cycle_boundary(const struct jetwatt_item *it, size_t before, size_t anchor)
{
	size_t near = anchor > NEAR_ANCHOR ? anchor - NEAR_ANCHOR : 0;
	double most, next;

	return longest_idle(it, before > near ? before : near, anchor, &most, &next) + 1;
}

bool jetwatt_long_cycle_place(const struct jetwatt_cycles *c, int *after)
{
	size_t votes[NEAR_ANCHOR] = { 0 }, apparent[NEAR_ANCHOR] = { 0 }, best = 0, before = 0, apparent_before = 0;
	double enough = APPARENT_SHARE * (double)(c->n - 1);

	for (size_t i = 0; i + 1 < c->n; i++) {
		double most, next;
		size_t at = longest_idle(c->it, c->at[i], c->at[i + 1], &most, &next);
		bool is_apparent = most >= APPARENT * next;

		if (at - c->at[i] < NEAR_ANCHOR) {
			votes[at - c->at[i]]++;
			apparent[at - c->at[i]] += is_apparent;
		}
		if (c->at[i + 1] - at <= NEAR_ANCHOR) {
			before++;
			apparent_before += is_apparent;
		}
	}
	for (size_t i = 0; i < NEAR_ANCHOR; i++)
		best = votes[i] > votes[best] ? i : best;
	*after = 0;
	if ((double)votes[best] >= enough)
		*after = (int)best;
	else if ((double)before >= enough)
		*after = -1;
	return (double)(*after < 0 ? apparent_before : apparent[best]) >= enough;
}

/*
 * Return whether most cycles are sequences of minibatches with at most JETWATT_PERIOD_MAX waits each: the
 * GPU has no work for a long time several times per cycle. An example is the training of a GAN in which every
 * fourth and sixteenth minibatch has further waits.
 */
static bool are_sequences(const struct jetwatt_cycles *c)
{
	size_t sequences = 0;

	for (size_t i = 0; i + 1 < c->n; i++) {
		double most = 0, shortest = INFINITY, longest = 0;
		size_t pauses = 0;

		for (size_t j = c->at[i]; j < c->at[i + 1]; j++)
			most = fmax(most, idle_after(&c->it[j]));
		for (size_t j = c->at[i]; j < c->at[i + 1]; j++) {
			double idle = idle_after(&c->it[j]);

			if (idle >= PAUSE * most) {
				shortest = fmin(shortest, idle);
				pauses++;
			} else {
				longest = fmax(longest, idle);
			}
		}
		sequences += pauses >= 2 && pauses * JETWATT_PERIOD_MAX >= c->at[i + 1] - c->at[i] &&
			     shortest >= PAUSES * (longest + JETWATT_PAUSE_FLOOR_NS);
	}
	return (double)sequences >= REGULAR_SHARE * (double)(c->n - 1);
}

/* Return whether the waits in @c->at are the anchors of cycles; if so, set @cycle->waits and
 * @cycle->after. */
static bool are_anchors(const struct jetwatt_cycles *c, struct jetwatt_long_cycle *cycle)
{
	double anchors = 0, all = 0;

	if (c->n <= CYCLES_MIN || !are_regular(c, &cycle->waits) || are_own(c) || are_sequences(c))
		return false;
	for (size_t i = 0; i + 1 < c->n; i++) {
		anchors += launches_of(&c->it[c->at[i + 1]]);
		all += launches_in(c, i);
	}
	return jetwatt_long_cycle_place(c, &cycle->after) || anchors >= ANCHOR_SHARE * all || are_repeated(c) ||
	       are_short(c);
}

bool jetwatt_long_cycle_find(struct jetwatt_cycles *c, size_t n, struct jetwatt_long_cycle *cycle)
{
	const struct jetwatt_item *it = c->it;
	double below = INFINITY;

	for (int level = 0; level < LEVELS && below > 0; level++) {
		double most = 0;

		for (size_t i = 0; i < n; i++)
			if (launches_of(&it[i]) < below)
				most = fmax(most, launches_of(&it[i]));
		below = alike[0] * most;
		for (size_t k = 0; k < sizeof(alike) / sizeof(alike[0]); k++) {
			c->n = 0;
			for (size_t i = 0; i < n; i++)
				if (launches_of(&it[i]) >= alike[k] * most)
					c->at[c->n++] = i;
			/* More than one anchor in JETWATT_PERIOD_MAX waits: the cycles are too
			 * short. */
			if (c->n * JETWATT_PERIOD_MAX > n || !are_anchors(c, cycle))
				continue;
			cycle->launches = (uint32_t)ceil(alike[k] * most);
			return true;
		}
	}
	return false;
}
