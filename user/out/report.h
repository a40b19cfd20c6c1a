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

/* A mode that the board's vendor offers. */
struct jetwatt_report_preset {
	const char *name;
	double time_ms, power_w;
};

/* One mode that a prediction is judged by: time in ms and power in W. */
struct jetwatt_report_fit {
	double is[2], told[2];
};

/* Errors of a prediction from so many modes, in percent: time and power. */
struct jetwatt_report_curve {
	size_t samples;
	double median[2], q1[2], q3[2];
};

/* Peaks and energies of a mode; @name: plain, without quotes. */
struct jetwatt_report_roof {
	char name[64];
	double flop_s, byte_s, eps_flop, eps_mem, pi0;
};

/* A layer of a network: operations for a byte, and operations. */
struct jetwatt_report_layer {
	double intensity, flop;
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
 * @preset, @nr_presets: measured or predicted
 * @fit, @nr_fit: predicted against measured, of modes that were not learned from
 * @curve, @nr_curve: error against the number of modes learned from, ascending
 * @roof, @nr_roofs: of some modes; @layer, @nr_layers: below the first of them
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

/* Return: 0; -EIO: a write to @f failed; -ENOMEM. */
int jetwatt_report_html(FILE *f, const struct jetwatt_report *r);

enum jetwatt_picture {
	JETWATT_PICTURE_FRONT, JETWATT_PICTURE_FIT, JETWATT_PICTURE_LEARNING, JETWATT_PICTURE_ROOF,
};

/* The gnuplot program of a picture. @png: else SVG. Return: 0; -EIO; -ENOMEM. */
int jetwatt_picture_script(FILE *f, const struct jetwatt_report *r, enum jetwatt_picture what,
			   int png);

/* What JETWATT_PICTURE_ROOF puts into it. Return: 0; -ENODATA: no roofs. */
int jetwatt_picture_roof(FILE *f, const struct jetwatt_report *r);

/**
 * jetwatt_picture() - draw with gnuplot
 * @path: by its end .svg or .png; written whole or not at all
 * @why: what gnuplot has said
 *
 * gnuplot runs as a child with the program on its standard input: no shell, no
 * settings of the user's.
 * Return: 0; -EINVAL: another end; -ENOEXEC: there is no gnuplot; -EPROTO: it
 * has failed; other negative errno.
 */
int jetwatt_picture(const char *path, const struct jetwatt_report *r, enum jetwatt_picture what,
		    char *why, size_t len);

#endif
