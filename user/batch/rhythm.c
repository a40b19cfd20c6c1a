// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where minibatches begin.
 *
 * The gap before the first wait of a minibatch holds the loader and the step's
 * own overhead, those before the others only launches: it is the longest of
 * its minibatch. So a beginning is a peak of the gaps, and with k waits per
 * minibatch peaks stand k apart. Every comparison is between neighbours: a
 * change of clocks scales all of them, and moves no peak. With one wait per
 * minibatch there are no peaks but those of chance, which do not keep step;
 * then every wait is a minibatch.
 */
#include "batch/rhythm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN		0.20	/* a peak stands out by this much (logarithm): 22 % */
#define WAIT_MARGIN	0.40	/* among waits; an optimizer step alone makes less */
#define OPTIMIZER	0.6	/* no optimizer takes this much more than a pass: 82 % */
#define IN_STEP		0.6	/* of the groups, at least, have k waits; more where chance has it */
#define CLEAR		2.5	/* peaks stand out by so many times their scatter ... */
#define MANY		8	/* ... if there are many, ... */
#define VERY_CLEAR	4.0	/* ... by more ... */
#define FEW		3	/* ... if there are few */
#define RUN_MIN		9	/* groups that a rhythm next to "every wait" must last */

/* A stretch of beats and the series in which peaks are sought. */
struct score {
	const double *v;
	size_t n;
	double margin;
	double *room;		/* for n values */
};

/* The first of a series is no peak and hides none: what was before it is unknown. */
static bool peak(const struct score *s, size_t i, int k)
{
	size_t lo = i >= (size_t)k ? i - (size_t)k + 1 : 1;
	size_t hi = i + (size_t)k < s->n ? i + (size_t)k : s->n;

	for (size_t j = lo ? lo : 1; j < hi; j++)
		if (j != i && s->v[j] + s->margin >= s->v[i])
			return false;
	return i > 0;
}

/* ... compared with the waits of its own minibatch only. */
static bool leads(const struct score *s, size_t i, int k, size_t end)
{
	for (size_t j = i + 1; j < i + (size_t)k && j < end; j++)
		if (s->v[j] + s->margin >= s->v[i])
			return false;
	return true;
}

struct step {
	bool fits;
	double in_step;		/* share of groups of k or k + 1 waits */
	double covered;		/* share of waits in those */
	double uneven;		/* peaks that differ more from the next than from the one after */
};

/* A peak is one by structure if it stands above all others around, not only
 * above its own neighbours: noise has no such peaks. */
static bool stands_out(const struct score *s, const size_t *at, size_t peaks, size_t j, int k,
		       size_t begin, size_t end)
{
	size_t lo = at[j] > begin + 3 * (size_t)k ? at[j] - 3 * (size_t)k : begin;
	size_t hi = at[j] + 3 * (size_t)k < end ? at[j] + 3 * (size_t)k : end;
	size_t p = j;

	while (p && at[p - 1] >= lo)
		p--;
	for (size_t i = lo; i < hi; i++) {
		if (p < peaks && at[p] == i)
			p++;
		else if (s->v[i] >= s->v[at[j]])
			return false;
	}
	return true;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), ascending);
	return n ? v[n / 2] : 0;
}

/* By how much peaks stand out, in terms of what differs from group to group:
 * chance makes peaks of one or two such units. */
static double clearness(const struct score *s, const size_t *at, size_t peaks, int k)
{
	double stand, scatter;
	size_t n = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		double most = s->v[at[j] + 1];

		for (size_t i = at[j] + 2; i < at[j] + (size_t)k && i < s->n; i++)
			most = fmax(most, s->v[i]);
		s->room[n++] = s->v[at[j]] - most;
	}
	stand = median(s->room, n);
	n = 0;
	for (size_t j = 0; j + 2 < peaks; j++)
		s->room[n++] = fabs(s->v[at[j] + 1] - s->v[at[j + 1] + 1]);
	scatter = median(s->room, n);
	return stand / (scatter + 1e-3);
}

