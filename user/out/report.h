/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTML report and the plots of jetwatt optimize, predict, eval and roofline: from arrays, the
 * functions write one self-contained HTML file or a picture. The page needs no network and no
 * script, has light and dark mode, and fits a phone.
 */
#ifndef JETWATT_REPORT_H
#define JETWATT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "model/model.h"

/* A named moment of the time line, such as a mode switch. */
struct jetwatt_report_mark {
	double t_s;
	const char *text;	/* NULL: a line without text */
};

/* A row of the table of figures; jetwatt_report_html() escapes both strings. */
struct jetwatt_report_fact {
	const char *name, *value;
};

/* A power mode of the board's vendor. */
struct jetwatt_report_preset {
	const char *name;
	double time_ms, power_w;
};

/* One mode of a comparison: time in ms [0] and power in W [1]. */
struct jetwatt_report_fit {
	double measured[2], predicted[2];
};

/* Prediction errors of a method that was fitted to @samples modes, in percent: median and quartiles
 * of repeated fits. [0]: errors of time, [1]: errors of power. */
struct jetwatt_report_curve {
	size_t samples;
	double median[2], q1[2], q3[2];
};

/* Peak performance and energy coefficients of a mode (see plan/roofs.h); @name has no quotes. */
struct jetwatt_report_roof {
	char name[64];
	double flop_s, byte_s, eps_flop, eps_mem, pi0;
};

/* A layer of a network: operations per byte, and number of operations. */
struct jetwatt_report_layer {
	double intensity, flop;
};

/**
 * struct jetwatt_report - contents of the page; every array may be empty
 * @title: title of the page
 * @board, @kernel, @workload: NULL: left out
 * @budget_w: power budget in W, 0: none
 * @predicted, @nr_predicted: all modes as predicted (standard deviations are not shown)
 * @measured, @nr_measured: measured modes, in the order of measurement
 * @chosen: measurement of the chosen mode, or its prediction if it was not measured; NULL: no mode
 *	was chosen
 * @only_predicted: no mode was to be chosen, so the page does not mention a chosen mode
 * @promise: the prediction for the chosen mode, NULL: unknown
 * @preset, @nr_presets: the vendor's modes, measured or predicted
 * @fit, @nr_fit: predicted and measured values of modes that were not learned from
 * @curve, @nr_curve: errors by number of modes learned from, ascending
 * @roof, @nr_roofs: roofs of some modes
 * @layer, @nr_layers: layers of the network, drawn on the first roof
 * @t_s, @w, @nr_samples: total power in W over time in s, @t_s ascending
 * @bound_s, @nr_bounds: ends of minibatches on the same time axis, ascending
 * @mark, @nr_marks: named moments, ascending
 * @fact, @nr_facts: rows of the table of figures
 * @note: a paragraph below the heading, such as "simulated board"; NULL: none
 */
struct jetwatt_report {
	const char *title, *board, *kernel, *workload;
	double budget_w;
	const struct jetwatt_prediction *predicted;
	size_t nr_predicted;
	const struct jetwatt_row *measured;
	size_t nr_measured;
	const struct jetwatt_row *chosen;
	bool only_predicted;
	const struct jetwatt_prediction *promise;
	const struct jetwatt_report_preset *preset;
	size_t nr_presets;
	const struct jetwatt_report_fit *fit;
	size_t nr_fit;
	const struct jetwatt_report_curve *curve;
	size_t nr_curve;
	const struct jetwatt_report_roof *roof;
	size_t nr_roofs;
	const struct jetwatt_report_layer *layer;
	size_t nr_layers;
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

/* Write the page. Return: 0; -EIO: a write to @f failed; -ENOMEM. */
int jetwatt_report_html(FILE *f, const struct jetwatt_report *r);

/* Plots that gnuplot draws: modes with the Pareto front, predicted against measured values, error
 * against the number of measured modes, roofs. */
enum jetwatt_gnuplot {
	JETWATT_GNUPLOT_FRONT, JETWATT_GNUPLOT_FIT, JETWATT_GNUPLOT_LEARNING, JETWATT_GNUPLOT_ROOF,
};

/* Write the gnuplot program of a plot. @png: for PNG, else for SVG. Return: 0; -EIO; -ENOMEM;
 * -ENODATA: nothing to draw. */
int jetwatt_gnuplot_script(FILE *f, const struct jetwatt_report *r, enum jetwatt_gnuplot what,
			   int png);

/* gnuplot_roof.c: the body of the program for JETWATT_GNUPLOT_ROOF. Return: 0; -ENODATA: no
 * roofs. */
int jetwatt_gnuplot_roof(FILE *f, const struct jetwatt_report *r);

/**
 * jetwatt_gnuplot() - draw a plot with gnuplot
 * @path: output file, *.svg or *.png; it is written completely or not at all
 * @r: the data
 * @what: which plot
 * @why: gnuplot's message if it failed and gave one, @len bytes; else ""
 *
 * gnuplot runs as a child process without a shell and without the user's settings, and reads the
 * program from its standard input.
 * Return: 0; -EINVAL: unknown file name extension; -ENOEXEC: no gnuplot can be executed; -ENODATA:
 * nothing to draw; -EPROTO: gnuplot failed or wrote no picture; other negative errno.
 */
int jetwatt_gnuplot(const char *path, const struct jetwatt_report *r, enum jetwatt_gnuplot what,
		    char *why, size_t len);

#endif
