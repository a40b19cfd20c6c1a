// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the neighbours of a mode and the changes of time and power towards them.
 */
#include "plan/explain.h"

/* Return: the nearest mode that differs from mode @at in knob @k only, upwards or downwards; @n if
 * there is none. */
static size_t explain_neighbour(const struct jetwatt_mode *mode, size_t n, size_t at,
				enum jetwatt_knob k, int up)
{
	uint64_t here = jetwatt_mode_get(&mode[at], k), best = 0;
	size_t found = n;

	for (size_t i = 0; i < n; i++) {
		uint64_t there = jetwatt_mode_get(&mode[i], k);
		int same = 1;

		jetwatt_each_knob(o)
			same &= o == k ||
				jetwatt_mode_get(&mode[i], o) == jetwatt_mode_get(&mode[at], o);
		if (!same || (up ? there <= here : there >= here))
			continue;
		if (found == n || (up ? there < best : there > best)) {
			found = i;
			best = there;
		}
	}
	return found;
}

int jetwatt_explain(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
		    const struct jetwatt_prediction *p, size_t n, size_t at,
		    struct jetwatt_explain *e)
{
	int err;

	e->parts = f->by->shares && f->model;
	if (e->parts) {
		err = f->by->shares(f->model, &mode[at], e->share);
		if (err)
			return err;
	}
	e->binds = JETWATT_SHARE_GPU;
	for (enum jetwatt_share s = JETWATT_SHARE_GPU; e->parts && s < JETWATT_SHARES; s++)
		if (e->share[s] > e->share[e->binds])
			e->binds = s;
	e->steps = 0;
	jetwatt_each_knob(k)
		for (int up = 1; up >= 0; up--) {
			size_t i = explain_neighbour(mode, n, at, k, up);

			if (i < n)
				e->step[e->steps++] = (struct jetwatt_explain_step){
					k, up, i, p[i].time_ms / p[at].time_ms - 1,
					p[i].power_w - p[at].power_w,
				};
		}
	return 0;
}
