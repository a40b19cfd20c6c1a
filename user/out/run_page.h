/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of one run: arrays in, one self-contained HTML file out. No network,
 * no script; light and dark; prints.
 */
#ifndef JETWATT_OUT_RUN_PAGE_H
#define JETWATT_OUT_RUN_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JETWATT_PAGE_RAILS	8
#define JETWATT_PAGE_CLOCKS	3

/**
 * struct jetwatt_page_column - the run is cut into equal pieces
 * @w: mean power of each rail of the total; @hi: most of their sum
 * @hz: mean of each clock: CPU, GPU, EMC
 * @n: samples in it; @gap: samples are missing
 */
struct jetwatt_page_column {
	double w[JETWATT_PAGE_RAILS], hi, hz[JETWATT_PAGE_CLOCKS];
	size_t n;
	int gap;
};

/* A stretch of time that is shaded and named. */
struct jetwatt_page_band {
	double from_s, to_s;
	const char *text;
};

/* A minibatch: when it ended, what it took; of its time, that in which the GPU had
 * no work of it yet, and that in which it had. */
struct jetwatt_page_minibatch {
	double end_s, joule, ms, stall_ms, gpu_ms;
};

/**
 * struct jetwatt_page_figure - one figure, as shown and as it is
 * @key, @value: name and digits of the same figure in the JSON report
 * @name, @shown: for people; @name NULL: one of the big ones' parts
 */
struct jetwatt_page_figure {
	char key[64], value[32], name[64], shown[96];
};

/**
 * struct jetwatt_page - what the page shows; every array may be empty
 * @rail, @nr_rails: labels of the total's rails
 * @column, @nr_columns: of @column_s each, from 0
 * @minibatch: those that count, in order; @bound_s: the ends of all of them
 * @launched: when work was given to the GPU is known
 * @band: alarms and the like
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
	int launched;
	const double *bound_s;
	size_t nr_bounds;
	const struct jetwatt_page_band *band;
	size_t nr_bands;
	const struct jetwatt_page_figure *figure;
	size_t nr_figures;
};

/* Return: 0; -EIO: a write to @f failed; -ENOMEM. */
int jetwatt_page_write(FILE *f, const struct jetwatt_page *p);

/* The plots. */
void jetwatt_page_timeline(FILE *f, const struct jetwatt_page *p);
int jetwatt_page_spread(FILE *f, const struct jetwatt_page *p);
void jetwatt_page_drift(FILE *f, const struct jetwatt_page *p);
void jetwatt_page_split(FILE *f, const struct jetwatt_page *p);

#endif
