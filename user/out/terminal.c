// SPDX-License-Identifier: GPL-2.0-only
/* Tables, progress bar and colours on the terminal, for all verbs. */
#include "out/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "board/board.h"
#include "util/error.h"
#include "util/utf8.h"

#define BAR 24

unsigned int jetwatt_terminal_mhz(uint64_t hz)
{
	return (hz + 500000) / 1000000;
}

const char *jetwatt_terminal_clock(uint64_t hz, char buf[16])
{
	/* JETWATT_BOARD_NO_CLOCK (1) is the value of a knob that the board lacks. */
	if (hz <= JETWATT_BOARD_NO_CLOCK)
		return "unknown";
	snprintf(buf, 16, "%u MHz", jetwatt_terminal_mhz(hz));
	return buf;
}

const char *jetwatt_terminal_mode(const struct jetwatt_mode *m, char *buf, size_t len)
{
	size_t at = 0;

	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t v = jetwatt_mode_get(m, k);

		if ((!v && row->optional) || at >= len)
			continue;
		at += (size_t)snprintf(buf + at, len - at, "%s%u", !k ? "c" : k == 1 ? " " : "/",
				       row->hz ? jetwatt_terminal_mhz(v * row->hz) : (unsigned int)v);
	}
	if (at < len)
		snprintf(buf + at, len - at, " MHz");
	return buf;
}

/* Print the columns of the knobs that have a column in the heading. */
void jetwatt_terminal_knobs(const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t v = jetwatt_mode_get(m, k);

		if (!row->optional)
			printf(row->hz ? " %4u" : "%5u",
			       row->hz ? jetwatt_terminal_mhz(v * row->hz) : (unsigned int)v);
	}
}

/* Print the optional knobs, which have no column, at the end of the line. */
static void print_optional_knobs(const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);

		if (row->optional && jetwatt_mode_get(m, k))
			printf("  %s %u MHz", row->label,
			       jetwatt_terminal_mhz(jetwatt_mode_get(m, k) * row->hz));
	}
}

void jetwatt_terminal_measured_heading(const char *unit)
{
	printf(" nr cores  CPU  GPU  EMC MHz  ms/%s +- %%       W +- %%  why\n", unit);
}

void jetwatt_terminal_measured_row(unsigned int nr, const struct jetwatt_row *row, const char *why)
{
	printf("%3u ", nr);
	jetwatt_terminal_knobs(&row->mode);
	printf(" %13.*f %4.1f %7.2f %4.1f  %s", row->time_ms < 10 ? 3 : row->time_ms < 100 ? 2 : 1,
	       row->time_ms, 100 * row->time_sd, row->power_w, 100 * row->power_sd, why);
	print_optional_knobs(&row->mode);
	printf("\n");
	jetwatt_error_flush(stdout);
}

void jetwatt_terminal_predicted_heading(void)
{
	printf("  cores  CPU  GPU  EMC MHz  ms/batch  +- %%       W  +- %%\n");
}

void jetwatt_terminal_predicted_row(char mark, const struct jetwatt_mode *m,
			  const struct jetwatt_prediction *p, const char *note)
{
	printf("%c ", mark);
	jetwatt_terminal_knobs(m);
	printf(" %13.*f %5.1f %7.2f %5.1f  %s", p->time_ms < 10 ? 3 : p->time_ms < 100 ? 2 : 1,
	       p->time_ms, 100 * p->time_sd, p->power_w, 100 * p->power_sd, note);
	print_optional_knobs(m);
	printf("\n");
}

void jetwatt_terminal_progress(const struct jetwatt_args *a, unsigned int nr, unsigned int most,
			double part, const char *what)
{
	char bar[BAR + 1];
	double done = most ? (nr - 1 + fmin(fmax(part, 0), 1)) / most : 0;

	if (!a->progress)
		return;
	for (int i = 0; i < BAR; i++)
		bar[i] = i < done * BAR ? '#' : '-';
	bar[BAR] = '\0';
	jetwatt_error_flush(stdout);
	/* If standard error is not a terminal, print whole lines of progress, and only for
	 * completed steps. */
	if (a->lines && part < 1)
		return;
	/* On a terminal, pad the progress text so that it overwrites the previous text. */
	fprintf(stderr, a->lines ? "[%s] %u/%u %.44s\n" : "\r[%s] %u/%u %-44.44s", bar, nr, most,
		what);
	fflush(stderr);
}

void jetwatt_terminal_clear_progress(const struct jetwatt_args *a)
{
	if (!a->progress || a->lines)
		return;
	fprintf(stderr, "\r%78s\r", "");
	fflush(stderr);
}

const char *jetwatt_terminal_color(const struct jetwatt_args *a, char color)
{
	if (!a->color)
		return "";
	switch (color) {
	case 'g': return "\033[32m";
	case 'y': return "\033[33m";
	case 'r': return "\033[31m";
	default: return "\033[1m";
	}
}

const char *jetwatt_terminal_color_end(const struct jetwatt_args *a)
{
	return a->color ? "\033[0m" : "";
}

/* Return: whether a terminal acts on the character at @s, U+0000 to U+001F or U+007F to U+009F. */
static int is_control(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	return c[0] < ' ' || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

const char *jetwatt_terminal_plain(const char *text, char *buf, size_t len)
{
	size_t n = 0, cut = 0;

	/* @cut: length of the text that leaves room for "..." */
	while (*text) {
		size_t size = (size_t)jetwatt_utf8_length(text), plain = size && !is_control(text);
		size_t to = plain ? size : 1;

		if (n + to >= len)
			break;
		if (plain)
			memcpy(buf + n, text, size);
		else
			buf[n] = '?';
		n += to;
		cut = n + 3 < len ? n : cut;
		text += size ? size : 1;
	}
	buf[n] = '\0';
	if (*text && n > 3)
		strcpy(buf + cut, "...");
	return buf;
}
