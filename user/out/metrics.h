/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics as text: OpenMetrics 1.0, and Prometheus' text format 0.0.4, which names
 * counters' families otherwise. Base units; parents and children never share a
 * name, because the sum over all labels of a metric must mean something.
 */
#ifndef JETWATT_OUT_METRICS_H
#define JETWATT_OUT_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "jetwatt.h"

#define JETWATT_METRICS_BUCKETS	16

/* Upper bounds of buckets, 1, 2, 5 by powers of ten: of J, and of s. */
extern const double jetwatt_metrics_joules[JETWATT_METRICS_BUCKETS];
extern const double jetwatt_metrics_seconds[JETWATT_METRICS_BUCKETS];

struct jetwatt_metrics_histogram {
	uint64_t below[JETWATT_METRICS_BUCKETS], n;
	double sum;
};

/**
 * struct jetwatt_metrics - an exposition being written
 * @open: OpenMetrics, not 0.0.4
 */
struct jetwatt_metrics {
	FILE *f;
	int open;
};

void jetwatt_metrics_observe(struct jetwatt_metrics_histogram *h, const double *bound, double v);

/* A family's head, before its samples: @type is "counter", "gauge" or "histogram"; a
 * counter's @name is without its _total; @unit: the end of the name, or NULL. */
void jetwatt_metrics_family(const struct jetwatt_metrics *m, const char *name, const char *type,
			    const char *unit, const char *help);

/* @name as it stands, of a counter with its _total; @label NULL: none. */
void jetwatt_metrics_sample(const struct jetwatt_metrics *m, const char *name, const char *label,
			    const char *text, double v);
void jetwatt_metrics_histogram(const struct jetwatt_metrics *m, const char *name, const char *label,
			       const char *text, const double *bound,
			       const struct jetwatt_metrics_histogram *h);

/* A family with one sample and no label. */
void jetwatt_metrics_counter(const struct jetwatt_metrics *m, const char *name, const char *unit,
			     const char *help, double v);
void jetwatt_metrics_gauge(const struct jetwatt_metrics *m, const char *name, const char *unit,
			   const char *help, double v);

/* A family for each row of the table of series of which something is known. */
void jetwatt_metrics_telemetry(const struct jetwatt_metrics *m, const struct jetwatt_telemetry *t);

/* The last line. */
void jetwatt_metrics_end(const struct jetwatt_metrics *m);

#endif
