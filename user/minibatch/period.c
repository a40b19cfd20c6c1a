// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the period of a job's waits and labels the waits that begin a minibatch.
 *
 * The gap before the first wait of a minibatch contains the data loader and the overhead of the
 * training step; the other gaps contain only launches. Therefore the first gap of a minibatch is
 * its longest one, a peak in the series of gaps; with k waits per minibatch, successive peaks are k
 * waits apart. Only neighbouring gaps are compared: a change of clocks scales all of them and moves
 * no peak. With one wait per minibatch, peaks are caused by chance, and then have no period, by a
 * beat with a disturbance (wait_reject.c), or by several processes that load data in turn. In these
 * cases, every wait is a minibatch.
 */
#include "minibatch/period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"
#include "minibatch/pauses.h"
#include "minibatch/viterbi.h"

#define MARGIN		0.20	/* height of a peak of gaps (logarithm): 22 % */
#define SURE_STEP	0.97	/* share of groups in step above which nothing hides the period */
#define MOST		0.6	/* minimum of in_step * covered, relative to the best period */
#define PASSES		10	/* maximum number of times that the waits are divided into groups */
#define SLIP		20	/* factor of the cost of a group of not k waits, if few waits are missing */
#define LAUNCHES_EQUAL	0.05	/* maximum difference of equal numbers of launches, as fraction */
#define LAUNCHES_MANY	8	/* minimum number of launches per wait that is evidence */
#define LAUNCHES_SHARE	0.8	/* share of the waits with as many launches as the previous wait */
#define LAUNCHES_DIFFER	0.3	/* minimum mean difference (log) of launches that do not repeat */
#define RUN_MIN		9	/* minimum groups of a phase in a job with one wait per minibatch */

/* Return the mean difference between the numbers of launches of waits that are @k apart
 * (logarithm): small if they repeat with the period @k, or if launches are not traced. */
static double launches_differ(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	double sum = 0;

	for (size_t i = (size_t)k; i < n; i++)
		sum += fmin(fabs(log((b[i].launches + 1.0) / (b[i - (size_t)k].launches + 1.0))), 1);
	return n > (size_t)k ? sum / (double)(n - (size_t)k) : 0;
}

/*
 * Return whether the launches show that each wait is a minibatch by itself: most waits are merged
 * from more than JETWATT_PERIOD_MAX waits, or follow as many launches as the previous wait. If each
 * wait is a minibatch, longer gaps that recur after every fourth minibatch, for instance, are
 * caused by four processes that load data in turn. A small number of launches per wait does not
 * show this, because each launch may be a CUDA graph.
 */
static bool launches_show_single(const struct jetwatt_batch_wait *b, size_t n)
{
	size_t many = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		many += b[i].waits > JETWATT_PERIOD_MAX;
		equal += i && b[i].launches >= LAUNCHES_MANY &&
			 fabs((double)b[i].launches - b[i - 1].launches) <= LAUNCHES_EQUAL * b[i].launches;
	}
	return 2 * many > n || (double)equal >= LAUNCHES_SHARE * (double)n;
}

/*
 * A gap in the middle of a minibatch may be as long as the gap before the minibatch. Return the
 * period that the numbers of launches show: the smallest multiple of @k with which they repeat, if
 * they do not repeat with @k; else @k.
 */
static int repeat_launches(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	double differ = k > 1 ? launches_differ(b, n, k) : 0;

	for (int m = 2 * k; differ > LAUNCHES_DIFFER && m <= JETWATT_PERIOD_MAX; m += k)
		if (launches_differ(b, n, m) < differ / 4)
			return m;
	return k;
}

/* Return whether the numbers of launches show that a period of @k waits is the job's own, and not a
 * beat with a disturbance: the numbers repeat after @k waits, and differ within @k waits. */
static bool launches_show(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	double differ = launches_differ(b, n, 1);

	return differ > LAUNCHES_DIFFER / 2 && launches_differ(b, n, k) < differ / 4;
}

/* Return the mean difference between waits that are @k apart, in length and call: small if the
 * waits repeat with the period @k. */
static double mismatch(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	double sum = 0;

	for (size_t i = (size_t)k; i < n; i++)
		sum += fmin(fabs(b[i].wait - b[i - (size_t)k].wait), 1) +
		       (b[i].caller != b[i - (size_t)k].caller);
	return n > (size_t)k ? sum / (double)(n - (size_t)k) : 0;
}

