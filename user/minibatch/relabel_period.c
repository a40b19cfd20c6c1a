// SPDX-License-Identifier: GPL-2.0-only
/* Labels sequences that the Viterbi path puts into no cycle but that have the job's period or its
 * callers. */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

/* minimum length of a sequence that is relabelled, in minibatches */
#define STRETCH		6
/* minimum confidence in the period of a sequence that is relabelled */
#define IN_STEP		0.9
/* maximum length of a sequence that is relabelled because of its callers, in minibatches */
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

/* Return whether the cycle has several callers, each at fixed phase indices. */
static bool has_callers(const struct jetwatt_cycle *c)
{
	bool differ = false;

	for (int p = 0; p < c->k; p++) {
		if (!c->emission[p].caller)
			return false;
		differ |= c->emission[p].caller != c->emission[0].caller;
	}
	return differ;
}

/* Return the time from the end of wait @from - 1 to the end of wait @to - 1, ns. */
static double duration(const struct jetwatt_batch_wait *b, size_t from, size_t to)
{
	double ns = 0;

	for (size_t i = from; i < to; i++)
		ns += b[i].cycle_ns;
	return ns;
}

/*
 * Label the waits from @from to @to - 1, which are in no cycle, if they are minibatches that a
 * disturbance has delayed: the waits before and after them continue the cycle, the callers are those
 * of the cycle, and the waits do not take less time than those before them. An evaluation takes less
 * time, and a checkpoint has other callers.
 */
static void regain_disturbed(struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to,
			     const struct jetwatt_cycle *c)
{
	size_t k = (size_t)c->k, waits = to - from, end = to;

	while (end < n && (end - from) % k && !b[end].other_phase && b[end].phase_index == (end - from) % k)
		end++;
	if (to == n || waits > DISTURBED * k || from < k || (end - from) % k ||
	    b[from - 1].other_phase || b[from - 1].phase_index != k - 1)
		return;
	for (size_t i = from; i < end; i++)
		if (b[i].caller != c->emission[(i - from) % k].caller)
			return;
	if (duration(b, from, end) < AS_LONG * (double)((end - from) / k) * duration(b, from - k, from))
		return;
	for (size_t i = from; i < end; i++) {
		b[i].other_phase = false;
		b[i].phase_index = (uint8_t)((i - from) % k);
		b[i].starts_minibatch = !b[i].phase_index;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = 1;
	}
}

int jetwatt_regain(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	bool callers = has_callers(&r->model.train);
	int rc = 0;

	for (size_t i = 0, j; i < n && !rc && r->k > 1; i = j) {
		for (j = i + 1; j < n && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     b[i].phase_index == JETWATT_PHASE_INDEX_NONE; j++)
			;
		if (j - i >= STRETCH * (size_t)r->k)
			rc = regain_stretch(b + i, j - i, r);
		else if (callers && b[i].phase_index == JETWATT_PHASE_INDEX_NONE)
			regain_disturbed(b, n, i, j, &r->model.train);
	}
	return rc;
}
