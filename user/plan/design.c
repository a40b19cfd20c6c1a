// SPDX-License-Identifier: GPL-2.0-only
/*
 * The initial design: four modes in which every knob varies independently of the other knobs. If
 * the predicted power of a mode is far above the budget, lower modes are tried.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>

#include "model/form.h"

/* If the predicted power of a design mode exceeds this factor times the budget, a lower mode is
 * tried. */
#define REACH	2.0

/* Ranges of the features. */
struct design_range {
	double lo[JETWATT_FEATURES], hi[JETWATT_FEATURES];
};

static void design_range_of(const struct jetwatt_search *s, struct design_range *r)
{
	struct jetwatt_features x;

	for (size_t i = 0; i < s->n; i++) {
		jetwatt_features_of(&x, &s->mode[i]);
		for (int d = 0; d < JETWATT_FEATURES; d++) {
			r->lo[d] = !i || x.lg[d] < r->lo[d] ? x.lg[d] : r->lo[d];
			r->hi[d] = !i || x.lg[d] > r->hi[d] ? x.lg[d] : r->hi[d];
		}
	}
}

/* Set @at to the unmeasured mode that is nearest to @frac, the positions (0 to 1) in the ranges of
 * the features. Return: 0; 1 if all modes are measured. */
static int design_nearest(const struct jetwatt_search *s, const struct design_range *r,
			  const double *frac, size_t *at)
{
	double best = INFINITY;
	struct jetwatt_features x;

	for (size_t i = 0; i < s->n; i++) {
		double sum = 0;

		if (s->seen[i])
			continue;
		jetwatt_features_of(&x, &s->mode[i]);
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
	/* Positions of cores, CPU, GPU and EMC in the four modes: the middle; all high; high CPU
	 * and low GPU clock; few cores and high GPU clock. */
	static const double first[JETWATT_DESIGN][JETWATT_DIMS] = {
		{ .5, .5, .5, .7 }, { .8, .8, .8, 1 }, { .5, .9, .4, 1 }, { .3, .6, .8, .7 },
	};
	/* Positions of optional knobs vary out of step with the other knobs. */
	static const double optional[JETWATT_DESIGN] = { .7, .3, 1, .5 };
	struct design_range r;
	int err = 1;

	design_range_of(s, &r);
	next->why = "spread";
	for (double down = 0; down < 0.5; down += 0.1) {
		double frac[JETWATT_FEATURES];

		for (int d = 0; d < JETWATT_FEATURES; d++)
			frac[d] = fmax((d < JETWATT_DIMS ? first[s->rows][d]
							 : optional[s->rows]) - down, 0);
		err = design_nearest(s, &r, frac, &next->index);
		if (err || !s->rows || !(s->budget_w > 0) ||
		    s->p[next->index].power_w <= REACH * s->budget_w)
			break;
		next->why = "spread, below budget";
	}
	return err;
}