/* How well k waits per minibatch explain the peaks. @at: room for n. */
static struct step test(const struct score *s, int k, size_t *at)
{
	size_t peaks = 0, exact = 0, more = 0, out = 0, waits = 0;
	double next = 0, after = 0, clear;
	struct step r = { 0 };

	for (size_t i = 1; i < s->n; i++)
		if (peak(s, i, k))
			at[peaks++] = i;
	if (peaks < 3)
		return r;
	for (size_t j = 0; j + 1 < peaks; j++) {
		size_t size = at[j + 1] - at[j];

		exact += size == (size_t)k;
		more += size == (size_t)k + 1;
		if (size == (size_t)k || size == (size_t)k + 1)
			waits += size;
		next += fabs(s->v[at[j + 1]] - s->v[at[j]]);
		if (j + 2 < peaks)
			after += fabs(s->v[at[j + 2]] - s->v[at[j]]);
	}
	for (size_t j = 0; j < peaks; j++)
		out += stands_out(s, at, peaks, j, k, 1, s->n);
	r.in_step = (double)(exact + more) / (double)(peaks - 1);
	r.covered = (double)waits / (double)s->n;
	r.uneven = next / (double)(peaks - 1) - (peaks > 2 ? after / (double)(peaks - 2) : 0);
	clear = clearness(s, at, peaks, k);
	r.fits = clear >= CLEAR && (exact >= MANY || (exact >= FEW && clear >= VERY_CLEAR)) &&
		 r.in_step >= (k == 2 ? 0.85 : k == 3 ? 0.75 : IN_STEP) && exact * 10 >= (exact + more) * 4 &&
		 (double)out >= IN_STEP * (double)peaks &&
		 (r.covered >= 0.4 || (s->n < 8 * (size_t)k && r.covered >= 0.3));
	return r;
}

/* Do waits and calls repeat every k? Mean difference, in logarithms. */
static double unlike(const struct jetwatt_beat *b, size_t n, int k)
{
	double sum = 0;

	for (size_t i = (size_t)k; i < n; i++)
		sum += fmin(fabs(b[i].wait - b[i - (size_t)k].wait), 1) +
		       (b[i].who != b[i - (size_t)k].who);
	return n > (size_t)k ? sum / (double)(n - (size_t)k) : 0;
}

/* The fewest waits per minibatch that explain all; 1: none does. */
static int usual(const struct jetwatt_beat *b, const struct score *s, size_t *at, struct step *how)
{
	struct step fit[JETWATT_RHYTHM_MAX + 1];
	double best = INFINITY;
	int k, take = 1;

	for (k = 2; k <= JETWATT_RHYTHM_MAX; k++) {
		fit[k] = test(s, k, at);
		if (fit[k].fits)
			best = fmin(best, unlike(b, s->n, k));
	}
	for (k = 2; k <= JETWATT_RHYTHM_MAX; k++) {
		if (!fit[k].fits)
			continue;
		take = k;
		if (fit[k].uneven < 0.25 && unlike(b, s->n, k) <= 2 * best + 0.05)
			break;
	}
	if (take > 1)
		*how = fit[take];
	return take;
}

/* A phase that is not the usual one: its own k, or every wait by itself. */
static void region(struct jetwatt_beat *b, const double *v, size_t n, size_t *at, double *room)
{
	struct score s = { v, n, MARGIN, room };
	struct step how;
	int k = n >= 6 ? usual(b, &s, at, &how) : 1;

	b[0].first = true;
	for (size_t i = 0; i < n; i++) {
		b[i].other = true;
		if (i && (k == 1 || peak(&s, i, k)))
			b[i].first = true;
	}
}

