/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the strategy auto believes of one workload: its measurements, and the
 * predictions of a model that is fitted to them again and again.
 */
#ifndef JETWATT_VIEW_H
#define JETWATT_VIEW_H

#include "plan/known.h"

/**
 * struct jetwatt_view - the model of one workload
 * @base: the last whole fit, to @based rows; @m: the one in use, often the same
 * @rows: that there were; @budget: that it is for, where it has not all of them
 * @p: its predictions, cell by cell; @good: of these sizes
 */
struct jetwatt_view {
	struct jetwatt_fitted *base, *m;
	size_t based, rows;
	double budget;
	struct jetwatt_prediction *p;
	unsigned char good[JETWATT_SLICE_SIZES];
};

/**
 * struct jetwatt_guess - of a cell: medians, and standard deviations of the
 * logarithms; 0: it was measured
 */
struct jetwatt_guess {
	double time_ms, time_sd, power_w, power_sd;
};

/* @n: modes. Return: 0, -ENOMEM. */
int jetwatt_view_init(struct jetwatt_view *v, const struct jetwatt_tenant *t, size_t n);
void jetwatt_view_free(struct jetwatt_view *v);

/**
 * jetwatt_view_fit() - to what was measured by now, best near @budget
 * @whole: there is time for a whole fit that can wait; 0 when it was taken
 *
 * Without a row there is a model only where other workloads foresee these modes. Return: 0, negative errno.
 */
int jetwatt_view_fit(struct jetwatt_view *v, const struct jetwatt_known *k,
		     const struct jetwatt_tenant *t, double budget, uint64_t seed, int *whole);

/* All modes at one size, where there is a model. Return: 0, negative errno. */
int jetwatt_view_predict(struct jetwatt_view *v, const struct jetwatt_known *k,
			 const struct jetwatt_tenant *t, size_t size);

/* Measured, or predicted, which it must have been. */
struct jetwatt_guess jetwatt_view_guess(const struct jetwatt_view *v,
					const struct jetwatt_known *k,
					const struct jetwatt_tenant *t, size_t size, size_t mode);

#endif
