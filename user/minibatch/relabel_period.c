// SPDX-License-Identifier: GPL-2.0-only
/* Labels sequences that the Viterbi path puts into no cycle but that have the job's period, or its
 * callers and launches. */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

/* minimum length of a sequence that is relabelled, in minibatches */
#define STRETCH		6
/* minimum confidence in the period of a sequence that is relabelled */
#define IN_STEP		0.9
/* maximum length of a sequence that is relabelled because of its callers and launches, in
 * minibatches */
#define DISTURBED	2
/* minimum duration of such a sequence, as a fraction of the usual duration */
#define AS_LONG		0.75

/* Label sequences that are in no cycle but have the job's period. The times of such a sequence
 * are unusual, because another job delays the waits for instance. */
static int regain_stretch(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	struct jetwatt_period own = { .shared = r->shared };
	struct jetwatt_batch_wait *some = malloc(n * sizeof(*some));
	int rc, at = 0;

	if (!some)
		return -ENOMEM;
	memcpy(some, b, n * sizeof(*some));
	rc = jetwatt_period_guess(some, n, JETWATT_PERIOD_BY_ANY, &own);
	for (size_t i = 0; i < n && !rc && own.k == r->k && own.confidence > IN_STEP; i++) {
		at = some[i].starts_minibatch ? 0 : at + 1;
		if (some[i].other_phase)
			continue;
		b[i].other_phase = false;
		b[i].phase_index = at < r->k ? (uint8_t)at : JETWATT_PHASE_INDEX_EXTRA;
		b[i].starts_minibatch = !at;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = (float)own.confidence;
	}
	free(some);
	return rc;
}

static bool looks_like(const struct jetwatt_batch_wait *a, const struct jetwatt_batch_wait *b)
{
	return a->caller == b->caller && a->launches == b->launches;
}

/* Return whether the two cycles of @k waits before wait @at are usual ones and look alike, and the
 * waits of a cycle do not all look alike. */
static bool is_told_apart(const struct jetwatt_batch_wait *b, size_t at, size_t k)
{
	bool differ = false;

	if (at < 2 * k)
		return false;
	for (size_t i = at - k; i < at; i++) {
		if (b[i].other_phase || b[i - k].other_phase || b[i].phase_index != b[i - k].phase_index ||
		    b[i].phase_index >= k || !looks_like(&b[i], &b[i - k]))
			return false;
		differ |= !looks_like(&b[i], &b[at - 1]);
	}
	return differ;
}

/*
 * Label the waits from @from to @to - 1, which are in no cycle, if they belong to minibatches that a
 * disturbance has delayed: the waits before and after them continue the cycle, their callers and
 * launches are those of the cycle, and they do not take less time than usual. (An evaluation takes
 * less time, and a checkpoint has other callers.)
 */
static void regain_disturbed(struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to, size_t k)
{
	double usual_ns = 0, ns = 0;
	size_t first;

	if (to == n || to - from > DISTURBED * k || !is_told_apart(b, from, k))
		return;
	first = (b[from - 1].phase_index + 1u) % k;
	if (b[to].other_phase || b[to].phase_index != (first + to - from) % k)
		return;
	for (size_t i = from; i < to; i++) {
		const struct jetwatt_batch_wait *usual = &b[from - k + (i - from) % k];

		if (!looks_like(&b[i], usual))
			return;
		/* The disturbance may have begun in the last cycle. */
		usual_ns += fmin(usual->cycle_ns, (usual - k)->cycle_ns);
		ns += b[i].cycle_ns;
	}
	for (size_t i = from; i < to && ns >= AS_LONG * usual_ns; i++) {
		b[i].other_phase = false;
		b[i].phase_index = (uint8_t)((first + i - from) % k);
		b[i].starts_minibatch = !b[i].phase_index;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = 1;
	}
}

int jetwatt_regain(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	int rc = 0;

	for (size_t i = 0, j; i < n && !rc && r->k > 1; i = j) {
		for (j = i + 1; j < n && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     b[i].phase_index == JETWATT_PHASE_INDEX_NONE; j++)
			;
		if (j - i >= STRETCH * (size_t)r->k)
			rc = regain_stretch(b + i, j - i, r);
		else if (b[i].phase_index == JETWATT_PHASE_INDEX_NONE)
			regain_disturbed(b, n, i, j, (size_t)r->k);
	}
	return rc;
}
