// SPDX-License-Identifier: GPL-2.0-only
/* The learner's messages, and the sequence of its steps: each pass consists of tries of modes,
 * with checks for a drift in between. */
#include "daemon/learner_inside.h"

#include <cblas.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If the predictor has a prior, the first row is checked after this number of complete readings
 * instead of JETWATTD_SURE. */
#define SURE_WITH	5
/* With more rows, most fits keep the hyper-parameters of an earlier fit: a full fit of 90 rows
 * takes two seconds on a CPU of 125 million instructions a second. */
#define WARM_ROWS	32

int jetwattd_learner_open(struct jetwattd_learner *l)
{
	size_t n = l->known.nr_modes;

	openblas_set_num_threads(1);
	l->known.silent = 1;
	l->known.warm_rows = WARM_ROWS;
	l->spent = l->allowance;
	l->exclusions = calloc(n, 1);
	l->above = calloc(n, 1);
	l->misses_deadline = calloc(n, 1);
	l->seen = calloc(n, 1);
	l->choice = malloc(n * sizeof(*l->choice));
	l->choice_at = malloc(n * sizeof(*l->choice_at));
	if (!l->exclusions || !l->above || !l->misses_deadline || !l->seen || !l->choice || !l->choice_at ||
	    jetwatt_mode_index_open(&l->index, n))
		return jetwatt_tuner_no_memory();
	for (size_t i = 0; i < n; i++)
		jetwatt_mode_index_add(&l->index, l->known.mode, i);
	jetwattd_span_of(&l->span, l->known.mode, n);
	return 0;
}

void jetwattd_learner_close(struct jetwattd_learner *l)
{
	jetwatt_tuner_free(&l->known);
	free(l->exclusions);
	free(l->above);
	free(l->misses_deadline);
	free(l->seen);
	free(l->choice);
	free(l->choice_at);
	jetwatt_mode_index_close(&l->index);
	free(l->steps.cost);
}

/* Store those of the prior's @first modes that are candidates, so that they are tried first. */
static void set_first(struct jetwattd_learner *l, const struct jetwattd_prior *prior)
{
	l->firsts = 0;
	for (size_t k = 0; k < prior->firsts && l->firsts < JETWATTD_FIRST; k++)
		for (size_t i = 0; i < l->known.nr_modes; i++)
			if (jetwatt_mode_same(&l->known.mode[i], &prior->first[k])) {
				l->first_w[l->firsts] = prior->first_w ? prior->first_w[k] : 0;
				l->first[l->firsts++] = i;
				break;
			}
}

/* Pass the readings of other workloads, and those of other devices, to the predictor. Return: 0 or
 * an exit code; the error has been reported. */
static int learn_other_workloads(struct jetwattd_learner *l, const struct jetwattd_prior *prior)
{
	int err = 0;

	if (prior->others)
		err = jetwatt_estimator_learn(&l->known.by, prior->other, prior->others,
					      JETWATT_TUNER_SEED);
	/* -ENOTSUP: this predictor does not use other workloads. */
	if (err && err != -ENOTSUP)
		return jetwatt_tuner_failed(&l->known, err, "cannot use other workloads");
	err = prior->nr_cross_device ?
		      jetwatt_tuner_add_cross_device(&l->known, prior->cross_device,
						     prior->nr_cross_device) : 0;
	return err < 0 ? -err : 0;
}

/* Return: number of complete readings with which the first row is checked. */
static size_t sure_rows(const struct jetwattd_learner *l)
{
	return l->known.by.prior ? SURE_WITH : JETWATTD_SURE;
}

int jetwattd_learner_begin(struct jetwattd_learner *l, const struct jetwattd_prior *prior)
{
	int err = 0;

	snprintf(l->key, sizeof(l->key), "%.16s", prior->key ? prior->key : "");
	l->known.nr_rows = 0;
	jetwatt_tuner_forget_prior(&l->known);
	l->learned_j = 0;
	l->nr_news = 0;
	l->check.state = JETWATTD_NO_CHECK;
	l->steps.windows = 0;
	l->taken = l->checked = 0;
	l->run_ns = l->ran_ns = 0;
	l->lead_s = 0;
	l->warm_run_s = -1;
	l->job = (struct jetwattd_share){ 0 };
	l->spent = jetwattd_allowance(l);
	jetwattd_learner_forget_misses(l);
	set_first(l, prior);
	for (size_t i = 0; i < prior->rows && !err; i++)
		err = jetwattd_row_add(l, &prior->row[i], NULL);
	err = err ? err : learn_other_workloads(l, prior);
	jetwattd_drift_drop_stored(l);
	/* A job that is known well is not checked. */
	l->checked = jetwattd_complete_rows(l) >= sure_rows(l);
	return err;
}

void jetwattd_learner_budget(struct jetwattd_learner *l, double budget_w, double limit_w)
{
	l->budget_w = budget_w;
	l->terms.limit_w = l->known.budget_w = limit_w;
	memset(l->exclusions, 0, l->known.nr_modes);
	memset(l->above, 0, l->known.nr_modes);
	jetwattd_rows_choose_untimed(l);
}

void jetwattd_learner_resume(struct jetwattd_learner *l, const struct jetwattd_terms *terms)
{
	l->terms = *terms;
	/* Request a check again if it was interrupted. */
	if (l->check.state)
		l->checked = 0;
	l->check.state = JETWATTD_NO_CHECK;
	l->predicted = l->small = 0;
	jetwattd_level_first(l);
	l->at_budget = jetwattd_allowance_at_budget(l);
	l->run_ns = l->run_ns ? l->run_ns : terms->now_ns;
	l->again_s = 0;
}

