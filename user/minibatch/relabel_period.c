// SPDX-License-Identifier: GPL-2.0-only
/* Labels sequences that the Viterbi path puts into no cycle but that have the job's period. */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

/* minimum length of a sequence that is relabelled, in minibatches */
#define STRETCH		6
/* minimum confidence in the period of a sequence that is relabelled */
#define IN_STEP		0.9

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

int jetwatt_regain(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r)
{
	int rc = 0;

	for (size_t i = 0, j; i < n && !rc && r->k > 1; i = j) {
		for (j = i + 1; j < n && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     b[i].phase_index == JETWATT_PHASE_INDEX_NONE; j++)
			;
		if (j - i >= STRETCH * (size_t)r->k)
			rc = regain_stretch(b + i, j - i, r);
	}
	return rc;
}