/* Return: period of the peaks of the series @s, in waits: of the periods that fit, the smallest one with
 * peaks of similar height and waits that repeat, else the largest one; 1: none fits. @how: set to the fit of the
 * returned period if that is not 1. @beat: set to true if a period fits, but a disturbance that recurs may have
 * caused it; may be NULL. */
static int find_period(const struct jetwatt_batch_wait *b, const struct jetwatt_peaks *s,
		       size_t *at, struct jetwatt_period_fit *how, bool *beat)
{
	struct jetwatt_period_fit fit[JETWATT_PERIOD_MAX + 1];
	double best = INFINITY, most = 0;
	int k, take = 1;

	for (k = 2; k <= JETWATT_PERIOD_MAX; k++) {
		fit[k] = jetwatt_peaks_test(s, k, at);
		if (!fit[k].fits)
			continue;
		fit[k].fits = launches_show(b, s->n, k) ||
			      jetwatt_period_is_own(b, at, jetwatt_peaks_list(s, k, at), k, s->scratch);
		if (beat)
			*beat |= !fit[k].fits;
		if (fit[k].fits)
			most = fmax(most, fit[k].in_step * fit[k].covered);
	}
	for (k = 2; k <= JETWATT_PERIOD_MAX; k++) {
		fit[k].fits = fit[k].fits && fit[k].in_step * fit[k].covered >= MOST * most;
		if (fit[k].fits)
			best = fmin(best, mismatch(b, s->n, k));
	}
	for (k = 2; k <= JETWATT_PERIOD_MAX; k++) {
		if (!fit[k].fits)
			continue;
		take = k;
		if (fit[k].uneven < 0.25 && mismatch(b, s->n, k) <= 2 * best + 0.05)
			break;
	}
	if (take > 1)
		*how = fit[take];
	return take;
}

/* Label a sequence of waits that does not belong to the usual phase: with its own period, or
 * each wait as a minibatch. */
static void label_phase(struct jetwatt_batch_wait *b, const double *v, size_t n, size_t *at,
			double *scratch)
{
	struct jetwatt_peaks s = { v, n, MARGIN, scratch };
	struct jetwatt_period_fit how;
	int k = n >= 6 ? find_period(b, &s, at, &how, NULL) : 1;

	b[0].starts_minibatch = true;
	for (size_t i = 0; i < n; i++) {
		b[i].other_phase = true;
		b[i].rule = JETWATT_RULE_PHASE;
		b[i].period = (uint8_t)k;
		if (i && (k == 1 || jetwatt_peaks_at(&s, i, k)))
			b[i].starts_minibatch = true;
		if (i && k > 1)
			b[i].score = b[i].starts_minibatch ? (float)jetwatt_peaks_above(&s, i, k)
							   : b[i - 1].score;
	}
}

/*
 * Divide the waits into groups of the usual period, which get the rule @rule, and other phases. If a
 * sequence is labelled as another phase only because a disturbance hides its period, it is not
 * another phase: the label is removed and the division is repeated.
 */
static int label_groups(struct jetwatt_batch_wait *b, const struct jetwatt_peaks *s, double *v,
			size_t *at, struct jetwatt_period *r, double slip,
			enum jetwatt_batch_rule rule)
{
	double contrast = jetwatt_peaks_contrast(s, r->k);
	size_t n = s->n, hidden = 1;

	for (size_t i = 0; i < n; i++)
		b[i].in_phase = false;
	for (int pass = 0; pass < PASSES && hidden; pass++) {
		int rc;

		for (size_t i = 0; i < n; i++)
			b[i].rule = (uint8_t)rule;
		rc = jetwatt_group_waits(b, v, n, r->k, contrast, slip, r);

		if (rc < 0)
			return rc;
		hidden = (size_t)rc;
		for (size_t i = 0, j; i < n; i = j) {
			for (j = i + 1; j < n && b[j].other_phase == b[i].other_phase; j++)
				;
			if (!b[i].other_phase ||
			    jetwatt_phase_differs(b, n, i, j, r->k, s->scratch))
				continue;
			hidden++;
			for (size_t l = i; l < j; l++)
				b[l].in_phase = true;
		}
	}
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && b[j].other_phase == b[i].other_phase; j++)
			;
		if (b[i].other_phase)
			label_phase(b + i, v + i, j - i, at, s->scratch);
	}
	return 0;
}

