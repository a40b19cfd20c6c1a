// SPDX-License-Identifier: GPL-2.0-only
/* Allowance: limits of the time and energy used to learn a workload for a budget, over all runs;
 * or, if a share is used, a limit of the time that learning costs the job. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Time limit for learning if the policy sets none: LEARN_S seconds or the time of LEARN minibatches
 * in the best mode, whichever is longer, because a job with long minibatches runs for long. */
#define LEARN_S		40
#define LEARN		200
/* If a share is used, running time of the job, in s, that is assumed when the job starts, so that
 * learning may begin at once. */
#define SHARE_S		120
/* Number of further modes that may be measured when the best mode could not be held. */
#define FURTHER		4

struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_learner *l)
{
	/* A share is a fraction of the workload's running time under all budgets, so one
	 * allowance holds for all budgets. */
	double budget_w = l->terms.share > 0 ? 0 : l->budget_w;
	struct jetwattd_allowance *a;

	for (a = l->allowance; a < l->allowance + JETWATTD_ALLOWANCES; a++)
		if (*l->key && !strcmp(a->key, l->key) && a->budget_w == budget_w)
			break;
	if (a == l->allowance + JETWATTD_ALLOWANCES)
		a = &l->allowance[l->next_allowance++ % JETWATTD_ALLOWANCES];
	else if (jetwattd_fastest(l) || l->terms.share > 0)
		return a;
	*a = (struct jetwattd_allowance){ .budget_w = budget_w };
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
	struct jetwattd_allowance *a = l->terms.share > 0 ? l->spent : jetwattd_allowance(l);

	a->seconds = seconds;
	a->joules = joules;
	return a;
}

int jetwattd_allowance_extend(struct jetwattd_learner *l)
{
	struct jetwattd_allowance *a = jetwattd_allowance(l);
	size_t most = jetwatt_tuner_known(&l->known) + FURTHER;

	if (jetwattd_allowance_left(l, a) <= 0)
		return 0;
	a->done = 0;
	if (a->most < most)
		a->most = most;
	return 1;
}

void jetwattd_allowance_forget(struct jetwattd_learner *l)
{
	/* If a share is used, keep the allowance: a drift does not change the running time, of
	 * which the share is a fraction. */
	for (int i = 0; i < JETWATTD_ALLOWANCES && !(l->terms.share > 0); i++)
		if (!strcmp(l->allowance[i].key, l->key))
			*l->allowance[i].key = '\0';
}

double jetwattd_share_left(const struct jetwattd_learner *l)
{
	return l->terms.share * fmax(l->spent->ran_s, SHARE_S) - l->spent->lost_s;
}

double jetwattd_share_when(const struct jetwattd_learner *l, double cost_s)
{
	double ran_s = (l->spent->lost_s + cost_s) / l->terms.share;

	return ran_s <= SHARE_S ? 0 : ran_s;
}

void jetwattd_share_ran(struct jetwattd_learner *l)
{
	if (l->ran_ns)
		l->spent->ran_s += (l->terms.now_ns - l->ran_ns) * 1e-9;
	l->ran_ns = l->terms.now_ns;
}

/* The time lost in a step is what the best mode known before it would have saved: compared with
 * the measured mode, or with the mode that the cap steps down to if no mode was measured. */
void jetwattd_share_spend(struct jetwattd_learner *l, enum jetwattd_outcome out)
{
	const struct jetwatt_row *row = out == JETWATTD_MEASURED ?
			jetwatt_tuner_row(&l->known, &l->known.mode[l->trying]) :
			jetwattd_learner_best_under(l, l->terms.safe_w, NULL);
	double s = (l->terms.now_ns - l->begun_ns) * 1e-9;
	double lost_s = l->best_ms > 0 ? s * (row ? fmax(0, 1 - l->best_ms / row->time_ms) : 1) : 0;

	l->spent->lost_s += lost_s;
	l->cost.lost_s += lost_s;
	l->cost.seconds += s;
}
