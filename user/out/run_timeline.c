// SPDX-License-Identifier: GPL-2.0-only
/* Plot of the rails' power over time, stacked, with the clocks in lanes below. */
#include <math.h>

#include "out/plot.h"
#include "out/run_page.h"

#define LANE		26.0
#define LANE_GAP	8.0
#define LEFT		48.0
#define RIGHT		668.0
/* Maximum number of ticks for minibatches. A run with more minibatches gets a tick for every nth
 * minibatch only, because more ticks would merge into a solid bar. */
#define BOUNDS_MAX	400

static double columns_end_s(const struct jetwatt_page *p)
{
	return p->nr_columns * p->column_s;
}

/* Return: sum of the rails 0 to @r, in W. */
static double stacked_w(const struct jetwatt_page_column *c, int r)
{
	double w = 0;

	for (int i = 0; i <= r; i++)
		w += c->w[i];
	return w;
}

/* Draw one rail's area on top of the rails before it. Columns without samples interrupt the
 * area. */
static void plot_rail_area(struct jetwatt_plot *plot, const struct jetwatt_page *p, int r)
{
	size_t from = 0;

	fprintf(plot->f, "<path class='rail r%d' d='", r);
	while (from < p->nr_columns) {
		size_t to;

		while (from < p->nr_columns && !p->column[from].n)
			from++;
		for (to = from; to < p->nr_columns && p->column[to].n; to++)
			;
		if (from == to)
			break;
		for (size_t i = from; i < to; i++)
			fprintf(plot->f, "%s%.1f %.1f", i == from ? "M" : "L",
				jetwatt_plot_x(plot, (i + .5) * p->column_s),
				jetwatt_plot_y(plot, stacked_w(&p->column[i], r)));
		for (size_t i = to; i-- > from;)
			fprintf(plot->f, "L%.1f %.1f", jetwatt_plot_x(plot, (i + .5) * p->column_s),
				jetwatt_plot_y(plot, stacked_w(&p->column[i], r - 1)));
		fputs("Z", plot->f);
		from = to;
	}
	fputs("'/>\n", plot->f);
}

/* Draw the range from the mean to the highest sample of each column. */
static void plot_envelope(struct jetwatt_plot *plot, const struct jetwatt_page *p)
{
	fputs("<path class='envelope' d='M0 0", plot->f);
	for (size_t i = 0; i < p->nr_columns; i++)
		if (p->column[i].n)
			fprintf(plot->f, "M%.1f %.1fV%.1f", jetwatt_plot_x(plot, (i + .5) * p->column_s),
				jetwatt_plot_y(plot, stacked_w(&p->column[i], p->nr_rails - 1)),
				jetwatt_plot_y(plot, p->column[i].hi));
	fputs("'/>\n", plot->f);
}

static void plot_band(struct jetwatt_plot *plot, const char *class, double from, double to,
		      const char *text)
{
	double x = jetwatt_plot_x(plot, from), top = jetwatt_plot_y(plot, plot->hi[1]);

	fprintf(plot->f, "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", class, x,
		top, fmax(jetwatt_plot_x(plot, to) - x, 1), jetwatt_plot_y(plot, 0) - top);
	if (!text)
		return;
	fprintf(plot->f, "<text class='band-text' x='%.1f' y='%.1f'>", x + 2, top + 10);
	jetwatt_plot_text(plot->f, text);
	fputs("</text>\n", plot->f);
}

static void plot_gaps(struct jetwatt_plot *plot, const struct jetwatt_page *p)
{
	for (size_t i = 0, to; i < p->nr_columns; i = to + 1) {
		for (to = i; to < p->nr_columns && (p->column[to].gap || (!p->column[to].n && to > i)); to++)
			;
		if (to > i)
			plot_band(plot, "gap", i * p->column_s, to * p->column_s, NULL);
	}
}

static void plot_bounds(struct jetwatt_plot *plot, const struct jetwatt_page *p)
{
	size_t every = (p->nr_bounds + BOUNDS_MAX - 1) / BOUNDS_MAX;

	fputs("<path class='bound' d='M0 0", plot->f);
	for (size_t i = 0; i < p->nr_bounds; i += every)
		fprintf(plot->f, "M%.1f %.1fv-7", jetwatt_plot_x(plot, p->bound_s[i]),
			jetwatt_plot_y(plot, 0));
	fputs("'/>\n", plot->f);
}

static double highest_hz(const struct jetwatt_page *p, int k)
{
	double hz = 0;

	for (size_t i = 0; i < p->nr_columns; i++)
		if (p->column[i].n)
			hz = fmax(hz, p->column[i].hz[k]);
	return hz;
}

/* Draw a clock as a step line; the top of its lane is the clock's maximum in this run. */
static void plot_clock_lane(FILE *f, const struct jetwatt_page *p, int k, const char *name,
			    double top)
{
	double most = highest_hz(p, k), x, y;
	int on = 0;

	fprintf(f, "<path class='grid' d='M%g %gH%g'/><text x='%g' y='%g' text-anchor='end'>%s</text>",
		LEFT, top + LANE, RIGHT, LEFT - 6, top + LANE - 8, name);
	fprintf(f, "<text x='%g' y='%g' text-anchor='end'>%.0f MHz</text><path class='clock c%d' d='",
		RIGHT, top + 2, most * 1e-6, k);
	for (size_t i = 0; i < p->nr_columns; i++) {
		const struct jetwatt_page_column *c = &p->column[i];

		if (!c->n || most <= 0) {
			on = 0;
			continue;
		}
		x = LEFT + (RIGHT - LEFT) * i / p->nr_columns;
		y = top + LANE - (LANE - 6) * c->hz[k] / most;
		fprintf(f, on ? "L%.1f %.1f" : "M%.1f %.1f", x, y);
		fprintf(f, "H%.1f", LEFT + (RIGHT - LEFT) * (i + 1) / p->nr_columns);
		on = 1;
	}
	fputs("'/>\n", f);
}

static void plot_clock_lanes(FILE *f, const struct jetwatt_page *p)
{
	static const char *const name[JETWATT_PAGE_CLOCKS] = { "CPU", "GPU", "EMC" };

	fprintf(f, "<div class='plot'><svg viewBox='0 0 680 %g' role='img' aria-label='Clocks over time'>\n",
		JETWATT_PAGE_CLOCKS * (LANE + LANE_GAP) + 4);
	for (int k = 0; k < JETWATT_PAGE_CLOCKS; k++)
		plot_clock_lane(f, p, k, name[k], 8 + k * (LANE + LANE_GAP));
	fputs("</svg></div>\n", f);
}

void jetwatt_page_timeline(FILE *f, const struct jetwatt_page *p)
{
	struct jetwatt_plot plot = { f, { 0, 0 }, { columns_end_s(p), 0 }, 0 };

	for (size_t i = 0; i < p->nr_columns; i++)
		if (p->column[i].n)
			plot.hi[1] = fmax(plot.hi[1], p->column[i].hi);
	jetwatt_plot_begin(&plot, "Power of the rails over time, stacked", "s", "W");
	for (int r = p->nr_rails - 1; r >= 0; r--)
		plot_rail_area(&plot, p, r);
	plot_envelope(&plot, p);
	plot_gaps(&plot, p);
	for (size_t i = 0; i < p->nr_bands; i++)
		plot_band(&plot, "alarm", p->band[i].from_s, p->band[i].to_s, p->band[i].text);
	plot_bounds(&plot, p);
	jetwatt_plot_end(&plot);
	plot_clock_lanes(f, p);
}
