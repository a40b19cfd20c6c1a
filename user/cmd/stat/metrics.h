/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of a run by name: for --fail-if, and for means over runs.
 */
#ifndef JETWATT_CMD_STAT_METRICS_H
#define JETWATT_CMD_STAT_METRICS_H

#include <stddef.h>

#include "job/resource_usage.h"
#include "measure/summary.h"

#define JETWATT_FIGURES	32

/* One run, as numbers: the meter behind it may be gone. NAN: not known. */
struct jetwatt_figures {
	double v[JETWATT_FIGURES];
};

int jetwatt_figure_count(void);
const char *jetwatt_figure_name(int i);
/* Those worth a line when runs are compared. */
int jetwatt_figure_main(int i);

void jetwatt_figure_take(struct jetwatt_figures *f, const struct jetwatt_summary *s,
			 const struct jetwatt_usage_figures *u);

/* For rules: value by name. @figures: struct jetwatt_figures, NULL: any name
 * that exists is worth 1. */
int jetwatt_figure_find(const char *name, size_t len, double *value, void *figures);

/**
 * jetwatt_figure_mean() - over runs
 * @pct: standard error of the mean in percent of it; NAN with less than two
 *
 * Return: mean over the runs that know it, NAN: none does.
 */
double jetwatt_figure_mean(const struct jetwatt_figures *f, int n, int i, double *pct);

#endif
