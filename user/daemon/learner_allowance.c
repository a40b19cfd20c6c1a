// SPDX-License-Identifier: GPL-2.0-only
/* What learning may take, of a workload and for a budget, in all of its runs. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Time for learning, where the policy does not say; or if that is longer, this number of
 * minibatches in the best mode: a job with such long ones is there for long. */
#define LEARN_S		40
#define LEARN		200
/* Number of further modes that are worth a try when the best one turns out not to be. */
#define FURTHER		4

struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_learner *l)
{
	struct jetwattd_allowance *a;

	for (a = l->allowance; a < l->allowance + JETWATTD_ALLOWANCES; a++)
		if (*l->key && !strcmp(a->key, l->key) && a->budget_w == l->budget_w)
			break;
	if (a == l->allowance + JETWATTD_ALLOWANCES)
		a = &l->allowance[l->next_allowance++ % JETWATTD_ALLOWANCES];
	else if (jetwattd_fastest(l))
		return a;
	*a = (struct jetwattd_allowance){ .budget_w = l->budget_w };
	memcpy(a->key, l->key, sizeof(a->key));
	return a;
}

double jetwattd_allowance_left(const struct jetwattd_learner *l,
			       const struct jetwattd_allowance *a)
{
	const struct jetwattd_terms *t = &l->terms;
	const struct jetwatt_row *best = jetwattd_fastest(l);
	double most = best ? fmax(LEARN_S, LEARN * best->time_ms * 1e-3) : LEARN_S;

	return 1 - fmax(a->seconds / (t->learn_s > 0 ? t->learn_s : most), a->joules / t->learn_j);
}

struct jetwattd_allowance *jetwattd_allowance_half(struct jetwattd_learner *l,
						   const struct jetwattd_allowance *was)
{
	double seconds = was->seconds / 2, joules = was->joules / 2;
	struct jetwattd_allowance *a = jetwattd_allowance(l);

	a->seconds = seconds;
	a->joules = joules;
	return a;
}

int jetwattd_allowance_more(struct jetwattd_learner *l)
{
	struct jetwattd_allowance *a = jetwattd_allowance(l);
	size_t most = jetwatt_learn_known(&l->known) + FURTHER;

	if (jetwattd_allowance_left(l, a) <= 0)
		return 0;
	a->done = 0;
	if (a->most < most)
		a->most = most;
	return 1;
}

void jetwattd_allowance_forget(struct jetwattd_learner *l)
{
	for (int i = 0; i < JETWATTD_ALLOWANCES; i++)
		if (!strcmp(l->allowance[i].key, l->key))
			*l->allowance[i].key = '\0';
}
