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
#define IN_STEP		0.6	/* of the groups, at least, have k waits */
#define RUN_MIN		6	/* groups that a rhythm next to "every wait" must last */

/* A stretch of beats and the series in which peaks are sought. */
struct score {
	const double *v;
	size_t n;
	double margin;
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
static bool stands_out(const struct score *s, const size_t *at, size_t peaks, size_t j, int k)
{
	size_t lo = at[j] > 3 * (size_t)k ? at[j] - 3 * (size_t)k : 1;
	size_t hi = at[j] + 3 * (size_t)k < s->n ? at[j] + 3 * (size_t)k : s->n;
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

/* How well k waits per minibatch explain the peaks. @at: room for n. */
static struct step test(const struct score *s, int k, size_t *at)
{
	size_t peaks = 0, exact = 0, more = 0, out = 0, waits = 0;
	double next = 0, after = 0;
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
		out += stands_out(s, at, peaks, j, k);
	r.in_step = (double)(exact + more) / (double)(peaks - 1);
	r.covered = (double)waits / (double)s->n;
	r.uneven = next / (double)(peaks - 1) - (peaks > 2 ? after / (double)(peaks - 2) : 0);
	r.fits = r.in_step >= IN_STEP && exact * 10 >= (exact + more) * 4 &&
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

static int region(struct jetwatt_beat *b, const double *v, size_t n, size_t *at);

/* Between two beginnings lies more than a minibatch: whole ones in step with
 * either end, and between those a phase with a rhythm of its own. */
static int lump(struct jetwatt_beat *b, const struct score *s, size_t from, size_t to, int k,
		size_t *at)
{
	size_t p = from + (size_t)k, q = to;

	while (p + (size_t)k <= to && leads(s, p, k, to) &&
	       (p + (size_t)k == to || s->v[p + (size_t)k] + s->margin > s->v[p])) {
		if (p + 2 * (size_t)k > to && to - p > (size_t)k + 2)
			break;
		b[p].first = true;
		p += (size_t)k;
	}
	while (q >= p + (size_t)k && leads(s, q - (size_t)k, k, q)) {
		q -= (size_t)k;
		b[q].first = true;
	}
	if (q - p <= 2)
		return 0;
	return region(b + p, s->v + p, q - p, at);
}

/* Events that were lost shift or split a group: put the beginning back. */
static void mend(struct jetwatt_beat *b, const struct score *s, int k, struct jetwatt_rhythm *r)
{
	size_t before = 0, last = 0;
	size_t kk = (size_t)k;

	/* A lost wait makes the next gap long: more than the true beginning's. */
	for (size_t i = 1; i < s->n; i++) {
		size_t size = i - last, true_at = last + kk;

		if (!b[i].first)
			continue;
		if (size > kk && size < 2 * kk && leads(s, true_at, k, i)) {
			size_t end = i + 1;

			while (end < s->n && !b[end].first)
				end++;
			if (end < s->n && end - true_at == kk - 1) {
				b[i].first = false;
				b[true_at].first = true;
				i = true_at;
			}
		}
		last = i;
	}
	last = 0;
	for (size_t i = 1; i < s->n; i++) {
		if (!b[i].first)
			continue;
		if (last && i - before <= kk && last > before) {
			b[last].first = false;
			last = before;
		}
		if (i - last < kk && last)
			r->missing += kk - (i - last);
		before = last;
		last = i;
	}
}

/* A phase that is not the usual one: its own k, or every wait by itself. */
static int region(struct jetwatt_beat *b, const double *v, size_t n, size_t *at)
{
	struct score s = { v, n, MARGIN };
	struct step how;
	int k = n >= 6 ? usual(b, &s, at, &how) : 1;

	b[0].first = true;
	for (size_t i = 0; i < n; i++) {
		b[i].other = true;
		if (i && (k == 1 || peak(&s, i, k)))
			b[i].first = true;
	}
	return 0;
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
			for (size_t i = run; i < j; i++)
				out += stands_out(s, at, peaks, i, k);
			begin = at[run];
			end = at[j - 1] + (size_t)k < s->n ? at[j - 1] + (size_t)k : s->n;
			if (j - run >= RUN_MIN && out * 10 >= (j - run) * 8) {
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

static void grouped(struct jetwatt_beat *b, const struct score *s, int k, size_t *at,
		    struct jetwatt_rhythm *r)
{
	size_t last = 0;

	for (size_t i = 0; i < s->n; i++)
		b[i].first = !i || peak(s, i, k);
	mend(b, s, k, r);
	for (size_t i = 1; i <= s->n; i++) {
		if (i < s->n && !b[i].first)
			continue;
		if (i - last >= (size_t)k + 3 || (i == s->n && i - last > (size_t)k))
			lump(b, s, last, i, k, at);
		last = i;
	}
}

/* Waits inside a minibatch differ from each other; those of micro-batches, of
 * which the last also runs the optimizer, do not. */
static bool varied(const struct jetwatt_beat *b, const double *v, size_t n, int k, size_t *at)
{
	struct score s = { v, n, WAIT_MARGIN };
	double sum[JETWATT_RHYTHM_MAX] = { 0 }, lo = INFINITY, hi = -INFINITY;
	size_t peaks = 0, used = 0;

	if (k == 2)
		return true;
	for (size_t i = 1; i < n; i++)
		if (peak(&s, i, k))
			at[peaks++] = i;
	for (size_t j = 0; j + 1 < peaks; j++) {
		if (at[j + 1] - at[j] != (size_t)k)
			continue;
		for (int i = 0; i < k - 1; i++)
			sum[i] += b[at[j] + (size_t)i].wait;
		used++;
	}
	for (int i = 0; i < k - 1 && used; i++) {
		lo = fmin(lo, sum[i] / (double)used);
		hi = fmax(hi, sum[i] / (double)used);
	}
	return hi - lo > 0.2;
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
	double *v = calloc(n + 1, sizeof(*v));
	int calls;

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
	r->k = usual(b, &s, at, &how);
	if (r->k == 1) {
		/* No peaks among the gaps: maybe the last wait is the long one. */
		for (size_t i = 1; i < n; i++)
			v[i] = b[i - 1].wait;
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
		grouped(b, &s, r->k, at, r);
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
	return 0;
}