/* Fill in the step that the pending check requires. Return: 1. */
static int check_step(const struct jetwattd_learner *l, struct jetwattd_step *step)
{
	step->kind = l->check.state == JETWATTD_CHECK_JUMP ? JETWATTD_CHECK_HERE : JETWATTD_CHECK;
	step->mode = l->check.mode;
	return 1;
}

/* Request a check of the first row if the check is due. The check is due once in a pass: when the
 * number of complete readings has reached sure_rows(), or at the end of a search with
 * fewer readings (@ending is 1) if at least two of them were taken in this pass and the allowance is
 * not used up. No check is due while the rows agree with readings of other devices. Return: 1: a
 * check is pending. */
static int check_first_row(struct jetwattd_learner *l, int ending)
{
	size_t whole = jetwattd_complete_rows(l), sure = sure_rows(l);

	if (l->checked || jetwattd_cross_device_agrees(l))
		return 0;
	if (ending ? whole >= sure || l->taken < 2 || jetwattd_allowance_used_up(l) :
		     whole < sure)
		return 0;
	l->checked = 1;
	return jetwattd_drift_check_first(l);
}

int jetwattd_learner_next(struct jetwattd_learner *l, const struct jetwattd_terms *terms,
			  struct jetwattd_step *step)
{
	const struct jetwatt_row *best;
	int exact;
	long i;

	l->terms = *terms;
	best = jetwattd_best(l);
	jetwattd_allowance_ran(l, best);
	if (l->check.state)
		return check_step(l, step);
	l->by_energy = terms->least_energy && !(best && jetwattd_misses_deadline(l, best));
	l->best_objective = best ? jetwattd_row_objective(l, best) : 0;
	l->begun_ns = terms->now_ns;
	l->begun_j = l->learned_j;
	i = jetwattd_pick(l, &exact);
	if (i < 0)
		return check_first_row(l, 1) && check_step(l, step);
	l->trying = (size_t)i;
	step->kind = exact ? JETWATTD_TRY_EXACT : JETWATTD_TRY;
	step->mode = l->known.mode[i];
	return 1;
}

int jetwattd_learner_estimate(struct jetwattd_learner *l, const struct jetwatt_row *row)
{
	return jetwattd_row_add(l, row, NULL);
}

void jetwattd_learner_add_energy(struct jetwattd_learner *l, double joules)
{
	l->learned_j += joules;
}

/* Start a new pass after a drift. The allowance for learning stays as it is: it is a share of the
 * workload's running time, which a drift does not change. */
static enum jetwattd_follow start_new_pass(struct jetwattd_learner *l)
{
	jetwattd_level_first(l);
	l->taken = l->checked = l->small = 0;
	return JETWATTD_FOLLOW_PLAN;
}

/* Return: 1 if the outcome ends the search until the loop resumes the search; else 0. */
static int ends_search(enum jetwattd_outcome out)
{
	return out != JETWATTD_MEASURED && out != JETWATTD_OVER && out != JETWATTD_REFUSED &&
	       out != JETWATTD_HOT && out != JETWATTD_DEADLINE_MISS;
}

enum jetwattd_follow jetwattd_learner_done(struct jetwattd_learner *l,
					   const struct jetwattd_terms *terms,
					   const struct jetwattd_result *result)
{
	enum jetwattd_outcome out = result->outcome;
	int has_turned = 0, tried = !l->check.state || l->check.tried;

	l->terms = *terms;
	if (l->check.state) {
		jetwattd_allowance_ran(l, jetwatt_tuner_row(&l->known, &l->check.mode));
		out = JETWATTD_MEASURED;
		if (jetwattd_drift_evaluate(l, result, &has_turned))
			return JETWATTD_FOLLOW_CHECK;
	} else {
		jetwattd_allowance_tried(l, out, result->tried_s);
		l->taken += out == JETWATTD_MEASURED;
		if (out == JETWATTD_MEASURED && jetwattd_drift_suspected(l, result))
			return JETWATTD_FOLLOW_CHECK;
	}
	if (out == JETWATTD_MEASURED && tried && !has_turned && check_first_row(l, 0))
		return JETWATTD_FOLLOW_CHECK;
	/* No best mode of the changed job was known when the step began. */
	if (has_turned)
		l->best_objective = l->gain_s = 0;
	jetwattd_allowance_spend(l, out, result->tried_s);
	if (has_turned)
		return start_new_pass(l);
	/* The cap may have left the mode because of power that was drawn before the switch to it.
	 * At the first cap event with unknown power in a mode, the mode is not excluded, and the
	 * maximum level of tried modes is not lowered. */
	if (out == JETWATTD_OVER && jetwattd_is_excluded(l, l->trying))
		jetwattd_level_lower(l, l->trying);
	return ends_search(out) ? JETWATTD_FOLLOW_STOP : JETWATTD_FOLLOW_PLAN;
}

int jetwattd_learner_is_due(struct jetwattd_learner *l, const struct jetwattd_terms *terms)
{
	l->terms = *terms;
	jetwattd_allowance_ran(l, jetwattd_best(l));
	return l->spent->all.ran_s >= l->again_s;
}
