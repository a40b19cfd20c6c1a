/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One decision of a search: what is asked, what is known, what is predicted.
 */
#ifndef JETWATT_SEARCH_H
#define JETWATT_SEARCH_H

#include "plan/plan.h"

/* The first modes are laid out by hand, more or less; then the model leads. */
#define JETWATT_DESIGN	4

/* Measured already; not measured, but too slow or over budget beyond doubt. */
enum jetwatt_seen { JETWATT_NEW, JETWATT_SEEN, JETWATT_OUT };

/**
 * struct jetwatt_search
 * @mode, @n: the board's modes; @row, @rows: what was measured
 * @by: the predictor, NULL: the default
 * @foretold: it knows the workload from elsewhere, and @row does not contradict
 * @foreseen: other workloads are believed to be like it
 * @seen: @n flags of enum jetwatt_seen
 * @m, @p: model of @row and its @n predictions (NULL, zero while @rows is 0;
 *	zero also for JETWATT_OUT)
 */
struct jetwatt_search {
	const struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_row *row;
	size_t rows;
	const struct jetwatt_estimator *by;
	int foretold, foreseen;
	double budget_w;
	unsigned char *seen;
	struct jetwatt_fitted *m;
	struct jetwatt_prediction *p;
};

/* The next mode of the opening (@rows < JETWATT_DESIGN). Return: 0, 1: none left. */
int jetwatt_design_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* The mode of the greatest expected improvement. Return: 0, 1: none worth it. */
int jetwatt_improve_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* The best mode within the budget, if only one reading speaks for it and all
 * others speak against: it is worth another. Return: 0, 1: none such. */
int jetwatt_improve_again(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* The mode whose one reading of power fits the others worst, if it hardly does.
 * Return: 0, 1: none such. */
int jetwatt_explore_again(const struct jetwatt_search *s, struct jetwatt_plan_next *next);

/* The mode that teaches most about all others. Return: 0, 1: all is known well
 * enough or measured, -ENOMEM. */
int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next);

/**
 * jetwatt_answer_ok() - may a measured mode be the answer?
 * @power_w: mean over its measurements; @times: how many
 * @p: what the model makes of it, these measurements included
 *
 * One reading at the budget that all neighbours contradict is likely a lucky
 * one: all but a fortieth of what may be true must stay within 2 % over, what
 * a sensor can be wrong by. Read twice, it is as it is.
 */
static inline int jetwatt_answer_ok(double power_w, size_t times,
				    const struct jetwatt_prediction *p, double budget_w)
{
	/* No worse than a single reading, however badly the model does. */
	double sd = p->power_sd < 0.01 ? p->power_sd : 0.01;

	return power_w <= budget_w && (times > 1 || p->power_w * (1 + 2 * sd) <= 1.02 * budget_w);
}

#endif
