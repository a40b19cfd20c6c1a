// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the minibatches of jobs whose steps have different numbers of waits, by the pauses of the GPU.
 * An example is speculative decoding: a decode step waits for each draft token, a chunk of a prompt
 * waits twice. Such steps have no common period. If the launches of a job are traced, the pause before
 * a wait is the time in which the job has no work on the GPU: it is short within a step, and long
 * between two steps, in which the program samples tokens, answers requests or loads data.
 */
#include "minibatch/pauses.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "minibatch/minibatch.h"
#include "minibatch/order.h"
#include "minibatch/viterbi.h"

/* minimum ratio of long to short pauses */
#define RATIO		2.5
/* a pause within this factor of the limit between short and long ones is neither */
#define UNCLEAR		1.2
/* minimum share of the short pauses, and of the long ones, among all pauses; share of all pauses,
 * on each side, that may be of any length, because other processes delay some waits */
#define SHARE		0.05
#define STRAY		0.02
/* minimum share of the waits that belong to kinds of steps */
#define COVERED		0.95

static bool is_clear(const struct jetwatt_batch_wait *b, double limit)
{
	return jetwatt_pause_of(b) > limit * UNCLEAR || jetwatt_pause_of(b) < limit / UNCLEAR;
}

/* Label the waits from @from to @to - 1 as one step. */
static void label_step(struct jetwatt_batch_wait *b, size_t from, size_t to, double limit)
{
	for (size_t i = from; i < to; i++) {
		b[i].starts_minibatch = i == from;
		b[i].rule = JETWATT_RULE_PAUSE;
		b[i].score = (float)fabs(log(jetwatt_pause_of(&b[i]) / limit));
	}
}

/* ------------------------------------------------------------------ */
/* Kinds of steps                                                     */

/* Return the limit in the middle of the widest gap between sorted pauses (logarithms), of which the fraction STRAY
 * on each side is disregarded; 0: the pauses are not of two kinds. */
static double find_limit(const struct jetwatt_batch_wait *b, size_t n, double *pause)
{
	size_t m = n - 1, edge = (size_t)(SHARE * (double)m) + 1, stray = (size_t)(STRAY * (double)m);
	double widest = log(RATIO), limit = 0;

	for (size_t i = 0; i < m; i++)
		pause[i] = log(jetwatt_pause_of(&b[i + 1]));
	qsort(pause, m, sizeof(*pause), jetwatt_minibatch_order_doubles);
	for (size_t i = edge; i + edge <= m; i++) {
		double low = pause[i - 1 - stray], high = pause[i + stray];

		if (high - low > widest) {
			widest = high - low;
			limit = exp((high + low) / 2);
		}
	}
	return limit;
}

/* Return the index behind the last wait of the step that begins with wait @i. */
static size_t step_end(const struct jetwatt_batch_wait *b, size_t n, size_t i, double limit)
{
	size_t end = i + 1;

	while (end < n && jetwatt_pause_of(&b[end]) < limit)
		end++;
	return end;
}

/* Return the kind of the step of the waits from @from to @to - 1; NULL: none. @least: minimum number of steps of
 * the kind. */
static struct jetwatt_step_kind *kind_of(const struct jetwatt_batch_wait *b, size_t from, size_t to,
					 struct jetwatt_step_kind *kind, size_t least)
{
	uint32_t launches[JETWATT_PAUSE_WAITS];
	size_t n = to - from;

	if (n > JETWATT_PAUSE_WAITS)
		return NULL;
	for (size_t i = 0; i < n; i++)
		launches[i] = b[from + i].launches;
	for (struct jetwatt_step_kind *k = kind; k < kind + JETWATT_PAUSE_KINDS && k->steps; k++)
		if (k->waits == n && k->steps >= least && jetwatt_begins_kind(k, launches, n))
			return k;
	return NULL;
}

static void add_kind(const struct jetwatt_batch_wait *b, size_t from, size_t to, struct jetwatt_step_kind *k)
{
	k->waits = to - from;
	k->steps = 1;
	for (size_t i = from; i < to; i++)
		k->launches[i - from] = b[i].launches;
}

/* Find the kinds of the steps. The steps at both ends may be incomplete, so they are not counted. */
static void find_kinds(const struct jetwatt_batch_wait *b, size_t n, double limit, struct jetwatt_step_kind *kind)
{
	int kinds = 0;

	for (size_t i = step_end(b, n, 0, limit), end; i < n; i = end) {
		struct jetwatt_step_kind *k;

		end = step_end(b, n, i, limit);
		if (end == n)
			break;
		k = kind_of(b, i, end, kind, 0);
		if (k)
			k->steps++;
		else if (kinds < JETWATT_PAUSE_KINDS && end - i <= JETWATT_PAUSE_WAITS)
			add_kind(b, i, end, &kind[kinds++]);
	}
}

