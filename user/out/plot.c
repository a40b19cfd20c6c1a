// SPDX-License-Identifier: GPL-2.0-only
/* Frame, axes and text of the inline SVG plots. */
#include "out/plot.h"

#include <math.h>
#include <stdio.h>

#include "util/utf8.h"

/* In SVG user units; the page scales them. */
#define WIDTH	680.0
#define HEIGHT	360.0
#define LEFT	48.0
#define RIGHT	668.0
#define TOP	24.0
#define BOTTOM	314.0
#define TICKS	6

void jetwatt_plot_text(FILE *f, const char *text)
{
	for (int len; *text; text += len ? len : 1) {
		len = jetwatt_utf8_length(text);
		switch (*text) {
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '&': fputs("&amp;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\'': fputs("&#39;", f); break;
		default:
			/* Most control characters are not valid in HTML. A strict decoder rejects bytes
			 * that are not UTF-8, so write U+FFFD for them. */
			if (!len)
				fputs("\ufffd", f);
			else if ((unsigned char)*text < 0x20)
				putc(' ', f);
			else
				fwrite(text, 1, len, f);
		}
	}
}

double jetwatt_plot_x(const struct jetwatt_plot *p, double x)
{
	double part = p->log & 1 ? log(x / p->lo[0]) / log(p->hi[0] / p->lo[0]) :
			       (x - p->lo[0]) / (p->hi[0] - p->lo[0]);

	return LEFT + part * (RIGHT - LEFT);
}

double jetwatt_plot_y(const struct jetwatt_plot *p, double y)
{
	double part = p->log & 2 ? log(y / p->lo[1]) / log(p->hi[1] / p->lo[1]) :
				 (y - p->lo[1]) / (p->hi[1] - p->lo[1]);

	return BOTTOM - part * (BOTTOM - TOP);
}

/* Return: 1, 2 or 5 times a power of ten, so that about TICKS steps fill @range. */
static double tick_step(double range)
{
	double raw = range / TICKS, ten = pow(10, floor(log10(raw))), m = raw / ten;

	return ten * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static void round_range(double *lo, double *hi)
{
	double step;

	if (!(*hi > *lo)) {
		*lo -= 1;
		*hi += 1;
	}
	step = tick_step(*hi - *lo);
	*lo = floor(*lo / step) * step;
	*hi = ceil(*hi / step) * step;
}

static void draw_tick(struct jetwatt_plot *p, int axis, double v)
{
	double at = axis ? jetwatt_plot_y(p, v) : jetwatt_plot_x(p, v);

	if (axis)
		fprintf(p->f, "<path class='grid' d='M%.1f %.1fH%.1f'/>"
			"<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n", LEFT, at, RIGHT,
			LEFT - 6, at + 4, v);
	else
		fprintf(p->f, "<path class='grid' d='M%.1f %.1fV%.1f'/>"
			"<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n", at, TOP, BOTTOM,
			at, BOTTOM + 17, v);
}

static void draw_axis(struct jetwatt_plot *p, int axis, int logarithmic)
{
	static const double mantissa[] = { 1, 2, 5, 1.5, 3, 7 };
	double lo = p->lo[axis], hi = p->hi[axis], step;
	int labels = hi < 10 * lo ? 6 : 3;

	if (!logarithmic) {
		step = tick_step(hi - lo);
		/* Adding 0. turns -0 into 0. */
		for (double k = ceil(lo / step - 1e-6) + 0.; k * step <= hi + step / 1e6; k++)
			draw_tick(p, axis, k * step);
		return;
	}
	for (double ten = pow(10, floor(log10(lo))); ten <= hi; ten *= 10)
		for (int i = 0; i < labels; i++)
			if (ten * mantissa[i] >= lo && ten * mantissa[i] <= hi)
				draw_tick(p, axis, ten * mantissa[i]);
}

/* Widen a logarithmic range by a small margin; a logarithmic range is not extended to round
 * values. */
static void add_log_margin(double *lo, double *hi)
{
	*lo *= 0.95;
	*hi = *hi > *lo ? *hi * 1.05 : *lo * 2;
}

void jetwatt_plot_begin(struct jetwatt_plot *p, const char *what, const char *x_label,
			const char *y_label)
{
	if (p->log & 1)
		add_log_margin(&p->lo[0], &p->hi[0]);
	else if (!(p->hi[0] > p->lo[0]))
		p->hi[0] = p->lo[0] + 1;
	if (p->log & 2)
		add_log_margin(&p->lo[1], &p->hi[1]);
	else
		round_range(&p->lo[1], &p->hi[1]);
	fprintf(p->f, "<div class='plot'><svg viewBox='0 0 %g %g' role='img' aria-label='", WIDTH,
		HEIGHT);
	jetwatt_plot_text(p->f, what);
	fprintf(p->f, "'>\n");
	draw_axis(p, 0, p->log & 1);
	draw_axis(p, 1, p->log & 2);
	fprintf(p->f, "<text class='label' x='%.1f' y='%.1f' text-anchor='end'>", RIGHT, HEIGHT - 8);
	jetwatt_plot_text(p->f, x_label);
	fprintf(p->f, "</text><text class='label' x='2' y='12'>");
	jetwatt_plot_text(p->f, y_label);
	fprintf(p->f, "</text>\n");
}

void jetwatt_plot_end(struct jetwatt_plot *p)
{
	fprintf(p->f, "</svg></div>\n");
}

void jetwatt_plot_level(struct jetwatt_plot *p, double y, const char *text)
{
	double at = jetwatt_plot_y(p, y);

	if (y < p->lo[1] || y > p->hi[1])
		return;
	fprintf(p->f, "<path class='budget' d='M%.1f %.1fH%.1f'/>"
		"<text class='budget-text' x='%.1f' y='%.1f' text-anchor='end'>", LEFT, at, RIGHT,
		RIGHT - 4, at - 5);
	jetwatt_plot_text(p->f, text);
	fprintf(p->f, "</text>\n");
}
