// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divides a job's minibatches into phases: kinds of minibatches with different work, such as prefill
 * and decode of a language model, training and evaluation, actor and learner.
 *
 * The work of a kind is constant in the number of launches of GPU work and of waits, so the
 * minibatches are first divided where these numbers have a gap. Kinds with the same launches differ in
 * their duration only: each group is divided at the widest gap between durations (logarithms) if both
 * parts vary much less than they differ, if the gap is wider than chance explains, and if the minibatches of
 * the rarer kind come a few at a time. (A change of the power mode changes the duration of all later ones.)
 */
#include "minibatch/phases.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* minimum gap between numbers of launches, or of waits, of two kinds (logarithm). A step that prints its
 * loss has a wait or two more than the others. */
#define GAP_LAUNCHES	0.3
#define GAP_SYNCS	0.8
/* minimum number of minibatches of a kind */
#define FEWEST		4
/* minimum difference between the mean durations of two kinds (logarithm): with no launch or one;
 * with the same number of launches, because most minibatches with the same launches do the same
 * work; and if launches or waits have told kinds apart, because the rest of a kind may vary, like
 * the number of requests in a decode step. The minimum rises by RARER with each halving of the
 * rarer kind's share below RARE, because other processes disturb a few minibatches of any job */
#define LONGER		0.3
#define LONGER_SAME	0.69
#define LONGER_TOLD	1.6
#define RARE		0.05
#define RARER		0.17
/* the same minimum, in mean standard deviations; in standard deviations of the shorter kind; and in these if
 * the longer kind varies less than half as much, because full chunks of prompts are a peak at the end of
 * the durations of all chunks, not a kind */
#define APART		2.4
#define APART_LOW	2.8
#define APART_CAPPED	5
/* minimum fraction of the difference that lies between the two kinds; and maximum probability that the widest
 * gap between evenly distributed durations is as wide, if the kinds differ by less than SURE standard
 * deviations */
#define BETWEEN		0.25
#define BY_CHANCE	1e-4
#define SURE		6
/* smallest standard deviation of a duration (logarithm) */
#define SD_MIN		0.02
/* minimum gain in log-likelihood by a division of n minibatches: GAIN log(n) + GAIN_EACH n (evenly
 * distributed logarithms gain 0 by any division) */
#define GAIN		5
#define GAIN_EACH	0.03
/* maximum mean number of successive minibatches of the rarer kind */
#define RUN		10
/* maximum number of groups */
#define GROUPS		32

/**
 * struct item - one minibatch
 * @at: index of the minibatch's bound
 * @group: group of the minibatch; GROUPS: none
 * @other: true: an interval of kind JETWATT_BATCH_OTHER
 * @ns: logarithm of the time from the first launch (without launches, from the start) to the end, ns
 * @launches: logarithm of the number of launches; if there are none: -10, in an evaluation -20
 * @syncs: logarithm of the number of waits plus 1
 */
struct item {
	size_t at;
	unsigned int group;
	bool other;
	double ns, launches, syncs;
};

static int order_launches(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->launches > y->launches) - (x->launches < y->launches);
}

static int order_syncs(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group) - (x->group < y->group) :
	       (x->syncs > y->syncs) - (x->syncs < y->syncs);
}

static int order_ns(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group) - (x->group < y->group) :
	       (x->ns > y->ns) - (x->ns < y->ns);
}

static int order_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Return whether a bound gets a phase. @syncs: usual number of waits per minibatch; 0: unknown. */
static bool is_minibatch(const struct jetwatt_batch_bound *b, uint32_t syncs)
{
	return b->end_ns > b->start_ns &&
	       (b->kind != JETWATT_BATCH_OTHER || b->launches || (syncs && b->syncs == syncs));
}

/* Return the most frequent number of waits, up to 63, of the minibatches that are no other intervals; 0:
 * there is none. */
static uint32_t usual_syncs(const struct jetwatt_batch_bound *b, size_t n)
{
	size_t count[64] = { 0 };
	uint32_t best = 0;

	for (size_t i = 0; i < n; i++)
		if (b[i].kind != JETWATT_BATCH_OTHER && b[i].syncs < 64)
			count[b[i].syncs]++;
	for (uint32_t s = 1; s < 64; s++)
		best = count[s] > count[best] ? s : best;
	return best;
}

