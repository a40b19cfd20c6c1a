// SPDX-License-Identifier: GPL-2.0-only
/* Plot of the total power over time. */
#include "out/plot.h"

#include <math.h>

/* Number of columns of the plot; about one column per unit of the frame's width. */
#define COLUMNS		620
/* Maximum number of ticks for minibatches; more ticks would merge into a solid bar. */
#define TICKS_MAX	400
#define NAMES_MAX	12

struct timeline_column {
	double lo, hi, sum;
	size_t n;
};

static void gather_columns(const struct jetwatt_report *r, double t0, double t1,
			   struct timeline_column *c)
{
	for (int k = 0; k < COLUMNS; k++)
		c[k] = (struct timeline_column){ INFINITY, -INFINITY, 0, 0 };
	for (size_t i = 0; i < r->nr_samples; i++) {
		int k = t1 > t0 ? (r->t_s[i] - t0) / (t1 - t0) * (COLUMNS - 1) : 0;

		if (k < 0 || k >= COLUMNS || !isfinite(r->w[i]))
			continue;
		c[k].lo = fmin(c[k].lo, r->w[i]);
		c[k].hi = fmax(c[k].hi, r->w[i]);
		c[k].sum += r->w[i];
		c[k].n++;
	}
}

static double column_middle_s(double t0, double t1, int k)
{
	return t0 + (k + 0.5) * (t1 - t0) / COLUMNS;
}

static void plot_power_curves(struct jetwatt_plot *p, const struct timeline_column *c, double t0,
			      double t1)
{
	const char *op = "M";

	fprintf(p->f, "<path class='envelope' d='");
	for (int k = 0; k < COLUMNS; k++)
		if (c[k].n)
			fprintf(p->f, "M%.1f %.1fV%.1f",
				jetwatt_plot_x(p, column_middle_s(t0, t1, k)),
				jetwatt_plot_y(p, c[k].lo), jetwatt_plot_y(p, c[k].hi) - 0.5);
	fprintf(p->f, "'/>\n<path class='mean' d='");
	for (int k = 0; k < COLUMNS; k++) {
		if (!c[k].n) {
			/* Interrupt the mean line at a gap, but not where samples are rarer than
			 * columns. */
			if (k + 8 < COLUMNS && !c[k + 1].n && !c[k + 2].n && !c[k + 7].n)
				op = "M";
			continue;
		}
		fprintf(p->f, "%s%.1f %.1f", op, jetwatt_plot_x(p, column_middle_s(t0, t1, k)),
			jetwatt_plot_y(p, c[k].sum / c[k].n));
		op = "L";
	}
	fprintf(p->f, "'/>\n");
}

static void plot_bound_ticks(struct jetwatt_plot *p, const struct jetwatt_report *r)
{
	double y = jetwatt_plot_y(p, p->lo[1]);
	size_t every = (r->nr_bounds + TICKS_MAX - 1) / TICKS_MAX;

	if (!r->nr_bounds)
		return;
	fprintf(p->f, "<path class='bound' d='");
	for (size_t i = 0; i < r->nr_bounds; i += every)
		if (r->bound_s[i] >= p->lo[0] && r->bound_s[i] <= p->hi[0])
			fprintf(p->f, "M%.1f %.1fv-6", jetwatt_plot_x(p, r->bound_s[i]), y);
	fprintf(p->f, "M0 0'/>\n");
}

static void plot_marks(struct jetwatt_plot *p, const struct jetwatt_report *r)
{
	double top = jetwatt_plot_y(p, p->hi[1]), last = -INFINITY;

	for (size_t i = 0; i < r->nr_marks; i++) {
		double x;

		if (r->mark[i].t_s < p->lo[0] || r->mark[i].t_s > p->hi[0])
			continue;
		x = jetwatt_plot_x(p, r->mark[i].t_s);
		fprintf(p->f, "<path class='mark' d='M%.1f %.1fV%.1f'/>", x, top,
			jetwatt_plot_y(p, p->lo[1]));
		/* Leave out names of mode switches that would overlap. */
		if (!r->mark[i].text || x - last < 8 * NAMES_MAX / 4)
			continue;
		last = x;
		fprintf(p->f, "<text class='mark-text' x='%.1f' y='%.1f'>", x + 2, top + 10);
		jetwatt_plot_text(p->f, r->mark[i].text);
		fprintf(p->f, "</text>\n");
	}
}

int jetwatt_plot_timeline(FILE *f, const struct jetwatt_report *r)
{
	struct jetwatt_plot p = { f, { 0, 0 }, { 1, 0 }, 0 };
	struct timeline_column c[COLUMNS];
	char budget[48];

	if (r->nr_samples < 2)
		return 0;
	p.lo[0] = r->t_s[0];
	p.hi[0] = r->t_s[r->nr_samples - 1];
	gather_columns(r, p.lo[0], p.hi[0], c);
	for (int k = 0; k < COLUMNS; k++)
		if (c[k].n)
			p.hi[1] = fmax(p.hi[1], c[k].hi);
	if (r->budget_w > 0)
		p.hi[1] = fmax(p.hi[1], r->budget_w * 1.05);
	jetwatt_plot_begin(&p, "Power over time", "s", "W");
	plot_marks(&p, r);
	plot_power_curves(&p, c, p.lo[0], p.hi[0]);
	plot_bound_ticks(&p, r);
	if (r->budget_w > 0) {
		snprintf(budget, sizeof(budget), "budget %g W", r->budget_w);
		jetwatt_plot_level(&p, r->budget_w, budget);
	}
	jetwatt_plot_end(&p);
	return 0;
}