/* Every wait is a minibatch, except where for a while peaks keep step. */
static void singles(struct jetwatt_beat *b, const struct score *s, size_t *at)
{
	for (size_t i = 0; i < s->n; i++)
		b[i].first = true;
	for (int k = JETWATT_RHYTHM_MAX; k >= 2; k--) {
		size_t peaks = 0, run = 0;

		for (size_t i = 1; i < s->n; i++)
			if (peak(s, i, k))
				at[peaks++] = i;
		for (size_t j = 1; j <= peaks; j++) {
			size_t out = 0, begin, end;

			if (j < peaks && at[j] - at[j - 1] == (size_t)k)
				continue;
			/* Peaks run..j-1 are in step. */
			begin = at[run];
			end = at[j - 1] + (size_t)k < s->n ? at[j - 1] + (size_t)k : s->n;
			for (size_t i = run; i < j; i++)
				out += stands_out(s, at, peaks, i, k, begin, end);
			if (j - run >= RUN_MIN && out * 10 >= (j - run) * 8 &&
			    clearness(s, at + run, j - run, k) >= VERY_CLEAR) {
				if (begin > (size_t)k && leads(s, begin - (size_t)k, k, begin))
					begin -= (size_t)k;
				for (size_t i = begin; i < end; i++) {
					b[i].first = (i - begin) % (size_t)k == 0;
					b[i].other = true;
				}
			}
			run = j;
		}
	}
}

/* Waits tell the period but not where in it a minibatch begins. If gaps differ
 * beyond their noise, they do: moves the peaks of @v there. */
static bool shift_to_longest_gap(const struct jetwatt_beat *b, double *v, size_t n, int k,
				 const size_t *at, size_t peaks)
{
	double sum[JETWATT_RHYTHM_MAX] = { 0 }, square[JETWATT_RHYTHM_MAX] = { 0 }, mean, error;
	int longest = 0;
	size_t used = 0;

	for (size_t j = 0; j + 1 < peaks; j++) {
		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 0; i < k; i++) {
			sum[i] += b[at[j] + (size_t)i].gap;
			square[i] += b[at[j] + (size_t)i].gap * b[at[j] + (size_t)i].gap;
		}
		used++;
	}
	for (int i = 1; i < k; i++)
		if (sum[i] > sum[longest])
			longest = i;
	mean = sum[0] / (double)used;
	error = sqrt((square[0] / (double)used - mean * mean) / (double)used);
	if (longest && sum[longest] / (double)used - mean > fmax(0.02, 4 * error))
		memmove(v + longest, v, (n - (size_t)longest) * sizeof(*v));
	return true;
}

/* Waits inside a minibatch differ from each other, or the last by much; those
 * of minibatches between which the optimizer does not run are all alike. */
static bool varied(const struct jetwatt_beat *b, double *v, size_t n, int k, size_t *at)
{
	struct score s = { v, n, WAIT_MARGIN, NULL };
	double sum[JETWATT_RHYTHM_MAX] = { 0 }, lo = INFINITY, hi = -INFINITY,
	       last = 0;
	size_t peaks = 0, used = 0;

	for (size_t i = 1; i < n; i++)
		if (peak(&s, i, k))
			at[peaks++] = i;
	for (size_t j = 0; j + 1 < peaks; j++) {
		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 0; i < k - 1; i++)
			sum[i] += b[at[j] + (size_t)i].wait;
		last += b[at[j] + (size_t)k - 1].wait;
		used++;
	}
	for (int i = 0; i < k - 1 && used; i++) {
		lo = fmin(lo, sum[i] / (double)used);
		hi = fmax(hi, sum[i] / (double)used);
	}
	if (!used)
		return false;
	if (hi - lo > 0.2 || last / (double)used - hi > (k == 2 ? 0.75 : 1) * OPTIMIZER)
		return shift_to_longest_gap(b, v, n, k, at, peaks);
	return false;
}

/* Does the order of threads and calls repeat? Return: after how many waits, 0: no. */
static int calls_repeat(const struct jetwatt_beat *b, size_t n)
{
	for (int k = 1; k <= JETWATT_RHYTHM_MAX && n >= 3 * (size_t)k; k++) {
		size_t bad = 0;

		for (size_t i = (size_t)k; i < n; i++)
			bad += b[i].who != b[i - (size_t)k].who;
		if (bad * 8 <= n - (size_t)k)
			return k;
	}
	return 0;
}

