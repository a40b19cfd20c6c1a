/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions and constants that only the files of the learner (learner*.c) share; its interface is
 * learner.h. */
#ifndef JETWATT_DAEMON_LEARNER_INSIDE_H
#define JETWATT_DAEMON_LEARNER_INSIDE_H

#include <math.h>

#include "daemon/learner.h"
#include "plan/drift.h"

/* Number of complete readings from which on the model's predictions are trusted for slow modes. When
 * this number (or the smaller SURE_WITH of learner.c) is reached, the first row is checked for a drift.
 * jetwattd(8) and jetwattd.conf(5) state the number: "nine". */
#define JETWATTD_SURE		9
/* Value of @exclusions in struct jetwattd_learner from which on a candidate is excluded. */
#define JETWATTD_EXCLUDED	2
/* A reading of a mode that may be far slower takes at most this many times as long as a reading of the
 * best mode (learner_allowance.c, LONG_S). */
#define JETWATTD_LONGER		2

/* Return: 1 if readings of this workload on other devices exist, and the job's rows agree with
 * them. */
static inline int jetwattd_cross_device_agrees(const struct jetwattd_learner *l)
{
	return jetwatt_estimator_cross_device_agrees(&l->known.by, l->known.row, l->known.nr_rows);
}

/* Return: 1 if the predictor can use readings of other workloads for this job, and the job's rows
 * agree with them; 0 also if jetwattd_cross_device_agrees() returns 1. */
int jetwattd_others_agree(struct jetwattd_learner *l);

/* Return: 1: candidate @i has a row. */
static inline int jetwattd_is_known(const struct jetwattd_learner *l, size_t i)
{
	return jetwatt_tuner_row(&l->known, &l->known.mode[i]) != NULL;
}

/* Return: 1 if candidate @i is excluded, or a server misses its latency limit in it. */
static inline int jetwattd_is_excluded(const struct jetwattd_learner *l, size_t i)
{
	return l->exclusions[i] >= JETWATTD_EXCLUDED || l->misses_deadline[i];
}

/* As jetwattd_span_level(), for candidate @i. */
static inline double jetwattd_level(const struct jetwattd_learner *l, size_t i, double *least)
{
	return jetwattd_span_level(&l->span, &l->known.mode[i], least);
}

/* learner_news.c: add news; news beyond JETWATTD_NEWS are dropped. */
void jetwattd_news_add(struct jetwattd_learner *l, const struct jetwattd_news *news);
/* Add the news that the job has drifted. */
void jetwattd_learner_drifted(struct jetwattd_learner *l, const struct jetwatt_row *is,
			      const struct jetwatt_row *was);

/* learner_rows.c: append a row to the rows of the job. @steps: costs of its steps, NULL: none. Return: 0 or
 * an exit code; the error has been reported. */
int jetwattd_row_add(struct jetwattd_learner *l, const struct jetwatt_row *row,
		     const struct jetwatt_step_costs *steps);
/* Drop the first @rows rows of the job. */
void jetwattd_rows_drop(struct jetwattd_learner *l, size_t rows);
/* Of the rows without a measured time, drop those whose power is within the limit, so that their modes may be
 * tried again, and add those of earlier jobs of the workload whose power is above it. */
void jetwattd_rows_choose_untimed(struct jetwattd_learner *l);

/* Return what is to be as low as possible: energy per minibatch, in mJ, if @l->by_energy is 1, else its time,
 * in ms. */
static inline double jetwattd_objective_of(const struct jetwattd_learner *l, double time_ms, double power_w)
{
	return l->by_energy ? time_ms * power_w : time_ms;
}

/* As jetwattd_objective_of(), for a row. */
static inline double jetwattd_row_objective(const struct jetwattd_learner *l, const struct jetwatt_row *row)
{
	return jetwattd_objective_of(l, row->time_ms, row->power_w);
}

/* Return the row of the best mode measured to be within the limit, NULL: no
 * such row. */
const struct jetwatt_row *jetwattd_best(const struct jetwattd_learner *l);
/* Return: 1 if the mode of a row is within the limit by a sufficient margin for its error. */
int jetwattd_is_within(const struct jetwattd_learner *l, const struct jetwatt_row *row);
/* Return: 1 if the mode of a row misses a latency limit of a server. */
int jetwattd_misses_deadline(const struct jetwattd_learner *l, const struct jetwatt_row *row);
/* Of the measured modes that are better than the best mode, and whose power is too near the limit
 * for its error, find the mode for which a further reading is expected to gain most. @gain: set to
 * the logarithm of the best mode's objective divided by the mode's, multiplied by the probability
 * that the mode is within the limit. Without a best mode, the mode read last is found, and @gain is
 * that probability. @readings: set to the number of readings of the mode. Return: index of the mode, -1: no
 * such mode. */
long jetwattd_uncertain_best(const struct jetwattd_learner *l, double *gain, int *readings);
/* Return the number of complete readings. */
size_t jetwattd_complete_rows(const struct jetwattd_learner *l);

/* learner_search.c: reset the maximum level of modes that are tried without a prediction. */
void jetwattd_level_first(struct jetwattd_learner *l);
/* Reduce the maximum level of modes that are tried without a prediction, because candidate @i
 * was over the budget. */
void jetwattd_level_lower(struct jetwattd_learner *l, size_t i);
/* Find the next mode to measure while the model cannot predict the modes. Return: index of the
 * mode, -1: none. */
long jetwattd_pick_unpredicted(struct jetwattd_learner *l);
/* Choose the highest preset that is not measured and whose assumed power is within the limit. The power
 * is extrapolated from the highest lower preset that is measured; without one, it is the power that
 * the preset's name states. @best: best mode, NULL: none is known; presets that are higher than it
 * in no knob are skipped. @doubtful: 1: instead choose the highest preset that may be within the
 * limit if it draws far less than its name states. Return: index of the mode, -1: no such preset. */
