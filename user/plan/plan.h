/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which mode to measure next, which mode is best. Pure: models and arrays.
 */
#ifndef JETWATT_PLAN_H
#define JETWATT_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include "model/model.h"

/**
 * struct jetwatt_plan_next - what to measure next
 * @index: into the modes
 * @why: static text, for the story: "lowest mode", "spread", "expected improvement", ...
 */
struct jetwatt_plan_next {
	size_t index;
	const char *why;
};

/**
 * jetwatt_plan_next() - next mode to measure for: min time s.t. power <= budget
 * @mode: the board's modes; @row: what has been measured so far (any order,
 *	0 rows at the start; the same mode may appear again: measured again)
 * @budget_w: 0: no budget, learn the whole surface
 * @most: measurements that may be taken in total, for pacing
 *
 * Deterministic from its arguments. Early choices are cautious: a mode likely
 * over budget is measured only when it can teach something.
 * Return: 0; 1: nothing left that is worth measuring; negative errno.
 */
int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, double budget_w, size_t most, uint64_t seed,
		      struct jetwatt_plan_next *next);

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
 * jetwatt_plan_rank() - candidates for min time s.t. power <= budget, best first
 * @risk: accepted probability that power is over the budget (0.05)
 *
 * A mode whose readings taken together are over budget is never among them. An unmeasured one must beat
 * its own uncertainty to come before a measured one; a measured one whose single
 * reading all others contradict comes last until it is measured again. Who has
 * no measurement left takes the first with @measured set.
 * Return: number written (at most @max); 0: no mode meets the budget, then
 * @out[0] is the closest one (least power); -ENOMEM.
 */
int jetwatt_plan_rank(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		      const struct jetwatt_row *row, size_t rows, double budget_w, double risk,
		      struct jetwatt_plan_choice *out, int max);

/* Indices of the non-dominated set (less time, less power), by time ascending.
 * @out: n entries. Return: how many. */
int jetwatt_plan_front(const double *time, const double *power, size_t n, size_t *out);

#endif
