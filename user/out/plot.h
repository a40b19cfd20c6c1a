/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plots as inline SVG, for the HTML reports. Colours are CSS classes; the page's style sheet
 * defines them for light and dark mode.
 */
#ifndef JETWATT_PLOT_H
#define JETWATT_PLOT_H

#include "out/report.h"

/**
 * struct jetwatt_plot - a frame with two axes
 * @f: file that the SVG is written to
 * @lo, @hi: ranges of x [0] and y [1]
 * @log: 1: x is logarithmic, 2: y is, 3: both
 */
struct jetwatt_plot {
	FILE *f;
	double lo[2], hi[2];
	int log;
};

/* Write text, and escape the characters that HTML and SVG reserve. */
void jetwatt_plot_text(FILE *f, const char *text);

/* Begin a plot: extend a linear y range to round values, logarithmic ranges by a margin, and empty
 * ranges; draw the axes. @what: description for screen readers. */
void jetwatt_plot_begin(struct jetwatt_plot *p, const char *what, const char *x_label,
			const char *y_label);
/* End a plot. */
void jetwatt_plot_end(struct jetwatt_plot *p);
/* Convert a value to an SVG coordinate. */
double jetwatt_plot_x(const struct jetwatt_plot *p, double x);
double jetwatt_plot_y(const struct jetwatt_plot *p, double y);
/* Draw a horizontal line at @y with a label, if @y is in the range. */
void jetwatt_plot_level(struct jetwatt_plot *p, double y, const char *text);

/* Draw the time against the power of all modes: predicted modes, front, measured modes, presets,
 * chosen mode, budget. Return: 0, -ENOMEM. */
int jetwatt_plot_modes(FILE *f, const struct jetwatt_report *r);
/* Draw predicted against measured values. @what: 0: time, 1: power. Return: 0. */
int jetwatt_plot_fit(FILE *f, const struct jetwatt_report *r, int what);
/* Draw the prediction error against the number of modes that the model was fitted to. Return: 0. */
int jetwatt_plot_curve(FILE *f, const struct jetwatt_report *r);
/* Draw the power over time: range and mean, minibatches, mode switches, budget. Return: 0. */
int jetwatt_plot_timeline(FILE *f, const struct jetwatt_report *r);

/* Draw the roofs of some modes, and the layers of a network on the roof of the first mode.
 * @energy: 0: time roofs, 1: energy roofs. Return: 0. */
int jetwatt_plot_roofs(FILE *f, const struct jetwatt_report *r, int energy);

/* Return: upper limit of a mode's performance at @i operations per byte: operations per second, or
 * per joule if @energy is set. */
double jetwatt_roof_under(const struct jetwatt_report_roof *r, double i, int energy);
/* Compute the range of operations per byte that shows the balance points of all roofs, and all
 * layers. */
void jetwatt_roof_range(const struct jetwatt_report *r, double *lo, double *hi);

#endif
