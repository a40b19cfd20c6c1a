/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what has been learned to a mode that is proven: rank, apply, measure,
 * step on if the measurement breaks the budget.
 */
#ifndef JETWATT_TUNE_VERIFY_H
#define JETWATT_TUNE_VERIFY_H

#include "tune/tuner.h"

#define JETWATT_CHOOSE_MAX	16

/**
 * struct jetwatt_choose - the outcome
 * @index: of the chosen candidate
 * @predicted: what was predicted for it before the proof
 * @proof: its last measurement, time and power over seconds
 * @proven: @proof is within the budget
 */
struct jetwatt_choose {
	size_t index;
	struct jetwatt_prediction predicted;
	struct jetwatt_row proof;
	int proven;
};

/* Candidates by prediction, best first. Return: how many; 0: none, then
 * out[0] is the closest one; -1 after saying what is wrong. */
int jetwatt_choose_rank(struct jetwatt_learn *l, struct jetwatt_plan_choice *out);

/**
 * jetwatt_choose_prove() - find a mode and prove it
 * @more: so many modes may be measured that were not before
 *
 * Return: 0: the board is in the chosen mode; exit code. JETWATT_EXIT_INFEASIBLE
 * has been explained.
 */
int jetwatt_choose_prove(struct jetwatt_learn *l, unsigned int more, struct jetwatt_choose *c);

/* No mode meets the budget: say so and which is closest. Return: exit code. */
int jetwatt_choose_infeasible(const struct jetwatt_learn *l, const struct jetwatt_plan_choice *near);

#endif