/* Label a phase of period k at the peaks @at[0..n-1], unless chance or a disturbance may cause them. */
static void label_peak_phase(struct jetwatt_batch_wait *b, const struct jetwatt_peaks *s,
			     const size_t *at, size_t n, int k)
{
	size_t begin = at[0], last = at[n - 1], end, out = 0, step = (size_t)k;
	double clear;

	end = last + step < s->n ? last + step : s->n;
	for (size_t i = 0; i < n; i++)
		out += jetwatt_peaks_stand_out(s, at, n, i, k, begin, end);
	if (n < RUN_MIN || out * 10 < n * 8)
		return;
	clear = jetwatt_peaks_separation(s, at, n, k);
	if (clear < JETWATT_PEAKS_WELL_SEPARATED ||
	    !jetwatt_phase_is_own(b, s->n, at, n, k, s->scratch))
		return;
	/* The wait before the phase may hide the phase's first peak. */
	if (begin > step && jetwatt_peaks_lead(s, begin - step, k, begin))
		begin -= step;
	for (size_t i = begin; i < end; i++) {
		b[i].starts_minibatch = (i - begin) % step == 0;
		b[i].other_phase = true;
		b[i].rule = JETWATT_RULE_PHASE;
		b[i].period = (uint8_t)k;
		b[i].score = (float)clear;
	}
}

/*
 * Label every wait as a minibatch, except phases with periodic peaks. @s: series of peaks; NULL:
 * ignore peaks, because another job may have caused them.
 */
static void label_singles(struct jetwatt_batch_wait *b, const struct jetwatt_peaks *s, size_t n,
			  size_t *at, double confidence)
{
	for (size_t i = 0; i < n; i++) {
		b[i].starts_minibatch = true;
		b[i].other_phase = false;
		b[i].rule = JETWATT_RULE_SINGLE;
		b[i].score = (float)confidence;
	}
	for (int k = JETWATT_PERIOD_MAX; s && k >= 2; k--) {
		size_t peaks = 0, run = 0;

		for (size_t i = 1; i < s->n; i++)
			if (jetwatt_peaks_at(s, i, k))
				at[peaks++] = i;
		for (size_t j = 1; j <= peaks; j++) {
			if (j < peaks && at[j] - at[j - 1] == (size_t)k)
				continue;
			label_peak_phase(b, s, at + run, j - run, k);
			run = j;
		}
	}
}

/* Return the number of waits after which the order of threads and calls repeats; 0 if it does
 * not repeat. */
static int calls_repeat(const struct jetwatt_batch_wait *b, size_t n)
{
	for (int k = 1; k <= JETWATT_PERIOD_MAX && n >= 3 * (size_t)k; k++) {
		size_t bad = 0;

		for (size_t i = (size_t)k; i < n; i++)
			bad += b[i].caller != b[i - (size_t)k].caller;
		if (bad * 8 <= n - (size_t)k)
			return k;
	}
	return 0;
}

bool jetwatt_period_calls(const struct jetwatt_batch_wait *b, size_t n)
{
	return calls_repeat(b, n) > 0;
}

/*
 * Among the changes from one caller to another, select, of those that occur at most about once
 * per minibatch, the one after the longest gap. @v: set to 1 where the selected change
 * occurs and to 0 elsewhere. Return whether there is such a change.
 */