/* Divide the minibatches by their launches, then by their waits. Return: number of groups. */
static unsigned int divide_by_work(struct item *v, size_t n)
{
	unsigned int group = 0, last;

	qsort(v, n, sizeof(*v), order_launches);
	for (size_t i = 0; i < n; i++) {
		group += i && group + 1 < GROUPS / 2 && v[i].launches - v[i - 1].launches > GAP_LAUNCHES;
		v[i].group = group;
	}
	qsort(v, n, sizeof(*v), order_syncs);
	group = 0;
	last = v[0].group;
	for (size_t i = 0; i < n; i++) {
		bool other = v[i].group != last;

		last = v[i].group;
		if (i && group + 1 < GROUPS)
			group += other || v[i].syncs - v[i - 1].syncs > GAP_SYNCS;
		v[i].group = group;
	}
	return group + 1;
}

struct sums {
	double n, x, xx;
};

static double mean(const struct sums *s)
{
	return s->x / s->n;
}

static double sd(const struct sums *s)
{
	double m = mean(s);

	return fmax(SD_MIN, sqrt(fmax(0, s->xx / s->n - m * m)));
}

static void add(struct sums *s, double x, int sign)
{
	s->n += sign;
	s->x += sign * x;
	s->xx += sign * x * x;
}

/* Divide a group of minibatches (@v, in order of time) into those shorter than @limit and the others, and
 * return the mean number of successive minibatches of the rarer kind. */
static double mean_run(const struct item *v, size_t n, double limit)
{
	size_t longer = 0, runs = 0, shorter_runs = 0;

	for (size_t i = 0; i < n; i++) {
		bool is = v[i].ns >= limit, was = i && v[i - 1].ns >= limit;

		longer += is;
		runs += is && !was;
		shorter_runs += !is && (!i || was);
	}
	return 2 * longer <= n ? (double)longer / (double)runs : (double)(n - longer) / (double)shorter_runs;
}

/* Return whether two groups of durations, with sums @low and @high, are two kinds. @least: minimum difference
 * of their means. */
static bool are_kinds(const struct sums *low, const struct sums *high, double least)
{
	double share = fmin(low->n, high->n) / (low->n + high->n), differ = mean(high) - mean(low);
	double spread = sqrt((sd(low) * sd(low) + sd(high) * sd(high)) / 2);

	return differ >= least + RARER * fmax(0, log2(RARE / share)) && differ >= APART * spread &&
	       differ >= (2 * sd(high) < sd(low) ? APART_CAPPED : APART_LOW) * sd(low);
}

/*
 * Find the widest gap that divides the @n minibatches of a group, in order of duration, into two kinds. @least:
 * as for are_kinds(). Return: index of the first minibatch of the longer kind; 0: they are one kind.
 */
static size_t best_split(const struct item *v, size_t n, double least)
{
	struct sums all = { 0 }, low = { 0 }, high;
	double best = INFINITY, total = (double)n, widest = 0, chance;
	size_t at = 0;

	if (n < 2 * FEWEST)
		return 0;
	for (size_t i = 0; i < n; i++)
		add(&all, v[i].ns, 1);
	high = all;
	chance = (1 - pow(BY_CHANCE / total, 1 / (total - 1))) * (v[n - 1].ns - v[0].ns);
	for (size_t i = 1; i + FEWEST <= n; i++) {
		double gap = v[i].ns - v[i - 1].ns, differ;

		add(&low, v[i - 1].ns, 1);
		add(&high, v[i - 1].ns, -1);
		if (i < FEWEST || gap <= widest)
			continue;
		differ = mean(&high) - mean(&low);
		if (!are_kinds(&low, &high, least) || gap < BETWEEN * differ ||
		    (gap < chance && differ < SURE * fmax(sd(&low), sd(&high))))
			continue;
		widest = gap;
		best = low.n * log(sd(&low) * total / low.n) + high.n * log(sd(&high) * total / high.n);
		at = i;
	}
	if (!at || total * log(sd(&all)) - best < GAIN * log(total) + GAIN_EACH * total)
		return 0;
	return at;
}

/*
 * Divide group @g by duration if it contains two kinds. @v: the minibatches in order of time. @other: number of
 * the new group. @alone: launches and waits have told no kinds apart, as with CUDA graphs: each
 * is one launch. Return: 1 if the group was divided, 0 if not, -ENOMEM.
 */
static int divide_by_duration(struct item *v, size_t n, unsigned int g, unsigned int other, bool alone)
{
	struct item *of = malloc(n * sizeof(*of));
	double limit = 0;
	size_t m = 0, at;

	if (!of)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (v[i].group == g)
			of[m++] = v[i];
	qsort(of, m, sizeof(*of), order_ns);
	at = best_split(of, m, alone ? of->launches > 0 ? LONGER_SAME : LONGER : LONGER_TOLD);
	if (at) {
		limit = of[at].ns;
		qsort(of, m, sizeof(*of), order_time);
		at = mean_run(of, m, limit) <= RUN;
	}
	for (size_t i = 0; i < n && at; i++)
		if (v[i].group == g && v[i].ns >= limit)
			v[i].group = other;
	free(of);
	return at > 0;
}

