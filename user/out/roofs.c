// SPDX-License-Identifier: GPL-2.0-only
/*
 * SVG plot of the roofs of a few modes: the upper limit of operations per second, or per joule, of
 * a kernel by its number of operations per byte.
 */
#include "out/plot.h"

#include <math.h>

#define POINTS	60
/* Layers with more than this share of the largest layer's operations are drawn in red. */
#define HEAVY	0.1

double jetwatt_roof_under(const struct jetwatt_report_roof *r, double i, int energy)
{
	double s = fmax(1 / r->flop_s, 1 / (i * r->byte_s));

	return 1 / (energy ? r->eps_flop + r->eps_mem / i + r->pi0 * s : s);
}

void jetwatt_roof_range(const struct jetwatt_report *r, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = 0;
	for (size_t i = 0; i < r->nr_roofs; i++) {
		double balance = r->roof[i].flop_s / r->roof[i].byte_s;

		*lo = fmin(*lo, balance / 20);
		*hi = fmax(*hi, balance * 20);
	}
	for (size_t i = 0; i < r->nr_layers; i++) {
		*lo = fmin(*lo, r->layer[i].intensity / 1.5);
		*hi = fmax(*hi, r->layer[i].intensity * 1.5);
	}
}

static void plot_layers(struct jetwatt_plot *p, const struct jetwatt_report *r, int energy,
			double most, const char *class, double least)
{
	fprintf(p->f, "<path class='%s' d='", class);
	for (size_t i = 0; i < r->nr_layers; i++)
		if (r->layer[i].flop > least * most)
			fprintf(p->f, "M%.1f %.1fh0", jetwatt_plot_x(p, r->layer[i].intensity),
				jetwatt_plot_y(p, 1e-9 * jetwatt_roof_under(&r->roof[0], r->layer[i].intensity,
									    energy)));
	fprintf(p->f, "'/>\n");
}

int jetwatt_plot_roofs(FILE *f, const struct jetwatt_report *r, int energy)
{
	static const char *const class[] = { "line0", "front", "line1" };
	struct jetwatt_plot p = { f, { 0, INFINITY }, { 0, 0 }, 3 };
	double most = 0;

	jetwatt_roof_range(r, &p.lo[0], &p.hi[0]);
	for (size_t i = 0; i < r->nr_roofs; i++) {
		p.lo[1] = fmin(p.lo[1], 0.6e-9 * jetwatt_roof_under(&r->roof[i], p.lo[0], energy));
		p.hi[1] = fmax(p.hi[1], 1.6e-9 * jetwatt_roof_under(&r->roof[i], p.hi[0], energy));
	}
	for (size_t i = 0; i < r->nr_layers; i++)
		most = fmax(most, r->layer[i].flop);
	jetwatt_plot_begin(&p, energy ? "The energy roof" : "The time roof",
			   "operations per byte (log)",
			   energy ? "GFLOP/J (log)" : "GFLOP/s (log)");
	for (size_t i = 0; i < r->nr_roofs; i++) {
		fprintf(f, "<path class='%s'%s d='", class[i % 3], i % 3 == 1 ? " stroke-dasharray='7 4'" : "");
		for (int k = 0; k <= POINTS; k++) {
			double at = p.lo[0] * pow(p.hi[0] / p.lo[0], (double)k / POINTS);

			fprintf(f, "%s%.1f %.1f", k ? "L" : "M", jetwatt_plot_x(&p, at),
				jetwatt_plot_y(&p, 1e-9 * jetwatt_roof_under(&r->roof[i], at, energy)));
		}
		fprintf(f, "'/>\n");
	}
	plot_layers(&p, r, energy, most, "cloud", 0);
	plot_layers(&p, r, energy, most, "heavy", HEAVY);
	jetwatt_plot_end(&p);
	return 0;
}
