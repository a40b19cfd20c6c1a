/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes metrics as text, in OpenMetrics 1.0 or in Prometheus' text format 0.0.4; for jetwattd, the
 * exporter and jetwatt export. The two formats differ in the names of counters' families, in the
 * lines of units and in the last line. Values are in base units (seconds, joules, watts). Rails of
 * the total and all other rails, such as those that another rail supplies, have different metric
 * names, so that the sum over the rails of the total is correct.
 */
#ifndef JETWATT_OUT_METRICS_H
#define JETWATT_OUT_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "jetwatt.h"

#define JETWATT_METRICS_BUCKETS	16

/* Upper bounds of the histogram buckets, in J and in s: 1, 2, 5 in each decade. */
extern const double jetwatt_metrics_joules[JETWATT_METRICS_BUCKETS];
extern const double jetwatt_metrics_seconds[JETWATT_METRICS_BUCKETS];

/* A histogram. @below[i]: number of values up to bucket i's upper bound; @n, @sum: number and sum
 * of all values. */
struct jetwatt_metrics_histogram {
	uint64_t below[JETWATT_METRICS_BUCKETS], n;
	double sum;
};

/**
 * struct jetwatt_metrics - an exposition being written
 * @f: the output
 * @open: 1: OpenMetrics 1.0; 0: Prometheus text format 0.0.4
 */
struct jetwatt_metrics {
	FILE *f;
	int open;
};

/* Add a value to a histogram. @bound: the upper bounds of the histogram's buckets. */
void jetwatt_metrics_observe(struct jetwatt_metrics_histogram *h, const double *bound, double v);

/* Write the header of a family, before its samples. @name: without "_total" for a counter; @type:
 * "counter", "gauge" or "histogram"; @unit: unit, which is the last part of @name; NULL: the metric
 * has no unit. */
void jetwatt_metrics_family(const struct jetwatt_metrics *m, const char *name, const char *type,
			    const char *unit, const char *help);

/* Write a sample. @name: complete, with "_total" for a counter; @label: name of the label, NULL:
 * the sample has no label; @text: its value. */
void jetwatt_metrics_sample(const struct jetwatt_metrics *m, const char *name, const char *label,
			    const char *text, double v);
/* Write the samples of a histogram: buckets, count and sum. @label, @text: as in
 * jetwatt_metrics_sample(). */
void jetwatt_metrics_histogram(const struct jetwatt_metrics *m, const char *name, const char *label,
			       const char *text, const double *bound,
			       const struct jetwatt_metrics_histogram *h);

/* Write a family with one sample and no label. */
void jetwatt_metrics_counter(const struct jetwatt_metrics *m, const char *name, const char *unit,
			     const char *help, double v);
void jetwatt_metrics_gauge(const struct jetwatt_metrics *m, const char *name, const char *unit,
			   const char *help, double v);

/* Write a family for each telemetry series that has a known value. */
void jetwatt_metrics_telemetry(const struct jetwatt_metrics *m, const struct jetwatt_telemetry *t);

/* Write the last line of the exposition, which only OpenMetrics has. */
void jetwatt_metrics_end(const struct jetwatt_metrics *m);

#endif
