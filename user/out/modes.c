// SPDX-License-Identifier: GPL-2.0-only
/* Plot of all modes: time against power. */
#include "out/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Length of an error bar to each side, in standard errors. */
#define BARS 2

static void extend_axes(struct jetwatt_plot *p, double time, double power)
{
	p->lo[0] = fmin(p->lo[0], time);
	p->hi[0] = fmax(p->hi[0], time);
	p->lo[1] = fmin(p->lo[1], power);
	p->hi[1] = fmax(p->hi[1], power);
}

static int prediction_by_time(const void *a, const void *b)
{
	const struct jetwatt_prediction *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? -1 : 1;
	return (x->power_w > y->power_w) - (x->power_w < y->power_w);
}

static void plot_predicted(struct jetwatt_plot *p, const struct jetwatt_report *r)
{
	if (!r->nr_predicted)
		return;
	/* One path of zero-length lines with round ends draws each dot with few bytes. */
	fprintf(p->f, "<path class='cloud' d='");
	for (size_t i = 0; i < r->nr_predicted; i++)
		fprintf(p->f, "M%.1f %.1fh0", jetwatt_plot_x(p, r->predicted[i].time_ms),
			jetwatt_plot_y(p, r->predicted[i].power_w));
	fprintf(p->f, "'/>\n");
}

static int plot_front(struct jetwatt_plot *p, const struct jetwatt_report *r)
{
	struct jetwatt_prediction *sorted = calloc(r->nr_predicted + 1, sizeof(*sorted));
	double least = INFINITY;
	const char *op = "M";

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_predicted; i++)
		sorted[i] = r->predicted[i];
	qsort(sorted, r->nr_predicted, sizeof(*sorted), prediction_by_time);
	fprintf(p->f, "<path class='front' d='");
	for (size_t i = 0; i < r->nr_predicted; i++) {
		if (sorted[i].power_w >= least)
			continue;
		least = sorted[i].power_w;
		fprintf(p->f, "%s%.1f %.1f", op, jetwatt_plot_x(p, sorted[i].time_ms),
			jetwatt_plot_y(p, least));
		op = "L";
	}
	/* Avoid an empty path. */
	fprintf(p->f, "%s'/>\n", *op == 'M' ? "M0 0" : "");
	free(sorted);
	return 0;
}

static void plot_measured(struct jetwatt_plot *p, const struct jetwatt_row *row, size_t nr)
{
	double x = jetwatt_plot_x(p, row->time_ms), y = jetwatt_plot_y(p, row->power_w);
	double dt = BARS * row->time_sd * row->time_ms, dw = BARS * row->power_sd * row->power_w;

	if (row->time_ms - dt > p->lo[0])
		fprintf(p->f, "<path class='bars' d='M%.1f %.1fH%.1f", jetwatt_plot_x(p, row->time_ms - dt),
			y, jetwatt_plot_x(p, row->time_ms + dt));
	else
		fprintf(p->f, "<path class='bars' d='");
	fprintf(p->f, "M%.1f %.1fV%.1f'/>", x, jetwatt_plot_y(p, row->power_w - dw),
		jetwatt_plot_y(p, row->power_w + dw));
	fprintf(p->f, "<circle class='measured' cx='%.1f' cy='%.1f' r='4'><title>%zu: %u cores, %.0f / "
		"%.0f / %.0f MHz, %.2f ms, %.2f W</title></circle>\n", x, y, nr, row->mode.cores,
		row->mode.cpu_khz * 1e-3, row->mode.gpu_hz * 1e-6, row->mode.emc_hz * 1e-6,
		row->time_ms, row->power_w);
}

static void plot_presets(struct jetwatt_plot *p, const struct jetwatt_report *r)
{
	for (size_t i = 0; i < r->nr_presets; i++) {
		double x = jetwatt_plot_x(p, r->preset[i].time_ms);
		double y = jetwatt_plot_y(p, r->preset[i].power_w);

		fprintf(p->f, "<path class='preset' d='M%.1f %.1fl6 6l-6 6l-6-6z'/>"
			"<text class='preset-text' x='%.1f' y='%.1f'>", x, y - 6, x + 9, y - 5);
		jetwatt_plot_text(p->f, r->preset[i].name);
		fprintf(p->f, "</text>\n");
	}
}

int jetwatt_plot_modes(FILE *f, const struct jetwatt_report *r)
{
	struct jetwatt_plot p = { f, { INFINITY, INFINITY }, { 0, 0 }, 1 };
	char budget[48];
	int err;

	for (size_t i = 0; i < r->nr_predicted; i++)
		extend_axes(&p, r->predicted[i].time_ms, r->predicted[i].power_w);
	for (size_t i = 0; i < r->nr_measured; i++)
		extend_axes(&p, r->measured[i].time_ms, r->measured[i].power_w);
	if (r->chosen)
		extend_axes(&p, r->chosen->time_ms, r->chosen->power_w);
	for (size_t i = 0; i < r->nr_presets; i++)
		extend_axes(&p, r->preset[i].time_ms, r->preset[i].power_w);
	if (!isfinite(p.lo[0]))
		return 0;
	if (r->budget_w > 0) {
		p.lo[1] = fmin(p.lo[1], r->budget_w);
		p.hi[1] = fmax(p.hi[1], r->budget_w);
	}
	jetwatt_plot_begin(&p, "Time and power of every mode", "ms per minibatch (log)", "W");
	plot_predicted(&p, r);
	err = plot_front(&p, r);
	if (r->budget_w > 0) {
		snprintf(budget, sizeof(budget), "budget %g W", r->budget_w);
		jetwatt_plot_level(&p, r->budget_w, budget);
	}
	for (size_t i = 0; i < r->nr_measured; i++)
		plot_measured(&p, &r->measured[i], i + 1);
	plot_presets(&p, r);
	if (r->chosen)
		fprintf(f, "<circle class='chosen' cx='%.1f' cy='%.1f' r='8' />\n",
			jetwatt_plot_x(&p, r->chosen->time_ms), jetwatt_plot_y(&p, r->chosen->power_w));
	jetwatt_plot_end(&p);
	return err;
}