bool jetwatt_rhythm_calls(const struct jetwatt_beat *b, size_t n)
{
	return calls_repeat(b, n) > 0;
}

/* Of the changes from one caller to another, the one that comes once per
 * minibatch and after the longest gap: @v is 1 there and 0 elsewhere. */
static bool by_calls(const struct jetwatt_beat *b, size_t n, int k, double *v)
{
	double best = -INFINITY;
	uint32_t from = 0, to = 0;

	for (size_t i = 1; i <= (size_t)k && i < n; i++) {
		double gap = 0;
		size_t found = 0;

		if (b[i].who == b[i - 1].who)
			continue;
		for (size_t j = 1; j < n; j++)
			if (b[j].who == b[i].who && b[j - 1].who == b[i - 1].who) {
				gap += b[j].gap;
				found++;
			}
		if (found * (size_t)k * 4 > n * 5 || !found || gap / (double)found <= best)
			continue;
		best = gap / (double)found;
		from = b[i - 1].who;
		to = b[i].who;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = i && b[i].who == to && b[i - 1].who == from && from != to;
	return best > -INFINITY;
}

/* By how much a beginning stands out over the waits that follow it, typically. */
static double contrast(const struct score *s, int k)
{
	double sum = 0, near;
	size_t peaks = 0;

	for (size_t i = 1; i + (size_t)k <= s->n; i++) {
		if (!peak(s, i, k))
			continue;
		near = -INFINITY;
		for (size_t j = i + 1; j < i + (size_t)k; j++)
			near = fmax(near, s->v[j]);
		sum += s->v[i] - near;
		peaks++;
	}
	return peaks ? sum / (double)peaks : s->margin;
}

/**
 * jetwatt_rhythm_find() - mark the first wait of every minibatch
 * @b: the waits of one job in order; the gap of the first is not looked at
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_rhythm_find(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r)
{
	struct step how = { .covered = 1 };
	struct score s = { .n = n, .margin = MARGIN };
	size_t *at = calloc(n + 1, sizeof(*at));
	double *v = calloc(2 * (n + 1), sizeof(*v));
	int calls, rc = 0;

	*r = (struct jetwatt_rhythm){ .k = 1 };
	if (!at || !v) {
		free(at);
		free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = b[i].gap;
		b[i].first = b[i].other = false;
	}
	s.v = v;
	s.room = v + n + 1;
	r->k = usual(b, &s, at, &how);
	if (r->k == 1) {
		/* No peaks among the gaps: maybe the waits of a minibatch differ. */
		for (size_t i = 1; i < n; i++)
			v[i] = b[i - 1].wait - b[i].wait;
		s.margin = WAIT_MARGIN;
		r->k = usual(b, &s, at, &how);
		if (r->k > 1 && !varied(b, v, n, r->k, at))
			r->k = 1;
	}
	if (r->k == 1) {
		calls = calls_repeat(b, n);
		s.margin = 0.5;
		if (calls > 1 && by_calls(b, n, calls, v))
			r->k = usual(b, &s, at, &how);
	}
	if (r->k > 1) {
		if (jetwatt_group_waits(b, v, n, r->k, contrast(&s, r->k), r))
			rc = -ENOMEM;
		for (size_t i = 0, j; i < n; i = j) {
			for (j = i + 1; j < n && b[j].other == b[i].other; j++)
				;
			if (b[i].other)
				region(b + i, v + i, j - i, at, s.room);
		}
		r->confidence = how.in_step * fmin(1, (double)n / (6.0 * r->k));
	} else {
		for (size_t i = 0; i < n; i++)
			v[i] = b[i].gap;
		s.margin = MARGIN;
		singles(b, &s, at);
		r->confidence = fmin(1, (double)n / 12);
	}
	free(at);
	free(v);
	return rc;
}
