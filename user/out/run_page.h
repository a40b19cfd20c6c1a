/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTML page of one run, for jetwatt report: from arrays, the function writes one self-contained
 * HTML file. The page needs no network and no script, has light and dark mode, and can be printed.
 */
#ifndef JETWATT_OUT_RUN_PAGE_H
#define JETWATT_OUT_RUN_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JETWATT_PAGE_RAILS	8
#define JETWATT_PAGE_CLOCKS	3

/**
 * struct jetwatt_page_column - one of the equal intervals into which the run is divided
 * @w: mean power of each rail of the total, in W; the last element also includes further rails
 * @hi: highest sample of the total power, in W
 * @hz: mean clocks in Hz: CPU, GPU, EMC
 * @n: number of samples
 * @gap: samples are missing
 */
struct jetwatt_page_column {
	double w[JETWATT_PAGE_RAILS], hi, hz[JETWATT_PAGE_CLOCKS];
	size_t n;
	int gap;
};

/* A shaded time interval with a label. */
struct jetwatt_page_band {
	double from_s, to_s;
	const char *text;
};

/* A minibatch: the time when it ended, its energy and duration; of the duration, the time until the
 * GPU had work (@stall_ms) and the time with work (@gpu_ms). */
struct jetwatt_page_minibatch {
	double end_s, joule, ms, stall_ms, gpu_ms;
};

/**
 * struct jetwatt_page_figure - a row of the table of figures
 * @key, @value: name and digits of the same figure in the JSON report
 * @name, @shown: label and value with its unit, for people
 */
struct jetwatt_page_figure {
	char key[64], value[32], name[64], shown[96];
};

/**
 * struct jetwatt_page - contents of the page; every array may be empty
 * @command: title, NULL or "": "A recorded run"; @board, @kernel, @when, @note: text of the heading
 * @rail, @nr_rails: labels of the total's rails
 * @column, @nr_columns: power and clocks over time
 * @column_s: width of a column in s; the first one begins at 0
 * @minibatch, @nr_minibatches: minibatches that the figures are computed from, in order of time
 * @phases: number of phases; if there are several, @minibatch has those of phase 1
 * @launched: 1: kernel launches were observed, so stall and GPU time are exact; 0: they are bounds
 * @bound_s, @nr_bounds: ends of all minibatches
 * @band, @nr_bands: alarms
 * @figure, @nr_figures: table of figures
 */
struct jetwatt_page {
	const char *board, *kernel, *command, *when, *note;
	const char *rail[JETWATT_PAGE_RAILS];
	int nr_rails;
	const struct jetwatt_page_column *column;
	size_t nr_columns;
	double column_s;
	const struct jetwatt_page_minibatch *minibatch;
	size_t nr_minibatches;
	int phases, launched;
	const double *bound_s;
	size_t nr_bounds;
	const struct jetwatt_page_band *band;
	size_t nr_bands;
	const struct jetwatt_page_figure *figure;
	size_t nr_figures;
};

/* Write the page. Return: 0; -EIO: a write to @f failed; -ENOMEM. */
int jetwatt_page_write(FILE *f, const struct jetwatt_page *p);

/* The plots of the page: power and clocks over time; distribution of energy; energy along the run;
 * time along the run. jetwatt_page_spread() returns 0 or -ENOMEM. */
void jetwatt_page_timeline(FILE *f, const struct jetwatt_page *p);
int jetwatt_page_spread(FILE *f, const struct jetwatt_page *p);
void jetwatt_page_drift(FILE *f, const struct jetwatt_page *p);
void jetwatt_page_split(FILE *f, const struct jetwatt_page *p);

#endif
