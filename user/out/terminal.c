// SPDX-License-Identifier: GPL-2.0-only
#include "out/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "board/board.h"

#define BAR 24

unsigned int jetwatt_screen_mhz(uint64_t hz)
{
	return (hz + 500000) / 1000000;
}

const char *jetwatt_screen_clock(uint64_t hz, char buf[16])
{
	/* 1 is that of a knob that the board lacks. */
	if (hz <= JETWATT_BOARD_NO_CLOCK)
		return "unknown";
	snprintf(buf, 16, "%u MHz", jetwatt_screen_mhz(hz));
	return buf;
}

const char *jetwatt_screen_mode(const struct jetwatt_mode *m, char *buf, size_t len)
{
	snprintf(buf, len, "c%u %u/%u/%u MHz", m->cores, jetwatt_screen_mhz(m->cpu_khz * 1000ull),
		 jetwatt_screen_mhz(m->gpu_hz), jetwatt_screen_mhz(m->emc_hz));
	return buf;
}

void jetwatt_screen_head(void)
{
	printf(" nr cores  CPU  GPU  EMC MHz  ms/batch +- %%       W +- %%  why\n");
}

void jetwatt_screen_row(unsigned int nr, const struct jetwatt_row *row, const char *why)
{
	const struct jetwatt_mode *m = &row->mode;

	printf("%3u %5u %4u %4u %4u %13.*f %4.1f %7.2f %4.1f  %s\n", nr, m->cores,
	       jetwatt_screen_mhz(m->cpu_khz * 1000ull), jetwatt_screen_mhz(m->gpu_hz),
	       jetwatt_screen_mhz(m->emc_hz), row->time_ms < 10 ? 3 : row->time_ms < 100 ? 2 : 1,
	       row->time_ms, 100 * row->time_sd, row->power_w, 100 * row->power_sd, why);
	fflush(stdout);
}

void jetwatt_screen_front_head(void)
{
	printf("  cores  CPU  GPU  EMC MHz  ms/batch  +- %%       W  +- %%\n");
}

void jetwatt_screen_front(char mark, const struct jetwatt_mode *m,
			  const struct jetwatt_prediction *p, const char *note)
{
	printf("%c %5u %4u %4u %4u %13.*f %5.1f %7.2f %5.1f  %s\n", mark, m->cores,
	       jetwatt_screen_mhz(m->cpu_khz * 1000ull), jetwatt_screen_mhz(m->gpu_hz),
	       jetwatt_screen_mhz(m->emc_hz), p->time_ms < 10 ? 3 : p->time_ms < 100 ? 2 : 1,
	       p->time_ms, 100 * p->time_sd, p->power_w, 100 * p->power_sd, note);
}

void jetwatt_screen_bar(const struct jetwatt_args *a, unsigned int nr, unsigned int most,
			double part, const char *what)
{
	char bar[BAR + 1];
	double done = most ? (nr - 1 + fmin(fmax(part, 0), 1)) / most : 0;

	if (!a->progress)
		return;
	for (int i = 0; i < BAR; i++)
		bar[i] = i < done * BAR ? '#' : '-';
	bar[BAR] = '\0';
	fflush(stdout);
	/* Not a terminal: whole lines, and only where something has been reached. */
	if (a->lines && part < 1)
		return;
	/* On a terminal what was there before must go. */
	fprintf(stderr, a->lines ? "[%s] %u/%u %.44s\n" : "\r[%s] %u/%u %-44.44s", bar, nr, most,
		what);
	fflush(stderr);
}

void jetwatt_screen_clear(const struct jetwatt_args *a)
{
	if (!a->progress || a->lines)
		return;
	fprintf(stderr, "\r%78s\r", "");
	fflush(stderr);
}

const char *jetwatt_screen_paint(const struct jetwatt_args *a, char color)
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

const char *jetwatt_screen_plain(const struct jetwatt_args *a)
{
	return a->color ? "\033[0m" : "";
}
