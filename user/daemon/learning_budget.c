// SPDX-License-Identifier: GPL-2.0-only
/* What learning may take, of a workload and for a budget, in all of its runs. */
#include "daemon/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* So long, where the policy does not say; or if that is longer, so many minibatches in the best
 * mode: who makes them so slowly is there for long. */
#define LEARN_S		40
#define LEARN		200
/* So many modes are worth a try when the best one turns out not to be. */
#define FURTHER		4

struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_run *r)
{
	struct jetwattd_allowance *a;

	for (a = r->allowance; a < r->allowance + JETWATTD_SEEN; a++)
		if (*r->d->key && !strcmp(a->key, r->d->key) && a->budget_w == r->budget_w)
			break;
	if (a == r->allowance + JETWATTD_SEEN)
		a = &r->allowance[r->next_allowance++ % JETWATTD_SEEN];
	else if (jetwattd_best(r))
		return a;
	*a = (struct jetwattd_allowance){ .budget_w = r->budget_w };
	snprintf(a->key, sizeof(a->key), "%.16s", r->d->key);
	return a;
}

double jetwattd_allowance_left(struct jetwattd_run *r, const struct jetwattd_allowance *a)
{
	const struct jetwattd_policy *p = r->d->policy;
	const struct jetwatt_row *best = jetwattd_best(r);
	double most = best ? fmax(LEARN_S, LEARN * best->time_ms * 1e-3) : LEARN_S;

	return 1 - fmax(a->seconds / (p->learn_s > 0 ? p->learn_s : most), a->joules / p->learn_j);
}

struct jetwattd_allowance *jetwattd_allowance_anew(struct jetwattd_run *r,
						   const struct jetwattd_allowance *was)
{
	double seconds = was->seconds / 2, joules = was->joules / 2;
	struct jetwattd_allowance *a = jetwattd_allowance(r);

	a->seconds = seconds;
	a->joules = joules;
	return a;
}

int jetwattd_allowance_more(struct jetwattd_run *r)
{
	struct jetwattd_allowance *a = jetwattd_allowance(r);
	size_t most = jetwatt_learn_known(&r->learn) + FURTHER;

	if (jetwattd_allowance_left(r, a) <= 0)
		return 0;
	a->done = 0;
	if (a->most < most)
		a->most = most;
	return 1;
}

void jetwattd_allowance_again(struct jetwattd_run *r)
{
	for (int i = 0; i < JETWATTD_SEEN; i++)
		if (!strcmp(r->allowance[i].key, r->d->key))
			*r->allowance[i].key = '\0';
}