/* As step_end(), but a pause does not end a step if this step and the next one or two are together a step of a
 * more frequent kind: another process has delayed a wait in the middle of it. */
static size_t whole_end(const struct jetwatt_batch_wait *b, size_t n, size_t i, double limit,
			struct jetwatt_step_kind *kind)
{
	size_t end = step_end(b, n, i, limit), next = end;
	const struct jetwatt_step_kind *part = kind_of(b, i, end, kind, JETWATT_STEPS_MIN), *whole;

	for (int parts = 0; parts < 2 && next < n; parts++) {
		next = step_end(b, n, next, limit);
		whole = kind_of(b, i, next, kind, JETWATT_STEPS_MIN);
		if (whole && (!part || whole->steps > part->steps))
			return next;
	}
	return end;
}

/*
 * Return the number of waits in a step of the kind with most steps, if nearly all waits belong to
 * kinds with several steps, and if these kinds differ in their number of waits; else, or if it is
 * above JETWATT_PERIOD_MAX, 0.
 */
static size_t usual_waits(const struct jetwatt_batch_wait *b, size_t n, double limit, struct jetwatt_step_kind *kind)
{
	size_t start = step_end(b, n, 0, limit), all = 0, covered = 0, most = 0, steps[JETWATT_PAUSE_KINDS] = { 0 };
	bool differ = false;

	for (size_t i = start, end; i < n; i = end) {
		const struct jetwatt_step_kind *of;

		end = whole_end(b, n, i, limit, kind);
		of = kind_of(b, i, end, kind, JETWATT_STEPS_MIN);
		all += end < n ? end - i : 0;
		covered += end < n && of ? end - i : 0;
		if (of)
			steps[of - kind]++;
	}
	for (size_t k = 0; k < JETWATT_PAUSE_KINDS; k++)
		most = steps[k] > steps[most] ? k : most;
	for (size_t k = 0; k < JETWATT_PAUSE_KINDS; k++)
		differ |= steps[k] >= JETWATT_STEPS_MIN && kind[k].waits != kind[most].waits;
	if (!differ || (double)covered < COVERED * (double)all || kind[most].waits > JETWATT_PERIOD_MAX)
		return 0;
	return kind[most].waits;
}

