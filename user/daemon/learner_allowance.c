// SPDX-License-Identifier: GPL-2.0-only
/* Allowance: limits of the time and energy used to learn a workload, and of the time that learning
 * costs the workload's jobs, over all runs since jetwattd started. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <string.h>

/* Minimum running time of a workload, in s, from which its share is calculated, so that learning
 * may begin when the first job of the workload starts. jetwattd.conf(5) states it: "two minutes". */
#define SHARE_S		120
/* After FREE_S seconds, a job may lag behind the fastest preset by the fraction LAG of its running
 * time since then. jetwattd.conf(5) states both. */
#define FREE_S		15
#define LAG		0.02

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

/* Return the objective of the fastest preset (or of the one with the least energy) that is measured and within
 * the limit; 0: none. */
static double best_preset(const struct jetwattd_learner *l)
{
	double least = INFINITY;

	for (size_t k = 0; k < l->firsts; k++) {
		const struct jetwatt_row *row = jetwatt_tuner_row(&l->known, &l->known.mode[l->first[k]]);

		if (row && jetwattd_is_complete(row) && jetwattd_is_within(l, row) && !jetwattd_is_excluded(l, l->first[k]))
			least = fmin(least, jetwattd_row_objective(l, row));
	}
	return isinf(least) ? 0 : least;
}

/* Return the time for which the job will have run after its first FREE_S seconds in @s seconds, in s. */
static double lagging_s(const struct jetwattd_learner *l, double s)
{
	return fmax(0, (l->terms.now_ns - l->run_ns) * 1e-9 + s - FREE_S);
}

/* Return how far the job may still fall behind the fastest preset, in s of the preset's work. */
static double lag_left(const struct jetwattd_learner *l)
{
	return l->lead_s + LAG * lagging_s(l, 0);
}

/* Return the work of the fastest preset that the job loses in @s seconds in a mode with objective @objective,
 * except in its first FREE_S seconds. */
static double lag_of(const struct jetwattd_learner *l, double s, double objective)
{
	double late_s = fmin(s, lagging_s(l, s)), preset = late_s > 0 ? best_preset(l) : 0;

	return preset > 0 ? late_s * fmax(0, 1 - preset / objective) : 0;
}

double jetwattd_lag_when(const struct jetwattd_learner *l, double s, double objective)
{
	double lag_s = lag_of(l, s, objective), left = fmax(0, lag_left(l));
	double gain = lag_s > left && l->best_objective > 0 ? best_preset(l) / l->best_objective - 1 : 0;

	return lag_s <= left ? 0 : l->spent->ran_s + (lag_s - lag_left(l)) / (LAG + fmax(0, gain));
}

void jetwattd_allowance_ran(struct jetwattd_learner *l, const struct jetwatt_row *in)
{
	double s = l->ran_ns ? (l->terms.now_ns - l->ran_ns) * 1e-9 : 0, preset = best_preset(l);

	l->spent->ran_s += s;
	if (in && preset > 0)
		l->lead_s += fmin(s, lagging_s(l, 0)) * (preset / jetwattd_row_objective(l, in) - 1);
	l->ran_ns = l->terms.now_ns;
}

const struct jetwatt_row *jetwattd_row_after(const struct jetwattd_learner *l, enum jetwattd_outcome out)
{
	return out == JETWATTD_MEASURED ? jetwatt_tuner_row(&l->known, &l->known.mode[l->trying]) :
					  jetwattd_learner_best_under(l, l->terms.safe_w, NULL);
}

/* The time lost in a step is what the best mode known before it would have saved: compared with the
 * measured mode, or with the mode that the cap steps down to if no mode was measured. If that mode
 * has no row, the whole step is lost. */
void jetwattd_allowance_spend(struct jetwattd_learner *l, enum jetwattd_outcome out)
{
	const struct jetwatt_row *row = jetwattd_row_after(l, out);
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
