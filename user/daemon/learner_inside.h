/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the learner share. */
#ifndef JETWATT_DAEMON_LEARNER_INSIDE_H
#define JETWATT_DAEMON_LEARNER_INSIDE_H

#include "daemon/learner.h"

#define JETWATTD_BARRED	2
/* From this number of readings on the model's word counts; with few it is too sure, by
 * JETWATTD_DOUBT / sqrt(readings). */
#define JETWATTD_ROWS	4
#define JETWATTD_DOUBT	0.15

/* Was the reading not cut short? */
static inline int jetwattd_whole(const struct jetwatt_row *row)
{
	return row->time_sd < JETWATTD_NO_TIME;
}

/* Is the workload known from elsewhere, and is it here as it is there? */
static inline int jetwattd_foretold(const struct jetwattd_learner *l)
{
	return jetwatt_estimator_foretells(&l->known.by, l->known.row, l->known.nr_rows);
}

/* Do other workloads let expect what it does, and does it do so? */
int jetwattd_foreseen(struct jetwattd_learner *l);

static inline int jetwattd_is_known(const struct jetwattd_learner *l, size_t i)
{
	return jetwatt_learn_row(&l->known, &l->known.mode[i]) != NULL;
}

/* Can a candidate not be had, or is it too slow for a server? */
static inline int jetwattd_barred(const struct jetwattd_learner *l, size_t i)
{
	return l->barred[i] >= JETWATTD_BARRED || l->late[i];
}

static inline double jetwattd_level(const struct jetwattd_learner *l, size_t i, double *least)
{
	return jetwattd_span_level(&l->span, &l->known.mode[i], least);
}

/* learner.c: news. */
void jetwattd_learner_drifted(struct jetwattd_learner *l, const struct jetwatt_row *is,
			      const struct jetwatt_row *was);

/* learner_rows.c: the fastest mode measured to be within the limit, NULL: none. */
const struct jetwatt_row *jetwattd_fastest(const struct jetwattd_learner *l);
/* The fastest mode that only the error of its reading keeps from being within, if it is faster
 * than the best and not yet known as well as it can be. Return: its index, -1: none. */
long jetwattd_unsure(const struct jetwattd_learner *l);
/* Number of readings that were not cut short. */
size_t jetwattd_whole_rows(const struct jetwattd_learner *l);

/* learner_search.c: number of modes that are to be known. */
size_t jetwattd_enough(const struct jetwattd_learner *l);
/* The next mode that is worth a measurement. @exact: its power is near the limit. Return: its
 * index, -1: none. */
long jetwattd_pick(struct jetwattd_learner *l, int *exact);
/* Before there is a model, modes up to this level are tried. */
void jetwattd_level_first(struct jetwattd_learner *l);
/* A mode was over the budget. */
void jetwattd_level_lower(struct jetwattd_learner *l, size_t i);
/* The mode that the plan asks for, where at most @most are to be measured. Return: its index, -1: none. */
long jetwattd_planned(struct jetwattd_learner *l, size_t most);

/* learner_gain.c: with a share: the reading that pays most for the time that the job is expected to run.
 * @exact: as above. Return: its index, -1: none does now. */
long jetwattd_pays(struct jetwattd_learner *l, int *exact);
/* Expected improvement: by what part of @best_ms a mode is expected to be faster, where it is within
 * @limit_w. @least: error of a prediction that the model does not know of. */
double jetwattd_gain(const struct jetwatt_prediction *p, double best_ms, double limit_w, double least);
/* May a mode that no model speaks for be far slower than the best one? A minibatch takes at most as much
 * longer as a knob is lower. Return: 1: no, or that matters little. */
int jetwattd_near(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best);

/* learner_drift.c: mode @l->trying was just read: has the job become another one since the modes
 * before were read, that is, other data, another minibatch size? Return: 1: that takes a check; 0:
 * no. */
int jetwattd_suspect(struct jetwattd_learner *l, const struct jetwattd_result *result);
/* Where few are known, a change between two readings is seen in neither: was the first of all of
 * another job? Return: as above. */
int jetwattd_suspect_first(struct jetwattd_learner *l);
/* A check has a result. Return: 1: it takes another one; 0: all is known; @turned: the job has
 * become another one, and what was read of the one before is forgotten. */
int jetwattd_checked(struct jetwattd_learner *l, const struct jetwattd_result *result, int *turned);

/* learner_allowance.c: what has been spent on the job's workload for this budget, by runs before
 * too. A workload that is not in the database begins at nothing each time, and so does one of which
 * no mode within the budget is known. */
struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_learner *l);
/* Return: the part of it that is left; at 0 or below nothing is. */
double jetwattd_allowance_left(const struct jetwattd_learner *l,
			       const struct jetwattd_allowance *a);
/* The job has become another one: what was spent before counts half, so that a job that changes all
 * the time is not learned all the time. */
struct jetwattd_allowance *jetwattd_allowance_half(struct jetwattd_learner *l,
						   const struct jetwattd_allowance *was);
/* With a share: time that learning may still cost now, in s; and for how long the workload has to have
 * run for it to cost @cost_s more. */
double jetwattd_share_left(const struct jetwattd_learner *l);
double jetwattd_share_when(const struct jetwattd_learner *l, double cost_s);
/* The job has run up to now. */
void jetwattd_share_ran(struct jetwattd_learner *l);
/* A step has ended. */
void jetwattd_share_spend(struct jetwattd_learner *l, enum jetwattd_outcome out);
/* As jetwattd_learner_more(). */
int jetwattd_allowance_more(struct jetwattd_learner *l);
/* The workload is another one now, for all budgets. */
void jetwattd_allowance_forget(struct jetwattd_learner *l);

#endif
