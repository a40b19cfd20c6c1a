/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the best mode and verifies it: ranks the candidates, applies and measures the best one for
 * longer, and continues with the next candidate if the measurement exceeds the budget.
 */
#ifndef JETWATT_TUNE_VERIFY_H
#define JETWATT_TUNE_VERIFY_H

#include "tune/tuner.h"

/* Largest number of candidates that jetwatt_verify_rank() returns. */
#define JETWATT_VERIFY_CANDIDATES	16

/**
 * struct jetwatt_verify - the result
 * @index: index of the chosen candidate
 * @predicted: prediction of the chosen candidate before the verification
 * @proof: measurement of the chosen candidate
 * @proven: 1: the measurement @proof is within the budget
 */
struct jetwatt_verify {
	size_t index;
	struct jetwatt_prediction predicted;
	struct jetwatt_row proof;
	int proven;
};

/*
 * Fit the model, and rank the candidates, best first. @out: JETWATT_VERIFY_CANDIDATES entries.
 * Return: number of candidates; 0 if no candidate meets the budget, then out[0] is the closest
 * candidate; -1 after printing the error.
 */
int jetwatt_verify_rank(struct jetwatt_tuner *l, struct jetwatt_plan_choice *out);

/**
 * jetwatt_verify_best() - find the best mode and verify it
 * @l: candidates and rows
 * @more: largest number of new modes to measure
 * @c: set to the result
 *
 * Return: 0 with the board in the chosen mode; exit code. JETWATT_EXIT_INFEASIBLE has been
 * explained.
 */
int jetwatt_verify_best(struct jetwatt_tuner *l, unsigned int more, struct jetwatt_verify *c);

/* Print that no mode meets the budget, and print the closest mode. Return: exit code. */
int jetwatt_verify_infeasible(const struct jetwatt_tuner *l, const struct jetwatt_plan_choice *near);

#endif
