/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plots as inline SVG. Colours are classes: the page's style sheet has them,
 * once for light and once for dark.
 */
#ifndef JETWATT_PLOT_H
#define JETWATT_PLOT_H

#include "out/report.h"

/**
 * struct jetwatt_plot - a frame with two axes
 * @f: where it is written
 * @lo, @hi: range of x and y
 * @log: 1: x is logarithmic, 2: y is, 3: both
 */
struct jetwatt_plot {
	FILE *f;
	double lo[2], hi[2];
	int log;
};

/* Text with what HTML and SVG reserve replaced. */
void jetwatt_plot_text(FILE *f, const char *text);

/* Begin a plot: widens the ranges to round values and draws the axes. */
void jetwatt_plot_begin(struct jetwatt_plot *p, const char *what, const char *x_label,
			const char *y_label);
void jetwatt_plot_end(struct jetwatt_plot *p);
double jetwatt_plot_x(const struct jetwatt_plot *p, double x);
double jetwatt_plot_y(const struct jetwatt_plot *p, double y);
/* A horizontal line through the frame with a word on it. */
void jetwatt_plot_level(struct jetwatt_plot *p, double y, const char *text);

/* Time against power of all modes: predicted, front, measured, chosen, budget. */
int jetwatt_plot_modes(FILE *f, const struct jetwatt_report *r);
/* Predicted against measured, @what: 0: time, 1: power. */
int jetwatt_plot_fit(FILE *f, const struct jetwatt_report *r, int what);
/* Error against the number of modes learned from. */
int jetwatt_plot_curve(FILE *f, const struct jetwatt_report *r);
/* Power over time: envelope and mean, minibatches, switches, budget. */
int jetwatt_plot_timeline(FILE *f, const struct jetwatt_report *r);

/* Both roofs of some modes, with a network's layers below the first. */
int jetwatt_plot_roofs(FILE *f, const struct jetwatt_report *r, int energy);

/* What a mode gives at @i operations for a byte: operations per second, or per joule. */
double jetwatt_roof_under(const struct jetwatt_report_roof *r, double i, int energy);
/* Operations for a byte from well below where roofs meet, and layers are, to well above. */
void jetwatt_roof_range(const struct jetwatt_report *r, double *lo, double *hi);

#endif
