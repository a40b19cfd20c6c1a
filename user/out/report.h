/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report page: arrays in, one self-contained HTML file out. No network, no
 * script; light and dark; fits a phone.
 */
#ifndef JETWATT_REPORT_H
#define JETWATT_REPORT_H

#include <stddef.h>
#include <stdio.h>
#include "model/model.h"

/* A moment of the time line that has a name: a switch of modes. */
struct jetwatt_report_mark {
	double t_s;
	const char *text;	/* may be NULL: a line only */
};

/* A line of a table: both are plain text and get escaped. */
struct jetwatt_report_fact {
	const char *name, *value;
};

/**
 * struct jetwatt_report - what the page shows; every array may be empty
 * @title: of the page
 * @board, @kernel, @workload: NULL: left out
 * @budget_w: 0: none
 * @predicted, @nr_predicted: all modes as predicted (sd are not shown)
 * @measured, @nr_measured: in the order in which they were measured
 * @chosen: as measured at the end, NULL: none was chosen
 * @promise: what was predicted for it, NULL: unknown
 * @t_s, @w, @nr_samples: total power over time, @t_s ascending
 * @bound_s, @nr_bounds: ends of minibatches on the same axis, ascending
 * @mark, @nr_marks: named moments, ascending
 * @fact, @nr_facts: a table below
 * @note: one paragraph under the heading, NULL: none ("simulated board")
 */
struct jetwatt_report {
	const char *title, *board, *kernel, *workload;
	double budget_w;
	const struct jetwatt_prediction *predicted;
	size_t nr_predicted;
	const struct jetwatt_row *measured;
	size_t nr_measured;
	const struct jetwatt_row *chosen;
	const struct jetwatt_prediction *promise;
	const double *t_s, *w;
	size_t nr_samples;
	const double *bound_s;
	size_t nr_bounds;
	const struct jetwatt_report_mark *mark;
	size_t nr_marks;
	const struct jetwatt_report_fact *fact;
	size_t nr_facts;
	const char *note;
};

/* Return: 0; -EIO: a write to @f failed; -ENOMEM. */
int jetwatt_report_html(FILE *f, const struct jetwatt_report *r);

#endif
