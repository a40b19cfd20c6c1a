// SPDX-License-Identifier: GPL-2.0-only
#include "form.h"

#include <errno.h>
#include <math.h>

/* Round figures in the middle of a Jetson's range: they only centre the
 * priors, every board is measured on its own. */
int jetwatt_point_of(struct jetwatt_point *x, const struct jetwatt_mode *m)
{
	if (!m->cores || !m->cpu_khz || !m->gpu_hz || !m->emc_hz)
		return -EINVAL;
	x->v[JETWATT_CORES] = m->cores / 8.0;
	x->v[JETWATT_CPU] = m->cpu_khz / 2e6;
	x->v[JETWATT_GPU] = m->gpu_hz / 1e9;
	x->v[JETWATT_EMC] = m->emc_hz / 2e9;
	for (int d = 0; d < JETWATT_DIMS; d++)
		x->lg[d] = log(x->v[d]);
	x->rate = 1;
	return 0;
}
