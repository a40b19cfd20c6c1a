// SPDX-License-Identifier: GPL-2.0-only
#include "model/form.h"

#include <errno.h>
#include <math.h>

/* Round figures in the middle of a Jetson's range: they only centre the
 * priors, every board is measured on its own. Of an optional knob: 1 GHz. */
static double middle(enum jetwatt_knob k)
{
	static const double of[JETWATT_DIMS] = { 8, 2e6, 1e9, 2e9 };

	return k < JETWATT_DIMS ? of[k] : 1e9 / jetwatt_knob_row(k)->hz;
}

int jetwatt_point_of(struct jetwatt_point *x, const struct jetwatt_mode *m)
{
	if (!jetwatt_mode_whole(m))
		return -EINVAL;
	jetwatt_each_knob(k) {
		uint64_t v = jetwatt_mode_get(m, k);
		int d = jetwatt_feature(k);

		/* A clock of 1 is that of a missing knob: unknown, and the same in every mode. So
		 * is one of 0, of a knob that the mode leaves. */
		x->v[d] = v > 1 || !jetwatt_knob_row(k)->hz ? v / middle(k) : 1;
		x->lg[d] = log(x->v[d]);
	}
	jetwatt_point_batch(x, 0);
	x->rate = 1;
	x->rough = 0;
	return 0;
}

void jetwatt_point_batch(struct jetwatt_point *x, uint32_t batch)
{
	x->serves = batch != 0;
	x->v[JETWATT_BATCH] = batch ? batch / 16.0 : 1;
	x->lg[JETWATT_BATCH] = log(x->v[JETWATT_BATCH]);
}

double jetwatt_form_work(double fixed, const struct jetwatt_point *x, double *slope)
{
	double v = x->v[JETWATT_BATCH];

	if (v == 1) {
		*slope = 0;
		return 0;
	}
	*slope = fixed / (fixed + v) - fixed / (fixed + 1);
	return log((fixed + v) / (fixed + 1));
}
