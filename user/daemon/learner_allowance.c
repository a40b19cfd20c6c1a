// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allowance: limits of the time and energy used to learn a workload, and of the time that learning costs the
 * workload's jobs, over all runs since jetwattd started. That time is limited to a share of the running time
 * of the workload. For a budget that is new, the same share of the running time with this budget is the limit
 * instead, if it is more, because modes for another budget were learned before. In no run of a job does
 * learning cost more than the share of this run. Also what a reading costs.
 */
#include "daemon/learner_inside.h"

#include <math.h>
#include <string.h>

/* Minimum running time, in s, from which a share is calculated, so that learning may begin when a job
 * starts. jetwattd.conf(5) states it: "two minutes". */
#define SHARE_S		120
/* Budgets that differ by less than this, in log, count as the same. jetwattd.conf(5) states it: "10 %". */
#define SAME_BUDGET	0.1
/* After FREE_S seconds, a job may lag behind the fastest preset by the fraction LAG of its running
 * time since then. jetwattd.conf(5) states both. */
#define FREE_S		15
#define LAG		0.02
/* Expected duration of a quick reading (limits: quick in search.c): READING_S seconds or
 * READING minibatches, whichever is longer; after WHOLE_S seconds, the minibatch during which the mode
 * was switched is enough (measure/partial.h). */
#define READING_S	1.6
#define READING		2.5
#define WHOLE_S		2.5
#define WHOLE		1.05
/* Time of a mode switch, in s. */
#define SWITCH_S	0.05
/* A reading is affordable if, at the longest possible time of a minibatch, it costs at most PART of
 * jetwattd_share_left(), and takes at most LONG_S seconds or JETWATTD_LONGER times as long as a reading of
 * the best mode. */
#define PART		0.5
#define LONG_S		4

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

static int is_same_budget(double a, double b)
{
	return a == b || fabs(log(a / b)) < SAME_BUDGET;
}

struct jetwattd_share *jetwattd_allowance_at_budget(struct jetwattd_learner *l)
{
	struct jetwattd_allowance *a = l->spent;
	unsigned int i;

	for (i = 0; i < JETWATTD_BUDGETS; i++)
		if (a->budget_w[i] > 0 && is_same_budget(a->budget_w[i], l->budget_w))
			return &a->share[i];
	i = a->next++ % JETWATTD_BUDGETS;
	a->budget_w[i] = l->budget_w;
	a->share[i] = (struct jetwattd_share){ 0 };
	return &a->share[i];
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

		n += row && jetwatt_row_has_time(row);
	}
	return n >= l->terms.max_modes;
}

static double left_of(const struct jetwattd_learner *l, const struct jetwattd_share *s)
{
	return l->terms.share * fmax(s->ran_s, SHARE_S) - s->lost_s;
}

double jetwattd_share_left(const struct jetwattd_learner *l)
{
	return fmin(left_of(l, &l->job), fmax(left_of(l, &l->spent->all), left_of(l, l->at_budget)));
}

/* Return for how long the job has to run until left_of() is @cost_s, in s. */
static double wait_of(const struct jetwattd_learner *l, const struct jetwattd_share *s, double cost_s)
{
	double ran_s = (s->lost_s + cost_s) / l->terms.share;

	return ran_s <= SHARE_S ? 0 : fmax(0, ran_s - s->ran_s);
}

double jetwattd_share_when(const struct jetwattd_learner *l, double cost_s)
{
	double wait_s = fmax(wait_of(l, &l->job, cost_s),
			     fmin(wait_of(l, &l->spent->all, cost_s), wait_of(l, l->at_budget, cost_s)));

	return wait_s > 0 ? l->spent->all.ran_s + wait_s : 0;
}

