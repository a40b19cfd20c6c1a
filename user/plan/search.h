/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one decision of jetwatt_plan_next(): query, measurements, surrogate, and the functions
 * that choose a mode from it.
 */
#ifndef JETWATT_SEARCH_H
#define JETWATT_SEARCH_H

#include "plan/plan.h"

/* Number of modes in the initial design of jetwatt_plan_next(), without and with particles (particles.h);
 * the model chooses all later modes. */
#define JETWATT_DESIGN		4
#define JETWATT_DESIGN_FEW	2

/**
 * struct jetwatt_search - one decision of a search
 * @mode: modes of the board
 * @n: number of modes
 * @row: measured rows
 * @rows: number of rows
 * @by: predictor and prior; NULL: the default
 * @cross_device: 1: the prior has rows of the same workload from other devices, and @row agrees
 *	with them
 * @skip_design: 1: the references predict this workload well enough to skip the initial design
 * @design: number of modes in the initial design
 * @left: number of new modes that may still be measured
 * @budget_w: power budget, in watts; 0: no budget
 * @seen: @n entries of enum jetwatt_seen
 * @m: model fitted to @row; NULL if no model has been fitted yet
 * @p: @n predictions; zero without a model, and for excluded modes if only the modes that are not
 *	excluded were predicted
 */
struct jetwatt_search {
	const struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_row *row;
	size_t rows;
	const struct jetwatt_estimator *by;
	int cross_device, skip_design;
	size_t design, left;
	double budget_w;
	unsigned char *seen;
	struct jetwatt_fitted *m;
	struct jetwatt_prediction *p;
};

/* Choose the next mode of the initial design (@rows < @design). Return: 0, 1: none left. */
int jetwatt_design_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* Choose the unmeasured mode with the largest product of expected improvement and probability of
 * meeting the budget; if the query looks infeasible, the one with the lowest predicted power.
 * Return: 0; 1: no mode is worth measuring. */
int jetwatt_improve_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/*
 * Choose the fastest mode within the budget for another measurement, if it has only one reading and
 * the model contradicts that reading. Return: 0; 1: there is no such mode.
 */
int jetwatt_remeasure_best(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/*
 * Choose the mode whose single power reading deviates most from the model for another measurement,
 * if the reading is likely an outlier. Return: 0, 1: there is none.
 */
int jetwatt_remeasure_outlier(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/*
 * Choose, from a sample of the unmeasured modes, the one that is quickest to switch to, of those
 * whose measurement reduces the variance of other modes by at least 90 % of the largest reduction.
 * Return: 0; 1 if the variance is small enough or all modes are measured; negative errno.
 */
int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next);

/**
 * jetwatt_reading_plausible() - test whether a measured mode may be the answer
 * @power_w: mean of the power readings of the mode, in watts
 * @times: number of readings
 * @p: prediction of the mode by a model that was fitted to rows with these readings
 * @budget_w: power budget, in watts
 *
 * A single reading just below the budget that the model contradicts is likely too low by chance:
 * the predicted power plus two standard deviations (97.5 % of the distribution) must stay within
 * 102 % of the budget, since a sensor may be wrong by 2 %. Two readings are trusted.
 *
 * Return: 1 if the mode may be the answer, else 0.
 */
static inline int jetwatt_reading_plausible(double power_w, size_t times,
				    const struct jetwatt_prediction *p, double budget_w)
{
	/* The standard deviation is limited to 0.01, the error of a single reading, so that a poor
	 * model does not reject too many readings. */
	double sd = p->power_sd < 0.01 ? p->power_sd : 0.01;

	return power_w <= budget_w && (times > 1 || p->power_w * (1 + 2 * sd) <= 1.02 * budget_w);
}

#endif
