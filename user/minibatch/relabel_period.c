// SPDX-License-Identifier: GPL-2.0-only
/* Labels sequences that the Viterbi path puts into no cycle but that have the job's period, its callers
 * and launches, or its duration; and moves misplaced starts of minibatches. */
#include "minibatch/pauses.h"
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

/* minimum length of a sequence that is relabelled because of its period, in minibatches */
#define STRETCH		6
/* minimum confidence in the period of a sequence that is relabelled */
#define IN_STEP		0.9
/* minimum duration of a sequence that is relabelled because of its callers and launches, as a
 * fraction of the usual duration; also the inverse of the maximum duration if only the duration
 * shows that the sequence belongs to the cycle */
#define AS_LONG		0.75

/* replaces AS_LONG for a sequence of a whole cycle, because only the duration of such a sequence
 * shows that it is usual */
#define AS_LONG_WHOLE	0.95

/* maximum difference between the length of a wait and that of the wait with the same phase index in
 * another cycle (logarithm) */
#define LIKE		0.35

/* Label sequences that are in no cycle but have the job's period. The times of such sequences
 * differ from those of the cycle, for instance because another job delays the waits. */
static int regain_stretch(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	struct jetwatt_period found = { .shared = r->shared };
	struct jetwatt_batch_wait *some = malloc(n * sizeof(*some));
	int rc, at = 0;

	if (!some)
		return -ENOMEM;
	memcpy(some, b, n * sizeof(*some));
	rc = jetwatt_period_estimate(some, n, JETWATT_PERIOD_BY_ANY, &found);
	for (size_t i = 0; i < n && !rc && found.k == r->k && found.confidence > IN_STEP; i++) {
		at = some[i].starts_minibatch ? 0 : at + 1;
		if (some[i].other_phase)
			continue;
		b[i].other_phase = false;
		b[i].phase_index = at < r->k ? (uint8_t)at : JETWATT_PHASE_INDEX_EXTRA;
		b[i].starts_minibatch = !at;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = (float)found.confidence;
	}
	free(some);
	return rc;
}

static bool looks_like(const struct jetwatt_batch_wait *a, const struct jetwatt_batch_wait *b)
{
	return a->caller == b->caller && a->launches == b->launches;
}

/* Return whether wait @i has phase index @p of the usual cycle. */
static bool is_usual(const struct jetwatt_batch_wait *b, size_t i, size_t p)
{
	return !b[i].other_phase && b[i].phase_index == p;
}

/*
 * Return whether the callers and launches of the waits from @from to @to - 1 are those of the two
 * cycles of @k waits before them, in which not all waits look alike, and the waits take at least
 * AS_LONG of the usual time. (An evaluation takes less time, and a checkpoint has other callers.)
 * @first: phase index of wait @from in the usual cycle.
 */
static bool has_usual_callers(const struct jetwatt_batch_wait *b, size_t from, size_t to, size_t first,
			      size_t k)
{
	double usual_ns = 0, ns = 0;
	bool differ = false;

	if (from < 2 * k)
		return false;
	for (size_t i = from - k; i < from; i++) {
		size_t p = (first + i - (from - k)) % k;

		if (!is_usual(b, i, p) || !is_usual(b, i - k, p) || !looks_like(&b[i], &b[i - k]))
			return false;
		differ |= !looks_like(&b[i], &b[from - 1]);
	}
	for (size_t i = from; i < to; i++) {
		const struct jetwatt_batch_wait *usual = &b[from - k + (i - from) % k];

		if (!looks_like(&b[i], usual))
			return false;
		/* The disturbance may have begun in the cycle before @from, so the shorter of the
		 * two cycles counts. */
		usual_ns += fmin(usual->cycle_ns, (usual - k)->cycle_ns);
		ns += b[i].cycle_ns;
	}
	return differ && ns >= AS_LONG * usual_ns;
}

/* Return whether the waits from @from to @to - 1 and the usual waits beside them, if any, are one cycle
 * that is as long as the cycle before it. */
static bool completes_cycle(const struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to,
			    size_t first, size_t k)
{
	size_t start = from - first, end = start + k;
	double as_long = to - from < k ? AS_LONG : AS_LONG_WHOLE, usual_ns = 0, ns = 0;

	if (from < first + k || to > end || end > n)
		return false;
	for (size_t i = start; i < end; i++) {
		bool strange = i >= from && i < to;

		if (!is_usual(b, i - k, i - start) || (!strange && !is_usual(b, i, i - start)) ||
		    (to - from == k && !looks_like(&b[i], &b[i - k])))
			return false;
		usual_ns += b[i - k].cycle_ns;
		ns += b[i].cycle_ns;
	}
	return ns >= as_long * usual_ns && ns * as_long <= usual_ns;
}

