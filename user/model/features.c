// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feature vectors of modes, the input of the parametric means and of the Gaussian process.
 */
#include "model/form.h"

#include <errno.h>
#include <math.h>

/* Return: reference value of a knob, in the knob's unit: a round number within a Jetson's range;
 * for an optional knob 1 GHz. The reference values only centre the priors of the parameters. */
static double knob_reference(enum jetwatt_knob k)
{
	static const double of[JETWATT_DIMS] = { 8, 2e6, 1e9, 2e9 };

	return k < JETWATT_DIMS ? of[k] : 1e9 / jetwatt_knob_row(k)->hz;
}

int jetwatt_features_of(struct jetwatt_features *x, const struct jetwatt_mode *m)
{
	if (!jetwatt_mode_whole(m))
		return -EINVAL;
	jetwatt_each_knob(k) {
		uint64_t v = jetwatt_mode_get(m, k);
		int d = jetwatt_feature(k);

		/* A clock of 1 stands for a knob that the board lacks, a clock of 0 for a knob that
		 * the mode does not set. If a knob has one of these two values, it has the same
		 * value in all modes, so it carries no information. */
		x->v[d] = v > 1 || !jetwatt_knob_row(k)->hz ? v / knob_reference(k) : 1;
		x->lg[d] = x->v[d] == 1 ? 0 : log(x->v[d]);
	}
	jetwatt_features_batch(x, 0);
	x->rate = 1;
	x->cpu_sensitivity = 0;
	return 0;
}

void jetwatt_features_batch(struct jetwatt_features *x, uint32_t batch)
{
	x->serves = batch != 0;
	x->v[JETWATT_BATCH] = batch ? batch / 16.0 : 1;
	x->lg[JETWATT_BATCH] = batch ? log(x->v[JETWATT_BATCH]) : 0;
}

double jetwatt_form_work(double fixed, const struct jetwatt_features *x, double *slope)
{
	double v = x->v[JETWATT_BATCH];

	if (v == 1) {
		*slope = 0;
		return 0;
	}
	*slope = fixed / (fixed + v) - fixed / (fixed + 1);
	return log((fixed + v) / (fixed + 1));
}
