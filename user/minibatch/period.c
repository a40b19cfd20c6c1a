// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where minibatches begin.
 *
 * The gap before the first wait of a minibatch holds the loader and the step's
 * own overhead, those before the others only launches: it is the longest of
 * its minibatch. So a beginning is a peak of the gaps, and with k waits per
 * minibatch peaks stand k apart. Every comparison is between neighbours: a
 * change of clocks scales all of them, and moves no peak. With one wait per
 * minibatch there are no peaks but those of chance, which do not keep step, or of
 * something that beats against the job (beat_reject.c); then every wait is a minibatch.
 */
#include "minibatch/period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

#define MARGIN		0.20	/* a peak stands out by this much (logarithm): 22 % */
#define WAIT_MARGIN	0.40	/* among waits; an optimizer step alone makes less */
#define OPTIMIZER	0.6	/* no optimizer takes this much more than a pass: 82 % */
#define SURE_STEP	0.97	/* of the groups in step: nothing hides the rhythm */
#define MOST		0.6	/* of the waits that another rhythm explains, one must */
#define PASSES		10	/* until all that is hidden is known to be */
#define SLIP		20	/* price of losing count in a job that does not */
#define RUN_MIN		9	/* groups that a rhythm next to "every wait" must last */

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
static int usual(const struct jetwatt_beat *b, const struct jetwatt_peaks *s, size_t *at,
		 struct jetwatt_stride *how)
{
	struct jetwatt_stride fit[JETWATT_RHYTHM_MAX + 1];
	double best = INFINITY, most = 0;
	int k, take = 1;

	for (k = 2; k <= JETWATT_RHYTHM_MAX; k++) {
		fit[k] = jetwatt_peaks_test(s, k, at);
		fit[k].fits = fit[k].fits && jetwatt_weight_usual(b, at, jetwatt_peaks_list(s, k, at), k,
								  s->room);
		if (fit[k].fits)
			most = fmax(most, fit[k].in_step * fit[k].covered);
	}
	for (k = 2; k <= JETWATT_RHYTHM_MAX; k++) {
		fit[k].fits = fit[k].fits && fit[k].in_step * fit[k].covered >= MOST * most;
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
	struct jetwatt_peaks s = { v, n, MARGIN, room };
	struct jetwatt_stride how;
	int k = n >= 6 ? usual(b, &s, at, &how) : 1;

	b[0].first = true;
	for (size_t i = 0; i < n; i++) {
		b[i].other = true;
		b[i].rule = JETWATT_RULE_PHASE;
		b[i].period = (uint8_t)k;
		if (i && (k == 1 || jetwatt_peaks_at(&s, i, k)))
			b[i].first = true;
		if (i && k > 1)
			b[i].score = b[i].first ? (float)jetwatt_peaks_above(&s, i, k) : b[i - 1].score;
	}
}

/* Into groups of the usual rhythm, whose beginnings @rule tells, and other phases. A stretch
 * that differs in nothing but in that the rhythm is not to be seen is no phase: then again
 * without it. */
static int divide(struct jetwatt_beat *b, const struct jetwatt_peaks *s, double *v, size_t *at,
		  struct jetwatt_rhythm *r, double slip, enum jetwatt_batch_rule rule)
{
	double contrast = jetwatt_peaks_contrast(s, r->k);
	size_t n = s->n, hidden = 1;

	for (size_t i = 0; i < n; i++)
		b[i].inside = false;
	for (int pass = 0; pass < PASSES && hidden; pass++) {
		int rc;

		for (size_t i = 0; i < n; i++)
			b[i].rule = (uint8_t)rule;
		rc = jetwatt_group_waits(b, v, n, r->k, contrast, slip, r);

		if (rc < 0)
			return rc;
		hidden = (size_t)rc;
		for (size_t i = 0, j; i < n; i = j) {
			for (j = i + 1; j < n && b[j].other == b[i].other; j++)
				;
			if (!b[i].other || jetwatt_weight_differs(b, n, i, j, r->k, s->room))
				continue;
			hidden++;
			for (size_t l = i; l < j; l++)
				b[l].inside = true;
		}
	}
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && b[j].other == b[i].other; j++)
			;
		if (b[i].other)
			region(b + i, v + i, j - i, at, s->room);
	}
	return 0;
}

/* Peaks @at[0..n-1] are k apart: a phase of that rhythm, if by no chance. */
static void phase(struct jetwatt_beat *b, const struct jetwatt_peaks *s, const size_t *at, size_t n,
		  int k)
{
	size_t begin = at[0], last = at[n - 1], end, out = 0, step = (size_t)k;
	double clear;

	end = last + step < s->n ? last + step : s->n;
	for (size_t i = 0; i < n; i++)
		out += jetwatt_peaks_stand_out(s, at, n, i, k, begin, end);
	if (n < RUN_MIN || out * 10 < n * 8)
		return;
	clear = jetwatt_peaks_clearness(s, at, n, k);
	if (clear < JETWATT_PEAKS_VERY_CLEAR ||
	    !jetwatt_weight_phase(b, s->n, at, n, k, s->room))
		return;
	/* What was before it may hide its first peak. */
	if (begin > step && jetwatt_peaks_lead(s, begin - step, k, begin))
		begin -= step;
	for (size_t i = begin; i < end; i++) {
		b[i].first = (i - begin) % step == 0;
		b[i].other = true;
		b[i].rule = JETWATT_RULE_PHASE;
		b[i].period = (uint8_t)k;
		b[i].score = (float)clear;
	}
}

