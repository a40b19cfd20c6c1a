/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of measured modes as a board for learner_job.h, and the job's progress in it, for learner.c
 * and learner_day.c. Outliers (optimum.h) are no candidates. */
#ifndef JETWATT_LEARNER_FILE_H
#define JETWATT_LEARNER_FILE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/learner_job.h"
#include "demo/optimum.h"

/* Presets of nvpmodel.conf (L4T 36): 15W, 30W, 50W of an AGX Orin, 7W, 15W of an Orin Nano. */
static const struct jetwatt_mode preset[] = {
	{ .cores = 4, .cpu_khz = 1113600, .gpu_hz = 420750000, .emc_hz = 2133000000 },
	{ .cores = 8, .cpu_khz = 1728000, .gpu_hz = 624750000, .emc_hz = 3199000000 },
	{ .cores = 12, .cpu_khz = 1497600, .gpu_hz = 828750000, .emc_hz = 3199000000 },
	{ .cores = 4, .cpu_khz = 960000, .gpu_hz = 408000000, .emc_hz = 2133000000 },
	{ .cores = 6, .cpu_khz = 1510400, .gpu_hz = 624750000, .emc_hz = 2133000000 },
};
static const double named_w[] = { 15, 30, 50, 7, 15 };

/* Return: number of minibatches of the job after the time @from_s. */
static double made(const struct bench *b, double from_s)
{
	double at = 0, n = 0;

	for (size_t i = 0; i < b->parts; at += b->part[i++].s) {
		double s = fmin(b->part[i].s, at + b->part[i].s - from_s);

		if (s > 0)
			n += s / b->row[b->part[i].mode].time_ms * 1e3;
	}
	return n;
}

static double fastest(const struct bench *b, double watts)
{
	double t = INFINITY;

	for (size_t i = 0; i < b->n; i++)
		if (b->row[i].power_w <= watts)
			t = fmin(t, b->row[i].time_ms);
	return t;
}

/* Return: index of the candidate nearest to a preset. */
static size_t nearest(const struct bench *b, const struct jetwatt_mode *m)
{
	double least = INFINITY;
	size_t at = 0;

	for (size_t i = 0; i < b->n; i++) {
		double far = 0;

		jetwatt_each_knob(k)
			if (jetwatt_mode_get(m, k))
				far += fabs(log((double)jetwatt_mode_get(&b->row[i].mode, k) / jetwatt_mode_get(m, k)));
		if (far < least) {
			least = far;
			at = i;
		}
	}
	return at;
}

static double best_preset(const struct bench *b)
{
	double t = INFINITY;

	for (size_t k = 0; k < b->presets; k++)
		if (b->row[b->preset[k]].power_w <= room(b))
			t = fmin(t, b->row[b->preset[k]].time_ms);
	return t;
}

static long load(const char *path, struct jetwatt_row **row)
{
	unsigned char *outlier;
	size_t k = 0;
	long n = search_read(path, row);

	if (n <= 0) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	outlier = calloc(n, 1);
	if (!outlier || optimum_outliers(*row, n, outlier) < 0)
		exit(1);
	for (long i = 0; i < n; i++)
		if (!outlier[i])
			(*row)[k++] = (*row)[i];
	free(outlier);
	return k;
}

/* Select the candidates, and the nearest candidate of each preset of nvpmodel. */
static void open_board(struct bench *b, const char *path, double times)
{
	size_t from = 3, most_cores = 0;

	b->n = load(path, &b->row);
	b->l.known.mode = malloc(b->n * sizeof(*b->l.known.mode));
	b->l.known.nr_modes = b->n;
	b->max_stored = PARTS;
	b->stored = malloc(b->max_stored * sizeof(*b->stored));
	if (!b->l.known.mode || !b->stored)
		exit(1);
	for (size_t i = 0; i < b->n; i++) {
		b->row[i].time_ms *= times;
		b->row[i].time_sd = b->row[i].power_sd = 0;
		b->l.known.mode[i] = b->row[i].mode;
		most_cores = b->row[i].mode.cores > most_cores ? b->row[i].mode.cores : most_cores;
	}
	if (jetwattd_learner_open(&b->l))
		exit(1);
	if (most_cores > 6)
		from = 0;
	b->presets = from ? 2 : 3;
	for (size_t k = 0; k < b->presets; k++) {
		b->preset[k] = nearest(b, &preset[from + k]);
		b->first[k] = b->row[b->preset[k]].mode;
		b->first_w[k] = named_w[from + k];
	}
	b->start = b->preset[0];
}

#endif
