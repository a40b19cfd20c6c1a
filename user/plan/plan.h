/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which mode to measure next, which mode is best. Pure: models and arrays.
 */
#ifndef JETWATT_PLAN_H
#define JETWATT_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include "model/estimator.h"

/* What a screen of 80 columns has left for it. */
#define JETWATT_PLAN_WHY	22

/**
 * struct jetwatt_plan_next - what to measure next
 * @index: into the modes
 * @why: static text of at most JETWATT_PLAN_WHY characters, for the story: "spread",
 *	"expected improvement", ...
 */
struct jetwatt_plan_next {
	size_t index;
	const char *why;
};

/* A surface known to 1 % is known; an improvement of a fiftieth of that is none. */
#define JETWATT_PLAN_ENOUGH	0.01
#define JETWATT_PLAN_GAIN	2e-4
/* No search for a budget ends for want of promise before so many readings. */
#define JETWATT_PLAN_LEAST	10
/* From such a share of other workloads in a model on, no modes are laid out by hand. */
#define JETWATT_PLAN_FORESEEN	0.1

/**
 * jetwatt_plan_next() - next mode to measure for: min time s.t. power <= budget
 * @mode: the board's modes; @row: what has been measured so far, the latest last
 *	(0 rows at the start; the same mode may appear again: measured again)
 * @by: the predictor and what it knows of other workloads, NULL: the default and
 *	nothing; if it knows this one from elsewhere there is no opening
 * @budget_w: 0: no budget, learn the whole surface
 * @most: different modes that may be measured in total
 *
 * Deterministic from its arguments. Early choices are cautious: a mode likely
 * over budget is measured only when it can teach something. A mode whose one
 * reading all others contradict is asked for a second time, beyond @most too.
 * Return: 0; 1: nothing left that is worth measuring; negative errno, see
 * jetwatt_estimator_fit(). Worth it is
 * none when @most are measured, or all modes; without a budget, when the variances
 * of log time and log power together, mean over the modes not measured (a sample,
 * where they are more than 192), are below JETWATT_PLAN_ENOUGH squared; with one,
 * from JETWATT_PLAN_LEAST rows on, when no mode is expected to save more than
 * JETWATT_PLAN_GAIN of the time, or when none can be within the budget and the
 * closest has been measured.
 */
int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, const struct jetwatt_estimator *by, double budget_w, size_t most,
		      uint64_t seed, struct jetwatt_plan_next *next);

/**
 * jetwatt_plan_down() - next mode for a board whose clocks only go down
 *
 * Of CPU and GPU, none of the modes after another is higher in either clock; a
 * profile that is resumed goes on below all that was measured. Knows nothing of
 * what was measured but where.
 * Return: 0; 1: no mode is left, or @most are measured; -EINVAL: no modes.
 */
int jetwatt_plan_down(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, size_t most, struct jetwatt_plan_next *next);

/**
 * jetwatt_plan_spread() - how well is it known?
 * @budget_w: 0: asked of all modes; else of those that could be its answer
 *
 * Return: mean half width of the 95 % intervals, relative, of the worse of time
 * and power.
 */
double jetwatt_plan_spread(const struct jetwatt_prediction *p, size_t n, double budget_w);

/**
 * struct jetwatt_plan_choice - an answer of optimize
 * @index: into the modes
 * @measured: it rests on a measurement, else on the prediction alone
 */
struct jetwatt_plan_choice {
	size_t index;
	int measured;
	struct jetwatt_prediction p;
};

/**
 * jetwatt_plan_reading() - all readings of a mode as one
 * @mean: time and power, weighted by their errors, and the errors of that
 *
 * Return: how many there are; 0: none, @mean is not touched.
 */
size_t jetwatt_plan_reading(const struct jetwatt_mode *mode, const struct jetwatt_row *row,
			    size_t rows, struct jetwatt_row *mean);

/**
 * struct jetwatt_plan_question - what is to be least, within which limits
 * @least: time, power, or energy per minibatch (most throughput is least time)
 * @power_w: limit on the module's mean power; @time_ms: limit on a minibatch;
 *	0: none
 * @risk: accepted probability that the answer breaks a limit (0.05)
 */
struct jetwatt_plan_question {
	enum { JETWATT_LEAST_TIME, JETWATT_LEAST_POWER, JETWATT_LEAST_ENERGY } least;
	double power_w, time_ms;
	double risk;
};

/**
 * jetwatt_plan_ask() - candidates for a question, best first
 *
 * A mode whose readings taken together are beyond a limit is never among them. An
 * unmeasured one must beat its own uncertainty to come before a measured one; a
 * measured one whose single reading of power all others contradict comes last
 * until it is measured again. Who has no measurement left takes the first with
 * @measured set.
 * Return: number written (at most @max); 0: no mode is within the limits, then
 * @out[0] is the one that breaks them least; -ENOMEM.
 */
int jetwatt_plan_ask(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		     const struct jetwatt_row *row, size_t rows,
		     const struct jetwatt_plan_question *q, struct jetwatt_plan_choice *out,
		     int max);

/* The question asked most: least time within a budget of power. */
int jetwatt_plan_rank(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		      const struct jetwatt_row *row, size_t rows, double budget_w, double risk,
		      struct jetwatt_plan_choice *out, int max);

/* So many standard deviations above the median a limit has to be. */
double jetwatt_plan_quantile(double risk);

/**
 * jetwatt_plan_need() - what would have to be granted where nothing is within
 * @power_w: least limit of power that some mode within @q's limit of time keeps at
 *	@q's risk; @time_ms: likewise of time; INFINITY: none does
 */
void jetwatt_plan_need(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p,
		       size_t n, const struct jetwatt_row *row, size_t rows,
		       const struct jetwatt_plan_question *q, double *power_w, double *time_ms);

/* Indices of the non-dominated set (less time, less power), by time ascending.
 * @out: n entries. Return: how many. */
int jetwatt_plan_front(const double *time, const double *power, size_t n, size_t *out);

#endif