double jetwattd_best_preset(const struct jetwattd_learner *l)
{
	double least = INFINITY;

	for (size_t k = 0; k < l->firsts; k++) {
		const struct jetwatt_row *row = jetwatt_tuner_row(&l->known, &l->known.mode[l->first[k]]);

		if (row && jetwatt_row_has_time(row) && jetwattd_is_within(l, row) && !jetwattd_is_excluded(l, l->first[k]))
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

/* Return the work of the fastest preset, whose objective is @preset, that the job loses in @s seconds in a mode
 * with objective @objective, except in its first FREE_S seconds. */
static double lag_of(const struct jetwattd_learner *l, double preset, double s, double objective)
{
	double late_s = fmin(s, lagging_s(l, s));

	return preset > 0 ? late_s * fmax(0, 1 - preset / objective) : 0;
}

double jetwattd_lag_when(const struct jetwattd_learner *l, double preset, double s, double objective)
{
	double lag_s = lag_of(l, preset, s, objective), left = fmax(0, lag_left(l));
	double gain = lag_s > left && l->best_objective > 0 ? preset / l->best_objective - 1 : 0;

	return lag_s <= left ? 0 : l->spent->all.ran_s + (lag_s - lag_left(l)) / (LAG + fmax(0, gain));
}

/* The job ran in the mode of @in until @now_ns. */
static void ran_until(struct jetwattd_learner *l, uint64_t now_ns, const struct jetwatt_row *in)
{
	double s = l->ran_ns ? (now_ns - l->ran_ns) * 1e-9 : 0, preset = jetwattd_best_preset(l);

	l->spent->all.ran_s += s;
	l->at_budget->ran_s += s;
	l->job.ran_s += s;
	if (in && preset > 0)
		l->lead_s += fmin(s, lagging_s(l, 0)) * (preset / jetwattd_row_objective(l, in) - 1);
	l->ran_ns = now_ns;
}

void jetwattd_allowance_ran(struct jetwattd_learner *l, const struct jetwatt_row *in)
{
	ran_until(l, l->terms.now_ns, in);
}

/* Return the row of the mode that was tried, NULL: there is none. After a cap event its time may be an
 * estimate. */
static const struct jetwatt_row *tried_row(const struct jetwattd_learner *l)
{
	return jetwatt_tuner_row(&l->known, &l->known.mode[l->trying]);
}

/* Return the row of the mode that the job ran in during a try with outcome @out, except in the time before the
 * cap stepped down: the measured mode, or the mode that the cap steps down to. NULL: unknown. */
static const struct jetwatt_row *row_after(const struct jetwattd_learner *l, enum jetwattd_outcome out)
{
	return out == JETWATTD_MEASURED ? tried_row(l) :
					  jetwattd_learner_best_under(l, l->terms.safe_w, NULL);
}

void jetwattd_allowance_tried(struct jetwattd_learner *l, enum jetwattd_outcome out, double tried_s)
{
	uint64_t tried_ns = tried_s * 1e9;

	if (out == JETWATTD_OVER && l->ran_ns && l->ran_ns + tried_ns < l->terms.now_ns)
		ran_until(l, l->ran_ns + tried_ns, tried_row(l));
	ran_until(l, l->terms.now_ns, row_after(l, out));
}

/* Return the time that the best mode known before the step would have saved in @s seconds in the mode of
 * @row, in s; less than 0: that mode was faster. If there is no row, it would have saved them all. */
static double lost_in(const struct jetwattd_learner *l, double s, const struct jetwatt_row *row)
{
	return s * (1 - (row ? l->best_objective / jetwattd_row_objective(l, row) : 0));
}

/* The time lost in a step is what the best mode known before it would have saved: compared with the
 * measured mode; after a cap event, with the tried mode and then with the mode that the cap stepped down to. */
void jetwattd_allowance_spend(struct jetwattd_learner *l, enum jetwattd_outcome out, double tried_s)
{
	double s = (l->terms.now_ns - l->begun_ns) * 1e-9, over_s = out == JETWATTD_OVER ? fmin(s, tried_s) : 0;
	double lost_s = lost_in(l, over_s, tried_row(l)) + lost_in(l, s - over_s, row_after(l, out));
	const struct jetwatt_row *row;

	lost_s = l->best_objective > 0 ? fmax(0, lost_s) : 0;
	l->spent->seconds += s;
	l->spent->joules += l->learned_j - l->begun_j;
	l->spent->all.lost_s += lost_s;
	l->at_budget->lost_s += lost_s;
	l->job.lost_s += lost_s;
	l->cost.lost_s += lost_s;
	l->cost.seconds += s;
	if (!(l->gain_s > 0))
		return;
	row = jetwattd_best(l);
	l->cost.gain_s += l->gain_s;
	l->cost.saved_s += row ? l->rest_s * fmax(0, 1 - jetwattd_row_objective(l, row) / l->best_objective) : 0;
	l->gain_s = 0;
}

double jetwattd_reading_s(const struct jetwattd_learner *l, double t_ms)
{
	double s = fmin(READING * 1e-3 * t_ms, fmax(WHOLE_S, WHOLE * 1e-3 * t_ms));

	return fmax(fmax(READING_S, l->terms.reading_s), s);
}

double jetwattd_reading_cost(const struct jetwattd_learner *l, double t_ms, double by)
{
	return SWITCH_S + jetwattd_reading_s(l, t_ms) * fmax(0, 1 - by);
}

double jetwattd_worst_ms(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best)
{
	double part = 1;

	jetwatt_each_knob(k)
		if (jetwatt_mode_get(&best->mode, k))
			part = fmin(part, (double)jetwatt_mode_get(&l->known.mode[i], k) / jetwatt_mode_get(&best->mode, k));
	return best->time_ms / part;
}

int jetwattd_is_affordable(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best)
{
	double worst = best ? jetwattd_worst_ms(l, i, best) : 0;

	return !best ||
	       (jetwattd_reading_s(l, worst) <= fmax(LONG_S, JETWATTD_LONGER * jetwattd_reading_s(l, best->time_ms)) &&
		jetwattd_reading_cost(l, worst, best->time_ms / worst) <= PART * jetwattd_share_left(l));
}
