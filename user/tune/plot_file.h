/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --plot: a report's arrays as a picture (.svg, .png) or a page (.html).
 */
#ifndef JETWATT_TUNE_PLOT_FILE_H
#define JETWATT_TUNE_PLOT_FILE_H

#include "out/report.h"
#include "tune/preset_compare.h"

/* For parsers: is the end of @path one that we can write? Else status 2. */
const char *jetwatt_picture_path(const char *option, const char *path);

/* Write it. Return: 0; exit code. */
int jetwatt_picture_write(const char *path, const struct jetwatt_report *r,
			  enum jetwatt_picture what);

/* Candidates, measurements, presets and budget of a search. @chosen: as it was
 * measured or else predicted, NULL: none. Return: 0; exit code. */
int jetwatt_picture_front(const char *path, const struct jetwatt_learn *l,
			  const struct jetwatt_baseline *b, const char *board,
			  const struct jetwatt_row *chosen);

#endif
