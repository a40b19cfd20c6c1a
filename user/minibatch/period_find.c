// SPDX-License-Identifier: GPL-2.0-only
/* The steps that label the waits of a job: its period, then the model that decodes all waits, then the
 * pauses of the GPU. */
#include "minibatch/period.h"

#include "minibatch/minibatch.h"
#include "minibatch/pauses.h"

#define DOUBT	0.5	/* factor of the confidence in waits that may be parts of minibatches */

static void doubt(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	r->confidence *= DOUBT;
	for (size_t i = 0; i < n; i++)
		if (b[i].rule == JETWATT_RULE_SINGLE)
			b[i].score = (float)r->confidence;
}

/**
 * jetwatt_period_find() - label all waits of one job
 * @b: the waits in order; the gap of the first one is ignored
 * @n: number of waits
 * @r: receives what was found
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_period_find(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	int rc = jetwatt_period_estimate(b, n, JETWATT_PERIOD_BY_ANY, r);

	r->steps.limit = 0;
	if (rc)
		return rc;
	if (r->k == 1 && !r->single && !r->shared && (r->beat || jetwatt_singles_doubtful(b, n)))
		doubt(b, n, r);
	jetwatt_even_out(b, n, (size_t)r->k);
	rc = jetwatt_refine(b, n, r);
	if (rc || r->single || !r->launches)
		return rc;
	return jetwatt_pauses_label(b, n, r);
}
