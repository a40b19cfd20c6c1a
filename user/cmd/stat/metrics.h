/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics of a run by name, for --fail-if and for means over several runs; for jetwatt stat. */
#ifndef JETWATT_CMD_STAT_METRICS_H
#define JETWATT_CMD_STAT_METRICS_H

#include <stddef.h>

#include "job/resource_usage.h"
#include "measure/summary.h"
#include "measure/work_units.h"

/* Number of metrics of a counter of --per; largest number of metrics of a run. */
#define JETWATT_UNIT_METRICS	5
#define JETWATT_RUN_METRICS_MAX	(32 + JETWATT_UNITS_MAX * JETWATT_UNIT_METRICS)

/* Metrics of one run; the metrics stay valid after the run is freed. NAN: unknown. */
struct jetwatt_run_metrics {
	double v[JETWATT_RUN_METRICS_MAX];
};

/* Add the metrics of a counter of --per: J/NAME, ms/NAME, NAME/s, W.NAME and NAME.count. Return: 0;
 * -EEXIST: a metric has one of these names. */
int jetwatt_metric_add_unit(const char *name);

/* Return: the number of metrics; and the name of the metric with index @i, which is less than that
 * number. */
int jetwatt_metric_count(void);
const char *jetwatt_metric_name(int i);
/* Return: 1 if the metric is printed in the summary of several runs, else 0. */
int jetwatt_metric_in_summary(int i);

/* Copy the metrics of a run from its summary @s and its resource usage @u. */
void jetwatt_metric_collect(struct jetwatt_run_metrics *f, const struct jetwatt_summary *s,
			    const struct jetwatt_usage_result *u);
/* Copy the metrics of the @n counters @unit, after jetwatt_metric_collect(). */
void jetwatt_metric_collect_units(struct jetwatt_run_metrics *f,
				  const struct jetwatt_work_unit *unit, int n);

/* Callback for threshold expressions: look up the metric whose name has @len characters. @figures:
 * struct jetwatt_run_metrics, or NULL, then every existing name has the value 1. Return: 0; -ENOENT
 * if no metric has the name; -ENODATA if the value is unknown. */
int jetwatt_metric_find(const char *name, size_t len, double *value, void *figures);

/**
 * jetwatt_metric_mean() - mean of a metric over several runs
 * @f, @n: the runs
 * @i: index of the metric
 * @pct: standard error of the mean, in percent of the mean; NAN if the value is known in fewer than
 *	two runs, or the mean is 0
 *
 * Return: mean of the metric over the runs in which its value is known; NAN: in none.
 */
double jetwatt_metric_mean(const struct jetwatt_run_metrics *f, int n, int i, double *pct);

#endif
