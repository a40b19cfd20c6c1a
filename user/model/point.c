// SPDX-License-Identifier: GPL-2.0-only
#include "model/form.h"

#include <errno.h>
#include <math.h>

/* Round figures in the middle of a Jetson's range: they only centre the
 * priors, every board is measured on its own. */
int jetwatt_point_of(struct jetwatt_point *x, const struct jetwatt_mode *m)
{
	if (!m->cores || !m->cpu_khz || !m->gpu_hz || !m->emc_hz)
		return -EINVAL;
	x->v[JETWATT_CORES] = m->cores / 8.0;
	/* A clock of 1 is that of a missing knob: unknown, and the same in every mode. */
	x->v[JETWATT_CPU] = m->cpu_khz > 1 ? m->cpu_khz / 2e6 : 1;
	x->v[JETWATT_GPU] = m->gpu_hz > 1 ? m->gpu_hz / 1e9 : 1;
	x->v[JETWATT_EMC] = m->emc_hz > 1 ? m->emc_hz / 2e9 : 1;
	for (int d = 0; d < JETWATT_DIMS; d++)
		x->lg[d] = log(x->v[d]);
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