long jetwattd_next_preset(const struct jetwattd_learner *l, const struct jetwatt_row *best, int doubtful);
/* If predictions are not available, raise one knob of the best mode, as far as power allows;
 * such a mode is not slower. The knobs take turns. Return: index of the mode, -1: no such mode. */
long jetwattd_raise_one_knob(const struct jetwattd_learner *l, const struct jetwatt_row *best);

/* learner_gain.c: choose the mode of the next reading: a preset; a mode whose power is near the
 * limit; the mode with the highest expected gain per cost, if the gain over the remaining time of
 * the job exceeds the cost; without predictions, a mode that learner_search.c finds. @exact: set to
 * 1 if the mode's power is near the limit, so that it needs a longer reading, else to 0. Return:
 * index of the mode; -1: no reading is worth its cost, or allowed by the limits, now. */
long jetwattd_pick(struct jetwattd_learner *l, int *exact);
/* learner_drift.c: test whether the reading of mode @l->trying, which has just been measured,
 * suggests that the job has drifted since the earlier readings. Return: 1: a check is needed, and
 * @l->check describes it; 0: no check is needed, or there is no other mode to check. */
int jetwattd_drift_suspected(struct jetwattd_learner *l, const struct jetwattd_result *result);
/* Request a check of the oldest row whose mode can be measured again at a cost of at most half of
 * jetwattd_share_left() and without too much lag (jetwattd_lag_when()); never while training and a
 * server are time-sliced. If there are few rows, a drift between two readings does not show in
 * either of them. Return: 1: a check is needed; 0: none is possible. */
int jetwattd_drift_check_first(struct jetwattd_learner *l);
/* Evaluate the result of a check. @turned: set to 1 if the job has drifted; the rows from before
 * the drift have then been dropped. Return: 1: a further check is needed; 0: the check is complete.
 */
int jetwattd_drift_evaluate(struct jetwattd_learner *l, const struct jetwattd_result *result, int *turned);
/* If the stored rows of earlier jobs, in the order in which they were measured, contain a drift, drop those
 * from before the last one, and make the rows between the last two a prior, as after a drift of the job. */
void jetwattd_drift_drop_stored(struct jetwattd_learner *l);

/* learner_allowance.c: return the allowance of the job's workload, which earlier runs may have used
 * in part. Return a new allowance if none is stored, or if the workload is not in the database. */
struct jetwattd_allowance *jetwattd_allowance(struct jetwattd_learner *l);
/* Return: running time and cost of the job's workload for a budget like the present one; 0 for a new budget. */
struct jetwattd_share *jetwattd_allowance_at_budget(struct jetwattd_learner *l);
/* Return: 1 if the time or energy that the policy allows for learning is used up. */
int jetwattd_allowance_used_up(const struct jetwattd_learner *l);
/* Return: 1 if as many modes have been measured as the policy allows. */
int jetwattd_is_enough_measured(const struct jetwattd_learner *l);
/* Return the time that learning may still cost now, in s. */
double jetwattd_share_left(const struct jetwattd_learner *l);
/* Return the running time of the workload, in s, from which on learning may cost @cost_s more; 0:
 * from the start of the job. */
double jetwattd_share_when(const struct jetwattd_learner *l, double cost_s);
/* Return the objective of the fastest preset (or of the one with the least energy) that is measured and within
 * the limit; 0: none. */
double jetwattd_best_preset(const struct jetwattd_learner *l);
/*
 * Return the running time of the workload, in s, from which on a step of @s seconds in a mode with objective
 * @objective lets the job lag behind the preset with objective @preset by no more than is permitted; 0: from now
 * on. The lag is the work that the preset would have done more, by the time after the first seconds of the job;
 * only lags up to a small fraction of that time are permitted (a conservative bandit: Wu et al., ICML 2016).
 */
double jetwattd_lag_when(const struct jetwattd_learner *l, double preset, double s, double objective);
/* Add the running time of the job since the last call to its allowance, and what the job gained or lost in it
 * compared with the fastest preset. @in: row of the mode that it ran in; NULL: unknown. */
void jetwattd_allowance_ran(struct jetwattd_learner *l, const struct jetwatt_row *in);
/* As jetwattd_allowance_ran(), for a try that has ended with @out; @tried_s: as in struct jetwattd_result. */
void jetwattd_allowance_tried(struct jetwattd_learner *l, enum jetwattd_outcome out, double tried_s);
/* Add time, energy and cost of a step that has ended with outcome @out to the cost of learning and
 * to the allowance. @tried_s: as in struct jetwattd_result. */
void jetwattd_allowance_spend(struct jetwattd_learner *l, enum jetwattd_outcome out, double tried_s);
/* Return the expected duration of a reading of a mode with minibatches of @t_ms, in s. */
double jetwattd_reading_s(const struct jetwattd_learner *l, double t_ms);
/* Return the time, in s, that a reading of a mode with minibatches of @t_ms costs, compared with the
 * best mode; lost energy counts as the time in which the best mode uses it. @by: the best mode's
 * objective divided by the mode's. */
double jetwattd_reading_cost(const struct jetwattd_learner *l, double t_ms, double by);
/* Return the longest possible time of a minibatch in candidate @i, in ms. */
double jetwattd_worst_ms(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best);
/* Check how slow candidate @i can be at worst: the time of a minibatch is assumed to grow at most
 * by the largest factor by which a knob is lower than in @best. Return: 1 if a reading of the
 * candidate is affordable or @best is NULL; 0 if it may take too long or cost too much. */
int jetwattd_is_affordable(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best);

#endif
