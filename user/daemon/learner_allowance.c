// SPDX-License-Identifier: GPL-2.0-only
/* Allowance: limits of the time and energy used to learn a workload, and of the time that learning
 * costs the workload's jobs, over all runs since jetwattd started. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <string.h>

/* Minimum running time of a workload, in s, from which its share is calculated, so that learning
 * may begin when the first job of the workload starts. jetwattd.conf(5) states it: "two minutes". */
#define SHARE_S		120

struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_learner *l)
{
	struct jetwattd_allowance *a;

	for (a = l->allowance; a < l->allowance + JETWATTD_ALLOWANCES; a++)
		if (*l->key && !strcmp(a->key, l->key))
			return a;
	a = &l->allowance[l->next_allowance++ % JETWATTD_ALLOWANCES];
	*a = (struct jetwattd_allowance){ 0 };
	memcpy(a->key, l->key, sizeof(a->key));
	return a;
}

int jetwattd_allowance_used_up(const struct jetwattd_learner *l)
{
	const struct jetwattd_terms *t = &l->terms;

	return (t->learn_s > 0 && l->spent->seconds >= t->learn_s) || l->spent->joules >= t->learn_j;
}

int jetwattd_is_enough_measured(const struct jetwattd_learner *l)
{
	size_t n = 0;

	if (jetwattd_complete_rows(l) < l->terms.max_modes)
		return 0;
	for (size_t i = 0; i < l->known.nr_modes; i++) {
		const struct jetwatt_row *row = jetwatt_tuner_row(&l->known, &l->known.mode[i]);

		n += row && jetwattd_is_complete(row);
	}
	return n >= l->terms.max_modes;
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

void jetwattd_allowance_ran(struct jetwattd_learner *l)
{
	if (l->ran_ns)
		l->spent->ran_s += (l->terms.now_ns - l->ran_ns) * 1e-9;
	l->ran_ns = l->terms.now_ns;
}

/* The time lost in a step is what the best mode known before it would have saved: compared with
 * the measured mode, or with the mode that the cap steps down to if no mode was measured. */
void jetwattd_allowance_spend(struct jetwattd_learner *l, enum jetwattd_outcome out)
{
	const struct jetwatt_row *row = out == JETWATTD_MEASURED ?
			jetwatt_tuner_row(&l->known, &l->known.mode[l->trying]) :
			jetwattd_learner_best_under(l, l->terms.safe_w, NULL);
	double s = (l->terms.now_ns - l->begun_ns) * 1e-9;
	double by = row ? l->best_objective / jetwattd_row_objective(l, row) : 0;
	double lost_s = l->best_objective > 0 ? s * fmax(0, 1 - by) : 0;

	l->spent->seconds += s;
	l->spent->joules += l->learned_j - l->begun_j;
	l->spent->lost_s += lost_s;
	l->cost.lost_s += lost_s;
	l->cost.seconds += s;
	if (!(l->gain_s > 0))
		return;
	row = jetwattd_best(l);
	l->cost.gain_s += l->gain_s;
	l->cost.saved_s += row ? l->rest_s * fmax(0, 1 - jetwattd_row_objective(l, row) / l->best_objective) : 0;
	l->gain_s = 0;
}