/* Label the waits from @from to @to - 1 as a part of the usual cycle that begins with phase index
 * @first. */
static void label_usual(struct jetwatt_batch_wait *b, size_t from, size_t to, size_t first, size_t k)
{
	for (size_t i = from; i < to; i++) {
		b[i].other_phase = false;
		b[i].phase_index = (uint8_t)((first + i - from) % k);
		b[i].starts_minibatch = !b[i].phase_index;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = 1;
	}
}

/* Label the waits from @from to @to - 1, which are in no cycle, if they belong to minibatches that a
 * disturbance has delayed: the waits before and after them, if any, continue the cycle. Return:
 * true if the waits belong to delayed minibatches. */
static bool regain_disturbed(struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to, size_t k)
{
	size_t first;

	if (!from || b[from - 1].other_phase)
		return false;
	first = (b[from - 1].phase_index + 1u) % k;
	if (to < n && !is_usual(b, to, (first + to - from) % k))
		return false;
	if (!has_usual_callers(b, from, to, first, k) && !completes_cycle(b, n, from, to, first, k))
		return false;
	label_usual(b, from, to, first, k);
	return true;
}

/* Return the first wait with which two usual cycles of @k waits begin; @n: none. */
static size_t first_cycles(const struct jetwatt_batch_wait *b, size_t n, size_t k)
{
	size_t usual = 0;

	for (size_t i = 0; i < n; i++) {
		usual = is_usual(b, i, usual % k) ? usual + 1 : is_usual(b, i, 0);
		if (usual == 2 * k)
			return i + 1 - usual;
	}
	return n;
}

/* The trace may begin in the middle of a minibatch. If some of the first waits of the trace are in
 * no cycle, but each is as long as the wait with the same phase index in the first usual cycle,
 * continue the cycle backwards. The length of the very first wait is unknown if the trace begins
 * during this wait. */
static void regain_first(struct jetwatt_batch_wait *b, size_t n, size_t k)
{
	size_t start = first_cycles(b, n, k), first;
	bool strange = false;

	if (start == n || start >= 2 * k)
		return;
	first = (2 * k - start) % k;
	for (size_t i = 0; i < start; i++) {
		const struct jetwatt_batch_wait *usual = &b[start + (first + i) % k];
		bool in_cycle = b[i].phase_index < k;

		if ((b[i].other_phase && in_cycle) || !looks_like(&b[i], usual) ||
		    (i && fabs(b[i].wait - usual->wait) > LIKE))
			return;
		strange |= !in_cycle;
	}
	if (strange)
		label_usual(b, 0, start, first, k);
}

int jetwatt_regain(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	int rc = 0;

	for (size_t i = 0, j; i < n && !rc && r->k > 1; i = j) {
		for (j = i + 1; j < n && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     b[i].phase_index == JETWATT_PHASE_INDEX_NONE; j++)
			;
		if (b[i].phase_index == JETWATT_PHASE_INDEX_NONE &&
		    !regain_disturbed(b, n, i, j, (size_t)r->k) && j - i >= STRETCH * (size_t)r->k)
			rc = regain_stretch(b + i, j - i, r);
	}
	if (r->k > 1)
		regain_first(b, n, (size_t)r->k);
	if (!rc && r->k > 1 && r->launches)
		rc = jetwatt_pauses_divide(b, n, r);
	return rc;
}

void jetwatt_even_out(struct jetwatt_batch_wait *b, size_t n, size_t k)
{
	size_t at[5] = { 0 }, starts = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && !b[i].starts_minibatch)
			continue;
		memmove(at, at + 1, sizeof(at) - sizeof(*at));
		at[4] = i;
		if (++starts < 5 || at[1] - at[0] != k || at[4] - at[3] != k || at[3] - at[1] != 2 * k ||
		    at[2] - at[1] == k || b[at[1] + k].other_phase || b[at[2]].other_phase)
			continue;
		b[at[2]].starts_minibatch = false;
		b[at[1] + k].starts_minibatch = true;
		at[2] = at[1] + k;
	}
}
