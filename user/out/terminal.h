/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text output for people: modes as text, tables of measured and predicted modes for a terminal with
 * 80 columns, a progress bar, and colours.
 */
#ifndef JETWATT_OUT_TERMINAL_H
#define JETWATT_OUT_TERMINAL_H

#include "model/model.h"
#include "util/args.h"

/* Return: a clock in whole MHz, rounded. */
unsigned int jetwatt_terminal_mhz(uint64_t hz);

/* Format a clock: "2202 MHz", or "unknown". Return: @buf or a static string. */
const char *jetwatt_terminal_clock(uint64_t hz, char buf[16]);

/* Format a mode in @buf: "c12 2202/1300/3199 MHz" (cores, CPU, GPU, EMC). Return: @buf. */
const char *jetwatt_terminal_mode(const struct jetwatt_mode *m, char *buf, size_t len);

/* Print the columns of the required knobs, "   12 2202 1300 3199", for both tables of modes. */
void jetwatt_terminal_knobs(const struct jetwatt_mode *m);

/* Print the heading, and a row, of the table of measured modes. @unit: "batch" or "token": what the times
 * are for. @why: why the mode was measured. */
void jetwatt_terminal_measured_heading(const char *unit);
void jetwatt_terminal_measured_row(unsigned int nr, const struct jetwatt_row *row, const char *why);

/* Print the heading, and a row, of the table of predicted modes. @mark: character that is printed
 * in the first column. */
void jetwatt_terminal_predicted_heading(void);
void jetwatt_terminal_predicted_row(char mark, const struct jetwatt_mode *m,
			  const struct jetwatt_prediction *p, const char *note);

/* Draw a progress bar on standard error, if progress is to be shown. If standard error is not a
 * terminal, print one line after each step. @part: progress within step @nr (from 1) of @most, 0 to
 * 1; @what: text that is printed behind the bar. */
void jetwatt_terminal_progress(const struct jetwatt_args *a, unsigned int nr, unsigned int most,
			double part, const char *what);
/* Remove the progress bar before other output is written. */
void jetwatt_terminal_clear_progress(const struct jetwatt_args *a);

/* Return: the escape sequence for bold ('b'), green ('g'), yellow ('y') or red ('r'), and the one
 * that ends it; "" if colours are off. */
const char *jetwatt_terminal_color(const struct jetwatt_args *a, char color);
const char *jetwatt_terminal_color_end(const struct jetwatt_args *a);

/* Copy text of a job or of another machine, which must not control the terminal, to @buf of @len: "?"
 * replaces control characters and what is not UTF-8; "..." ends text that is cut. Return: @buf. */
const char *jetwatt_terminal_plain(const char *text, char *buf, size_t len);

#endif