/* Every wait is a minibatch, except where for a while peaks keep step. @s: NULL: they may
 * be another job's. */
static void singles(struct jetwatt_beat *b, const struct jetwatt_peaks *s, size_t n, size_t *at,
		    double confidence)
{
	for (size_t i = 0; i < n; i++) {
		b[i].first = true;
		b[i].other = false;
		b[i].rule = JETWATT_RULE_SINGLE;
		b[i].score = (float)confidence;
	}
	for (int k = JETWATT_RHYTHM_MAX; s && k >= 2; k--) {
		size_t peaks = 0, run = 0;

		for (size_t i = 1; i < s->n; i++)
			if (jetwatt_peaks_at(s, i, k))
				at[peaks++] = i;
		for (size_t j = 1; j <= peaks; j++) {
			if (j < peaks && at[j] - at[j - 1] == (size_t)k)
				continue;
			phase(b, s, at + run, j - run, k);
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
	struct jetwatt_peaks s = { v, n, WAIT_MARGIN, NULL };
	double sum[JETWATT_RHYTHM_MAX] = { 0 }, lo = INFINITY, hi = -INFINITY,
	       last = 0;
	size_t peaks = 0, used = 0;

	for (size_t i = 1; i < n; i++)
		if (jetwatt_peaks_at(&s, i, k))
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

/* Marks what is probably the first wait of every minibatch. @by: peaks that stand for
 * themselves, or also what is hidden below others. Return: 0, -ENOMEM. */
int jetwatt_rhythm_guess(struct jetwatt_beat *b, size_t n, enum jetwatt_rhythm_by by,
			 struct jetwatt_rhythm *r)
{
	struct jetwatt_stride how = { .covered = 1 };
	struct jetwatt_peaks s = { .n = n, .margin = MARGIN };
	size_t *at = calloc(n + 1, sizeof(*at));
	double *v = calloc(2 * (n + 1), sizeof(*v));
	enum jetwatt_batch_rule rule = JETWATT_RULE_GAP;
	int calls, fold, rc = 0;

	*r = (struct jetwatt_rhythm){ .k = 1, .shared = r->shared, .why = r->why };
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
	fold = by == JETWATT_RHYTHM_BY_PEAKS ? 1 : jetwatt_fold_find(b, n, s.room);
	if (fold > 1 && (r->k == 1 || how.in_step < SURE_STEP)) {
		/* Something hides the peaks, or makes others. */
		r->other_k = r->k > 1 && r->k != fold ? r->k : 0;
		r->k = fold;
		how.in_step = 1;
		rule = JETWATT_RULE_FOLDED_GAP;
		jetwatt_fold_smooth(v, n, fold, s.room);
	}
	if (r->k == 1) {
		/* No peaks among the gaps: maybe the waits of a minibatch differ. */
		for (size_t i = 1; i < n; i++)
			v[i] = b[i - 1].wait - b[i].wait;
		s.margin = WAIT_MARGIN;
		rule = JETWATT_RULE_WAIT;
		r->k = usual(b, &s, at, &how);
		if (r->k > 1 && !varied(b, v, n, r->k, at))
			r->k = 1;
	}
	if (r->k == 1) {
		calls = calls_repeat(b, n);
		s.margin = 0.5;
		rule = JETWATT_RULE_CALLER;
		if (calls > 1 && by_calls(b, n, calls, v))
			r->k = usual(b, &s, at, &how);
	}
	if (r->k > 1) {
		rc = divide(b, &s, v, at, r, r->k == fold ? SLIP : 1, rule);
		r->confidence = how.in_step * fmin(1, (double)n / (6.0 * r->k));
		if (r->shared && calls_repeat(b, n) <= 1 && !jetwatt_weight_apart(b, n, s.room))
			r->k = 1;
	}
	if (r->k == 1) {
		for (size_t i = 0; i < n; i++)
			v[i] = b[i].gap;
		s.margin = MARGIN;
		r->confidence = fmin(1, (double)n / 12);
		singles(b, r->shared ? NULL : &s, n, at, r->confidence);
	}
	free(at);
	free(v);
	return rc;
}

/**
 * jetwatt_rhythm_find() - the place of every wait in its minibatch
 * @b: the waits of one job in order; the gap of the first is not looked at
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_rhythm_find(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r)
{
	int rc = jetwatt_rhythm_guess(b, n, JETWATT_RHYTHM_BY_ANY, r);

	return rc ? rc : jetwatt_refine(b, n, r);
}