/* Add the minibatches of a group that is too small for a kind to the kind that is most alike.
 * Intervals of kind JETWATT_BATCH_OTHER in a group that is too small are no minibatches. */
static void join_small(struct item *v, size_t n, const size_t *count, unsigned int groups)
{
	double centre[GROUPS][3] = { { 0 } };
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const double x[] = { v[i].launches, v[i].syncs, v[i].ns };

		for (int k = 0; k < 3; k++)
			centre[v[i].group][k] += x[k] / (double)count[v[i].group];
	}
	for (unsigned int g = 0; g < groups; g++)
		any |= count[g] >= FEWEST;
	for (size_t i = 0; i < n; i++) {
		double least = INFINITY;
		unsigned int nearest = 0;

		if (any && count[v[i].group] >= FEWEST)
			continue;
		for (unsigned int g = 0; g < groups; g++) {
			double d = fabs(v[i].launches - centre[g][0]) + fabs(v[i].syncs - centre[g][1]) +
				   fabs(v[i].ns - centre[g][2]);

			if ((count[g] >= FEWEST || !any) && count[g] && d < least) {
				least = d;
				nearest = g;
			}
		}
		v[i].group = v[i].other ? GROUPS : any ? nearest : 0;
	}
}

/* Number the groups of minibatches by descending total time, and store the number as phase of each
 * bound. Return: number of phases. */
static int number_phases(const struct item *v, size_t n, struct jetwatt_batch_bound *b)
{
	double ns[GROUPS + 1] = { 0 };
	uint32_t number[GROUPS + 1] = { 0 };
	int phases = 0;

	for (size_t i = 0; i < n; i++)
		ns[v[i].group] += (double)(b[v[i].at].end_ns - b[v[i].at].start_ns);
	for (;;) {
		unsigned int most = 0;

		for (unsigned int g = 1; g < GROUPS; g++)
			most = ns[g] > ns[most] ? g : most;
		if (!(ns[most] > 0))
			break;
		phases = phases < JETWATT_PHASES_MAX ? phases + 1 : JETWATT_PHASES_MAX;
		number[most] = (uint32_t)phases;
		ns[most] = 0;
	}
	for (size_t i = 0; i < n; i++)
		b[v[i].at].phase = number[v[i].group];
	return phases;
}

/* Return: number of phases, or -ENOMEM. */
static int divide(struct item *v, size_t n, struct jetwatt_batch_bound *b)
{
	unsigned int groups = divide_by_work(v, n);
	bool alone = groups == 1;
	size_t count[GROUPS] = { 0 };

	qsort(v, n, sizeof(*v), order_time);
	/* A group that a division by duration has made is divided again. */
	for (unsigned int g = 0; g < groups; g++)
		for (int rc = 1; rc && groups < GROUPS;) {
			rc = divide_by_duration(v, n, g, groups, alone);
			if (rc < 0)
				return rc;
			groups += (unsigned int)rc;
		}
	for (size_t i = 0; i < n; i++)
		count[v[i].group]++;
	join_small(v, n, count, groups);
	return number_phases(v, n, b);
}

int jetwatt_batch_phases(struct jetwatt_batch_bound *b, size_t n)
{
	struct item *v = malloc((n + 1) * sizeof(*v));
	uint32_t syncs = usual_syncs(b, n);
	size_t m = 0;
	int rc;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = b[i].end_ns - b[i].start_ns, before = b[i].launches ? b[i].fetch_ns : 0;

		b[i].phase = 0;
		if (!is_minibatch(&b[i], syncs))
			continue;
		v[m++] = (struct item){
			.at = i, .other = b[i].kind == JETWATT_BATCH_OTHER, .ns = log((double)(ns > before ? ns - before : ns)),
			/* Without launches, an evaluation has its own cycle of waits. */
			.launches = b[i].launches		  ? log(b[i].launches) :
				    b[i].kind == JETWATT_BATCH_EVAL ? -20 : -10,
			.syncs = log(b[i].syncs + 1.0),
		};
	}
	rc = m ? divide(v, m, b) : 0;
	free(v);
	/* The start of a job's first minibatch is unknown, so it gets the phase of the next one. */
	for (size_t i = 0; i + 1 < n && rc > 0; i++)
		if (b[i].flags & JETWATT_BATCH_FIRST && b[i].phase && b[i + 1].phase)
			b[i].phase = b[i + 1].phase;
	return rc;
}
