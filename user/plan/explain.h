/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a mode is as fast and as frugal as it is: what its time hangs on, and what a
 * step of each knob would change. From a fitted model alone.
 */
#ifndef JETWATT_EXPLAIN_H
#define JETWATT_EXPLAIN_H

#include "model/estimator.h"

/* A step up and one down of each knob. */
#define JETWATT_EXPLAIN_STEPS	(2 * JETWATT_KNOBS)

/**
 * struct jetwatt_explain_step - a neighbour: all knobs alike but one
 * @index: into the modes
 * @time: change of the time of a minibatch, in parts of it; @power_w: of power
 */
struct jetwatt_explain_step {
	enum jetwatt_knob knob;
	int up;
	size_t index;
	double time, power_w;
};

/**
 * struct jetwatt_explain - the reasons
 * @parts: the predictor knows what the time hangs on; else @share and @binds are unset
 * @share: of the time, see jetwatt_model_shares()
 * @binds: the largest of them
 * @step: @steps of them, by knob
 */
struct jetwatt_explain {
	int parts;
	double share[JETWATT_SHARES];
	enum jetwatt_share binds;
	struct jetwatt_explain_step step[JETWATT_EXPLAIN_STEPS];
	int steps;
};

/**
 * jetwatt_explain() - explain mode @at of @n
 * @p: @f's predictions of all of them
 *
 * Return: 0; -EINVAL: a knob at zero.
 */
int jetwatt_explain(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
		    const struct jetwatt_prediction *p, size_t n, size_t at,
		    struct jetwatt_explain *e);

#endif