static bool mark_caller_change(const struct jetwatt_batch_wait *b, size_t n, int k, double *v)
{
	double best = -INFINITY;
	uint32_t from = 0, to = 0;

	for (size_t i = 1; i <= (size_t)k && i < n; i++) {
		double gap = 0;
		size_t found = 0;

		if (b[i].caller == b[i - 1].caller)
			continue;
		for (size_t j = 1; j < n; j++)
			if (b[j].caller == b[i].caller && b[j - 1].caller == b[i - 1].caller) {
				gap += b[j].gap;
				found++;
			}
		if (found * (size_t)k * 4 > n * 5 || !found || gap / (double)found <= best)
			continue;
		best = gap / (double)found;
		from = b[i - 1].caller;
		to = b[i].caller;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = i && b[i].caller == to && b[i - 1].caller == from && from != to;
	return best > -INFINITY;
}

/*
 * Search the period in one series after the other, and set @r->k. @v: the gaps; set to the series
 * that showed the period. @how: set to the fit of the period; @fold: set to the period that fold.c
 * finds, 1: none. Return: the rule by which the period was found.
 */
static enum jetwatt_batch_rule search_period(const struct jetwatt_batch_wait *b, struct jetwatt_peaks *s,
					     double *v, size_t *at, enum jetwatt_period_by by,
					     struct jetwatt_period *r, struct jetwatt_period_fit *how, int *fold)
{
	enum jetwatt_batch_rule rule = JETWATT_RULE_GAP;
	size_t n = s->n;
	int calls;

	r->k = repeat_launches(b, n, find_period(b, s, at, how, &r->beat));
	*fold = by == JETWATT_PERIOD_BY_PEAKS ? 1 : jetwatt_fold_find(b, n, s->scratch);
	*fold = repeat_launches(b, n, *fold);
	if (*fold > 1 && (r->k == 1 || how->in_step < SURE_STEP)) {
		/* A disturbance hides the peaks of this job or adds other peaks. */
		r->other_k = r->k > 1 && r->k != *fold ? r->k : 0;
		r->k = *fold;
		how->in_step = 1;
		rule = JETWATT_RULE_FOLDED_GAP;
		jetwatt_fold_smooth(v, n, *fold, s->scratch);
	}
	if (r->k == 1 && r->launches) {
		/* There are no peaks among the gaps, but the times until the first launch may have
		 * some. */
		for (size_t i = 0; i < n; i++)
			v[i] = b[i].idle;
		rule = JETWATT_RULE_IDLE;
		r->k = find_period(b, s, at, how, NULL);
	}
	if (r->k == 1) {
		/* The times until the first launch have no peaks either, but the lengths of the
		 * waits may differ. */
		for (size_t i = 1; i < n; i++)
			v[i] = b[i - 1].wait - b[i].wait;
		s->margin = JETWATT_WAIT_MARGIN;
		rule = JETWATT_RULE_WAIT;
		r->k = find_period(b, s, at, how, NULL);
		if (r->k > 1 && !jetwatt_waits_vary(b, v, n, r->k, at))
			r->k = 1;
	}
	if (r->k == 1) {
		calls = calls_repeat(b, n);
		s->margin = 0.5;
		rule = JETWATT_RULE_CALLER;
		if (calls > 1 && mark_caller_change(b, n, calls, v))
			r->k = find_period(b, s, at, how, NULL);
	}
	return rule;
}

/*
 * Label the waits that probably begin a minibatch. @by: whether only visible peaks are used, or
 * also peaks that a disturbance hides. Return: 0; -ENOMEM.
 */
int jetwatt_period_estimate(struct jetwatt_batch_wait *b, size_t n, enum jetwatt_period_by by,
			    struct jetwatt_period *r)
{
	struct jetwatt_period_fit how = { .covered = 1 };
	struct jetwatt_peaks s = { .n = n, .margin = MARGIN };
	size_t *at = calloc(n + 1, sizeof(*at));
	double *v = calloc(2 * (n + 1), sizeof(*v));
	enum jetwatt_batch_rule rule = JETWATT_RULE_GAP;
	int fold = 1, rc = 0;

	*r = (struct jetwatt_period){ .k = 1, .shared = r->shared, .launches = r->launches,
				      .why = r->why, .cycle = r->cycle,
				      .single = r->launches && launches_show_single(b, n) };
	if (!at || !v) {
		free(at);
		free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = b[i].gap;
		b[i].starts_minibatch = b[i].other_phase = false;
	}
	s.v = v;
	s.scratch = v + n + 1;
	if (!r->single)
		rule = search_period(b, &s, v, at, by, r, &how, &fold);
	if (r->k > 1) {
		if (r->launches && jetwatt_shift_to_idle(b, v, n, r->k, &s, at))
			rule = JETWATT_RULE_IDLE;
		rc = label_groups(b, &s, v, at, r, r->k == fold ? SLIP : 1, rule);
		r->confidence = how.in_step * fmin(1, (double)n / (6.0 * r->k));
		if (r->shared && calls_repeat(b, n) <= 1 &&
		    !jetwatt_starts_are_own(b, n, s.scratch))
			r->k = 1;
	}
	if (r->k == 1) {
		for (size_t i = 0; i < n; i++)
			v[i] = b[i].gap;
		s.margin = MARGIN;
		r->confidence = fmin(1, (double)n / 12);
		label_singles(b, r->shared || r->single ? NULL : &s, n, at, r->confidence);
	}
	free(at);
	free(v);
	return rc;
}
