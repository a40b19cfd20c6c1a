// SPDX-License-Identifier: GPL-2.0-only
/* Stretches that a walk could not explain, by the rhythm that the job has elsewhere. */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/minibatch.h"

#define STRETCH		6	/* minibatches in a row that fit nowhere, ... */
#define IN_STEP		0.9	/* ... nearly all of them of the usual number of waits */

/* A stretch that is in no cycle, because its times are strange, but in which the job's
 * rhythm is plain to see: another job stretches the waits as it likes. */
static int regain_stretch(struct jetwatt_beat *b, size_t n, const struct jetwatt_rhythm *r)
{
	struct jetwatt_rhythm own = { .shared = r->shared };
	struct jetwatt_beat *some = malloc(n * sizeof(*some));
	int rc, at = 0;

	if (!some)
		return -ENOMEM;
	memcpy(some, b, n * sizeof(*some));
	rc = jetwatt_rhythm_guess(some, n, JETWATT_RHYTHM_BY_ANY, &own);
	for (size_t i = 0; i < n && !rc && own.k == r->k && own.confidence > IN_STEP; i++) {
		at = some[i].first ? 0 : at + 1;
		if (some[i].other)
			continue;
		b[i].other = false;
		b[i].place = at < r->k ? (uint8_t)at : JETWATT_PLACE_EXTRA;
		b[i].first = !at;
		b[i].rule = JETWATT_RULE_REGAINED;
		b[i].score = (float)own.confidence;
	}
	free(some);
	return rc;
}

int jetwatt_regain(struct jetwatt_beat *b, size_t n, const struct jetwatt_rhythm *r)
{
	int rc = 0;

	for (size_t i = 0, j; i < n && !rc && r->k > 1; i = j) {
		for (j = i + 1; j < n && b[j].place == JETWATT_PLACE_NONE &&
		     b[i].place == JETWATT_PLACE_NONE; j++)
			;
		if (j - i >= STRETCH * (size_t)r->k)
			rc = regain_stretch(b + i, j - i, r);
	}
	return rc;
}
