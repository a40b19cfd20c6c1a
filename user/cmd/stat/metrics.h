/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics of a run by name, for --fail-if and for means over several runs; for jetwatt stat. */
#ifndef JETWATT_CMD_STAT_METRICS_H
#define JETWATT_CMD_STAT_METRICS_H

#include <stddef.h>

#include "job/resource_usage.h"
#include "measure/summary.h"

#define JETWATT_FIGURES	32

/* Metrics of one run; they stay valid after its meter is freed. NAN: unknown. */
struct jetwatt_figures {
	double v[JETWATT_FIGURES];
};

/* Number of metrics, and the name of metric @i, 0 to the number - 1. */
int jetwatt_figure_count(void);
const char *jetwatt_figure_name(int i);
/* Return: 1 if the metric is printed in the summary of several runs, else 0. */
int jetwatt_figure_main(int i);

/* Copy the metrics of a run from its summary @s and its resource usage @u. */
void jetwatt_figure_take(struct jetwatt_figures *f, const struct jetwatt_summary *s,
			 const struct jetwatt_usage_figures *u);

/* Callback for threshold expressions: look up a metric of @len characters. @figures: struct
 * jetwatt_figures, or NULL: every existing name has the value 1. Return: 0; -ENOENT: unknown name;
 * -ENODATA: unknown value. */
int jetwatt_figure_find(const char *name, size_t len, double *value, void *figures);

/**
 * jetwatt_figure_mean() - mean of a metric over several runs
 * @f, @n: the runs
 * @i: index of the metric
 * @pct: standard error of the mean, in percent of the mean; NAN with fewer than two runs
 *
 * Return: mean over the runs in which the metric is known; NAN: in none.
 */
double jetwatt_figure_mean(const struct jetwatt_figures *f, int n, int i, double *pct);

#endif
