/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explains a mode from a fitted model: which part of the time dominates, and what one level up or
 * down of each knob would change. Printed by tune/explain_print.c.
 */
#ifndef JETWATT_EXPLAIN_H
#define JETWATT_EXPLAIN_H

#include "model/estimator.h"

/* Largest number of neighbours: one level up and one down, for each knob. */
#define JETWATT_EXPLAIN_STEPS	(2 * JETWATT_KNOBS)

/**
 * struct jetwatt_explain_step - a neighbour that differs in one knob
 * @knob: the knob
 * @up: 1: the neighbour has the next higher level of the knob; 0: the next lower level
 * @index: index of the neighbour in the array of modes
 * @time: relative change of the time of a minibatch from the explained mode to the neighbour
 * @power_w: change of the power from the explained mode to the neighbour, in watts
 */
struct jetwatt_explain_step {
	enum jetwatt_knob knob;
	int up;
	size_t index;
	double time, power_w;
};

/**
 * struct jetwatt_explain - the explanation
 * @parts: 1: the predictor divides the time into parts; 0: @share and @binds are meaningless
 * @share: share of each part of the time, see jetwatt_model_shares()
 * @binds: the largest part
 * @step: the neighbours, in the order of the knobs
 * @steps: number of neighbours
 */
struct jetwatt_explain {
	int parts;
	double share[JETWATT_SHARES];
	enum jetwatt_share binds;
	struct jetwatt_explain_step step[JETWATT_EXPLAIN_STEPS];
	int steps;
};

/**
 * jetwatt_explain() - explain a mode
 * @f: the model
 * @mode: modes of the board
 * @p: predictions of the model @f for all modes
 * @n: number of modes
 * @at: index of the mode to be explained
 * @e: set to the explanation
 *
 * Return: 0; an error of the predictor's operation @shares.
 */
int jetwatt_explain(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
		    const struct jetwatt_prediction *p, size_t n, size_t at,
		    struct jetwatt_explain *e);

#endif
