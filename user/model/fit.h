/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fitted model, as user/plan sees it: any number of rows from one on.
 */
#ifndef JETWATT_FIT_H
#define JETWATT_FIT_H

#include "surface.h"

/* More rows than this say nothing new about a surface in four knobs that
 * would be worth the cube of their number. */
#define JETWATT_FIT_MAX	400

struct jetwatt_model {
	struct jetwatt_surface *time, *power;
	double at_ref;
};

/* As jetwatt_model_fit(), from one row on: priors fill in what is missing. */
int jetwatt_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n, uint64_t seed);

/* What the forms alone say: no process, no spread, a fraction of the cost of
 * jetwatt_model_predict(). @time_ms, @power_w: n entries. Return: 0, -EINVAL. */
int jetwatt_model_outline(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  double *time_ms, double *power_w);

/* The rate that jetwatt_point wants for a mode that takes @time_ms. */
double jetwatt_model_rate(const struct jetwatt_model *m, double time_ms);

#endif
