// SPDX-License-Identifier: GPL-2.0-only
/*
 * The opening: few modes, spread so that every knob has moved at least once
 * against the others, none far over the budget as far as one can know.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>

#include "model/form.h"

/* How far over the budget the opening may go: what it teaches is worth a
 * moment there, not more. */
#define REACH	2.0

struct design_range {
	double lo[JETWATT_FEATURES], hi[JETWATT_FEATURES];
};

static void range_of(const struct jetwatt_search *s, struct design_range *r)
{
	struct jetwatt_point x;

	for (size_t i = 0; i < s->n; i++) {
		jetwatt_point_of(&x, &s->mode[i]);
		for (int d = 0; d < JETWATT_FEATURES; d++) {
			r->lo[d] = !i || x.lg[d] < r->lo[d] ? x.lg[d] : r->lo[d];
			r->hi[d] = !i || x.lg[d] > r->hi[d] ? x.lg[d] : r->hi[d];
		}
	}
}

/* The unmeasured mode nearest to fractions of the knobs' logarithmic ranges. */
static int nearest(const struct jetwatt_search *s, const struct design_range *r, const double *frac,
		   size_t *at)
{
	double best = INFINITY;
	struct jetwatt_point x;

	for (size_t i = 0; i < s->n; i++) {
		double sum = 0;

		if (s->seen[i])
			continue;
		jetwatt_point_of(&x, &s->mode[i]);
		for (int d = 0; d < JETWATT_FEATURES; d++) {
			double w = r->hi[d] - r->lo[d];

			w = w > 0 ? (x.lg[d] - r->lo[d]) / w - frac[d] : 0;
			sum += w * w;
		}
		if (sum < best) {
			best = sum;
			*at = i;
		}
	}
	return isfinite(best) ? 0 : 1;
}

int jetwatt_design_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	/* Cores, CPU, GPU, EMC: the middle; all up; CPU against GPU; cores against GPU. */
	static const double first[JETWATT_DESIGN][JETWATT_DIMS] = {
		{ .5, .5, .5, .7 }, { .8, .8, .8, 1 }, { .5, .9, .4, 1 }, { .3, .6, .8, .7 },
	};
	/* Optional knobs, if modes differ in them: apart from what the others do. */
	static const double optional[JETWATT_DESIGN] = { .7, .3, 1, .5 };
	struct design_range r;
	int err = 1;

	range_of(s, &r);
	next->why = "spread";
	for (double down = 0; down < 0.5; down += 0.1) {
		double frac[JETWATT_FEATURES];

		for (int d = 0; d < JETWATT_FEATURES; d++)
			frac[d] = fmax((d < JETWATT_DIMS ? first[s->rows][d]
							 : optional[s->rows]) - down, 0);
		err = nearest(s, &r, frac, &next->index);
		if (err || !s->rows || !(s->budget_w > 0) ||
		    s->p[next->index].power_w <= REACH * s->budget_w)
			break;
		next->why = "spread, below budget";
	}
	return err;
}
