// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bars, columns and lines of jetwatt top: block and braille characters where the locale is UTF-8,
 * ASCII elsewhere.
 */
#include <math.h>
#include <ncurses.h>

#include "cmd/top/top.h"

/* U+258F to U+2588: an eighth to the whole of a cell, from its left. */
static const char * const left_eighths[] = {
	" ", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589", "\u2588",
};
/* U+2581 to U+2588: an eighth to the whole of a cell, from its bottom. */
static const char * const lower_eighths[] = {
	" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};

static int limit(double v, int most)
{
	return v <= 0 ? 0 : v >= most ? most : (int)lround(v);
}

void jetwatt_top_color(const struct jetwatt_top_view *view, enum jetwatt_top_color color, int on)
{
	if (!view->color)
		return;
	if (on)
		attron(COLOR_PAIR(color));
	else
		attroff(COLOR_PAIR(color));
}

void jetwatt_top_bar(const struct jetwatt_top_view *view, double part, int width,
		     enum jetwatt_top_color color)
{
	int n = limit(part * width, width), eighths = limit(part * width * 8, width * 8);

	addch('[');
	jetwatt_top_color(view, color, 1);
	for (int i = 0; i < width; i++)
		if (view->unicode)
			addstr(left_eighths[limit(eighths - 8 * i, 8)]);
		else
			addch(i < n ? '=' : ' ');
	jetwatt_top_color(view, color, 0);
	addch(']');
}

void jetwatt_top_column(const struct jetwatt_top_view *view, double part)
{
	static const char level[] = { ' ', '.', ':', '|' };

	if (view->unicode)
		addstr(lower_eighths[limit(part * 8, 8)]);
	else
		addch(level[part <= 0 ? 0 : part >= 1 ? 3 : (int)(part * 3)]);
}

/* Write the braille character whose dots are the bits of @dots. */
static void draw_braille(int y, int x, unsigned int dots)
{
	const char text[] = { '\xe2', (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f)), 0 };

	mvaddstr(y, x, text);
}

/* Return: height of a value above the bottom of the chart, 0 to @levels - 1; -1: no value. */
static int level_of(const struct jetwatt_top_series *s, double v, int levels)
{
	if (isnan(v))
		return -1;
	return s->most > s->least ? limit((v - s->least) / (s->most - s->least) * (levels - 1), levels - 1) :
				    levels / 2;
}

/* Draw cell @k of a line in braille: two values side by side, each connected to the one before; a
 * row has the height of four dots. */
static void draw_dots(const struct jetwatt_top_series *s, int k, int y, int x, int rows)
{
	static const unsigned char bit[2][4] = { { 0x40, 0x04, 0x02, 0x01 }, { 0x80, 0x20, 0x10, 0x08 } };
	unsigned int dots[JETWATT_TOP_ROWS] = { 0 };

	for (int half = 0; half < 2; half++) {
		int i = 2 * k + half, to = level_of(s, s->value[i], 4 * rows);
		int from = i ? level_of(s, s->value[i - 1], 4 * rows) : -1, low, high;

		if (to < 0)
			continue;
		from = from < 0 ? to : from < to ? from + 1 : from > to ? from - 1 : to;
		low = from < to ? from : to;
		high = from < to ? to : from;
		for (int l = low; l <= high; l++)
			dots[l / 4] |= bit[half][l % 4];
	}
	for (int row = 0; row < rows; row++)
		if (dots[row])
			draw_braille(y + rows - 1 - row, x, dots[row]);
}

void jetwatt_top_line(const struct jetwatt_top_view *view, const struct jetwatt_top_series *s, int cells,
		      int y, int x, int rows)
{
	static const char height[] = { '_', '-', '\'' };

	for (int k = 0; k < cells; k++) {
		int l = level_of(s, isnan(s->value[2 * k + 1]) ? s->value[2 * k] : s->value[2 * k + 1], 3 * rows);

		if (view->unicode)
			draw_dots(s, k, y, x + k, rows);
		else if (l >= 0)
			mvaddch(y + rows - 1 - l / 3, x + k, height[l % 3]);
	}
}