int jetwatt_pauses_label(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	double *scratch = malloc(n * sizeof(*scratch)), limit;
	struct jetwatt_step_kinds found = { 0 };
	struct jetwatt_step_kind *kind = found.kind;
	size_t k = 0;

	if (!scratch)
		return -ENOMEM;
	limit = find_limit(b, n, scratch);
	free(scratch);
	if (limit > 0) {
		find_kinds(b, n, limit, kind);
		k = usual_waits(b, n, limit, kind);
	}
	if (k < 2)
		return 0;
	found.limit = limit;
	r->steps = found;
	if (r->model.train.k)
		return 0;
	r->k = (int)k;
	r->confidence = COVERED;
	r->missing = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = whole_end(b, n, i, limit, kind);
		label_step(b, i, end, limit);
		for (size_t j = i; j < end; j++) {
			b[j].other_phase = end - i != k;
			b[j].phase_index = (uint8_t)(j - i < JETWATT_PHASE_INDEX_EXTRA ? j - i :
						     JETWATT_PHASE_INDEX_EXTRA);
			b[j].period = (uint8_t)(end - i < UINT8_MAX ? end - i : UINT8_MAX);
			b[j].missing = 0;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Beside a model                                                     */

static bool has_index(const struct jetwatt_batch_wait *b, size_t p)
{
	return !b->other_phase && b->phase_index == p && !b->missing;
}

/* Take @n waits out of the usual cycle. */
static void leave_cycle(struct jetwatt_batch_wait *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		b[i].other_phase = true;
		b[i].phase_index = JETWATT_PHASE_INDEX_NONE;
		b[i].rule = JETWATT_RULE_PAUSE;
	}
}

/* Set the median pause before the waits with phase index @p, and the median of their launches. Return:
 * whether there are such waits. */
static bool usual_of(const struct jetwatt_batch_wait *b, size_t n, size_t p, double *scratch, double *pause,
		     uint32_t *launches)
{
	size_t m = 0;

	for (size_t i = 1; i < n; i++)
		if (has_index(&b[i], p))
			scratch[m++] = jetwatt_pause_of(&b[i]);
	*pause = m ? jetwatt_peaks_median(scratch, m) : 0;
	m = 0;
	for (size_t i = 1; i < n; i++)
		if (has_index(&b[i], p))
			scratch[m++] = b[i].launches;
	*launches = m ? (uint32_t)jetwatt_peaks_median(scratch, m) : 0;
	return m > 0;
}

/*
 * Return the limit between the pauses within the usual minibatches of @k waits and those between them;
 * 0: they do not differ enough. @launches: receives the usual launches before each wait.
 */
static double learned_limit(const struct jetwatt_batch_wait *b, size_t n, size_t k, double *scratch,
			    uint32_t *launches)
{
	double first, inner = 0, pause;

	if (!usual_of(b, n, 0, scratch, &first, launches))
		return 0;
	for (size_t p = 1; p < k; p++) {
		if (!usual_of(b, n, p, scratch, &pause, &launches[p]))
			return 0;
		inner = fmax(inner, pause);
	}
	return first > RATIO * inner ? sqrt(first * inner) : 0;
}

/*
 * Take the waits of a cycle out of the cycle if its launches are not the usual ones, and the long pauses within it
 * divide it into steps with the same launches: they are steps of another kind. The last step may continue
 * after the cycle.
 */
static void reject_cycle(struct jetwatt_batch_wait *b, size_t k, double limit, const uint32_t *launches)
{
	size_t step = 0;
	bool differ = false;

	for (size_t p = 0, at = 0; p < k; p++, at++) {
		if (!has_index(&b[p], p))
			return;
		differ |= !jetwatt_launches_alike(b[p].launches, launches[p]);
		if (p && jetwatt_pause_of(&b[p]) > limit) {
			if ((step && at != step) || !is_clear(&b[p], limit))
				return;
			step = at;
			at = 0;
		}
		if (step && !jetwatt_launches_alike(b[p].launches, b[at].launches))
			return;
	}
	if (step && differ)
		leave_cycle(b, k);
}

/* Begin a sequence that is in no usual cycle with the last long pause, if that was less than @k waits before wait
 * @i, in an incomplete cycle. Return: index of the first wait of the sequence. */
static size_t extend_back(struct jetwatt_batch_wait *b, size_t i, size_t k, double limit)
{
	size_t from = i;

	if (has_index(&b[i - 1], k - 1))
		return i;
	while (from > 1 && i - from < k && jetwatt_pause_of(&b[from]) < limit)
		from--;
	if (from == i || i - from >= k || !(jetwatt_pause_of(&b[from]) > limit * UNCLEAR))
		return i;
	leave_cycle(b + from, i - from);
	return from;
}

/* Label a step of @k waits as a usual minibatch if its launches are the usual ones. */
static void label_as_usual(struct jetwatt_batch_wait *b, size_t k, const uint32_t *launches)
{
	for (size_t p = 0; p < k; p++)
		if (!jetwatt_launches_alike(b[p].launches, launches[p]))
			return;
	for (size_t p = 0; p < k; p++) {
		b[p].other_phase = false;
		b[p].phase_index = (uint8_t)p;
		b[p].missing = 0;
	}
}

/*
 * Divide sequences of waits that are in no cycle at the long pauses. A sequence with a pause that is neither short
 * nor long is not changed, nor is one whose pauses are all long; nor, unless it was extended back to a long
 * pause, one whose pauses are all short.
 */
static void divide_sequences(struct jetwatt_batch_wait *b, size_t n, size_t k, double limit,
			     const uint32_t *launches)
{
	for (size_t i = 1, j, first; i < n; i = j) {
		bool clear = is_clear(&b[i], limit), is_short = jetwatt_pause_of(&b[i]) < limit, is_long = false;

		for (j = i + 1; j < n && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     b[i].phase_index == JETWATT_PHASE_INDEX_NONE; j++) {
			clear &= is_clear(&b[j], limit);
			is_short |= jetwatt_pause_of(&b[j]) < limit;
			is_long |= jetwatt_pause_of(&b[j]) > limit;
		}
		if (b[i].phase_index != JETWATT_PHASE_INDEX_NONE || !clear || !is_short)
			continue;
		first = extend_back(b, i, k, limit);
		if (first == i && !is_long)
			continue;
		for (size_t l = first, end; l < j; l = end) {
			end = step_end(b, j, l, limit);
			label_step(b, l, end, limit);
			if (l == first && l < i && end - l == k)
				label_as_usual(b + l, k, launches);
		}
	}
}

int jetwatt_pauses_divide(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	double *scratch = malloc(n * sizeof(*scratch)), limit;
	uint32_t launches[JETWATT_PERIOD_MAX];
	size_t k = (size_t)r->k;

	if (!scratch)
		return -ENOMEM;
	limit = learned_limit(b, n, k, scratch, launches);
	free(scratch);
	for (size_t i = 1; i + k <= n && limit > 0; i++)
		reject_cycle(b + i, k, limit, launches);
	if (limit > 0)
		divide_sequences(b, n, k, limit, launches);
	return 0;
}
