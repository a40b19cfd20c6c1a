/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a person sees while modes are measured: one line a mode in 80 columns,
 * and a bar.
 */
#ifndef JETWATT_OUT_TERMINAL_H
#define JETWATT_OUT_TERMINAL_H

#include "model/model.h"
#include "util/args.h"

/* 2201600 -> "2202"; rounded to whole MHz. */
unsigned int jetwatt_screen_mhz(uint64_t hz);

/* "2202 MHz", or "unknown". */
const char *jetwatt_screen_clock(uint64_t hz, char buf[16]);

/* "c12 2202/1300/3199": cores, CPU, GPU, EMC in MHz. */
const char *jetwatt_screen_mode(const struct jetwatt_mode *m, char *buf, size_t len);

/* "   12 2202 1300 3199": the columns that the tables below have of a mode. */
void jetwatt_screen_knobs(const struct jetwatt_mode *m);

/* Heading and line of a table of measured modes. */
void jetwatt_screen_head(void);
void jetwatt_screen_row(unsigned int nr, const struct jetwatt_row *row, const char *why);

/* Predicted modes: heading, and one of them; @mark stands in front. */
void jetwatt_screen_front_head(void);
void jetwatt_screen_front(char mark, const struct jetwatt_mode *m,
			  const struct jetwatt_prediction *p, const char *note);

/* A bar on standard error: @part of step @nr of @most, and what is going on. */
void jetwatt_screen_bar(const struct jetwatt_args *a, unsigned int nr, unsigned int most,
			double part, const char *what);
/* Takes the bar away before something else is written. */
void jetwatt_screen_clear(const struct jetwatt_args *a);

/* Bold, green, yellow or red if colour is on; else the text alone. */
const char *jetwatt_screen_paint(const struct jetwatt_args *a, char color);
const char *jetwatt_screen_plain(const struct jetwatt_args *a);

#endif
