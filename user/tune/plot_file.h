/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The option --plot: draws a report as .svg or .png (by gnuplot), or writes it as an .html page.
 */
#ifndef JETWATT_TUNE_PLOT_FILE_H
#define JETWATT_TUNE_PLOT_FILE_H

#include "out/report.h"
#include "tune/preset_compare.h"

/*
 * Check that the file name ends in .svg, .png or .html; exits with status 2 if not. @option: name
 * of the option that the message mentions. Return: @path.
 */
const char *jetwatt_plot_path(const char *option, const char *path);

/* Write the file of --plot: the plot @what, or as .html the whole report. Return: 0; exit code. */
int jetwatt_plot_write(const char *path, const struct jetwatt_report *r,
			  enum jetwatt_gnuplot what);

/*
 * Plot candidates, measurements, presets and budget of a search. @search: a mode was to be chosen; false:
 * the candidates were only predicted. @chosen: measurement of the answer, or its prediction if it was not
 * measured; NULL: none. Return: 0; exit code.
 */
int jetwatt_plot_front(const char *path, const struct jetwatt_tuner *l,
			  const struct jetwatt_preset_compare *b, const char *board,
			  bool search, const struct jetwatt_row *chosen);

#endif
