// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plots of prediction errors: predicted against measured values, and error against the number of
 * measured modes.
 */
#include "out/plot.h"

#include <math.h>

int jetwatt_plot_fit(FILE *f, const struct jetwatt_report *r, int what)
{
	struct jetwatt_plot p = { f, { INFINITY, INFINITY }, { 0, 0 }, 3 };
	double lo, hi;

	for (size_t i = 0; i < r->nr_fit; i++) {
		p.lo[0] = fmin(p.lo[0], fmin(r->fit[i].measured[what], r->fit[i].predicted[what]));
		p.hi[0] = fmax(p.hi[0], fmax(r->fit[i].measured[what], r->fit[i].predicted[what]));
	}
	if (!isfinite(p.lo[0]))
		return 0;
	p.lo[1] = p.lo[0];
	p.hi[1] = p.hi[0];
	jetwatt_plot_begin(&p, what ? "Power, predicted against measured" :
			   "Time, predicted against measured",
			   what ? "measured, W (log)" : "measured, ms (log)",
			   what ? "predicted, W (log)" : "predicted, ms (log)");
	lo = p.lo[0];
	hi = p.hi[0];
	fprintf(f, "<path class='ideal' d='M%.1f %.1fL%.1f %.1f'/>\n<path class='dots' d='",
		jetwatt_plot_x(&p, lo), jetwatt_plot_y(&p, lo), jetwatt_plot_x(&p, hi),
		jetwatt_plot_y(&p, hi));
	for (size_t i = 0; i < r->nr_fit; i++)
		fprintf(f, "M%.1f %.1fh0", jetwatt_plot_x(&p, r->fit[i].measured[what]),
			jetwatt_plot_y(&p, r->fit[i].predicted[what]));
	fprintf(f, "'/>\n");
	jetwatt_plot_end(&p);
	return 0;
}

int jetwatt_plot_curve(FILE *f, const struct jetwatt_report *r)
{
	struct jetwatt_plot p = { f, { 0, 0 }, { 0, 0 }, 1 };

	if (!r->nr_curve)
		return 0;
	p.lo[0] = (double)r->curve[0].samples;
	p.hi[0] = (double)r->curve[r->nr_curve - 1].samples;
	for (size_t i = 0; i < r->nr_curve; i++)
		p.hi[1] = fmax(p.hi[1], fmax(r->curve[i].q3[0], r->curve[i].q3[1]));
	jetwatt_plot_begin(&p, "Error against measured modes", "modes measured (log)",
			   "mean error, %");
	for (int w = 0; w < 2; w++) {
		fprintf(f, "<path class='band' d='");
		for (size_t i = 0; i < r->nr_curve; i++)
			fprintf(f, "%s%.1f %.1f", i ? "L" : "M",
				jetwatt_plot_x(&p, (double)r->curve[i].samples),
				jetwatt_plot_y(&p, r->curve[i].q3[w]));
		for (size_t i = r->nr_curve; i > 0; i--)
			fprintf(f, "L%.1f %.1f", jetwatt_plot_x(&p, (double)r->curve[i - 1].samples),
				jetwatt_plot_y(&p, r->curve[i - 1].q1[w]));
		fprintf(f, "Z'/>\n<path class='line%d' d='", w);
		for (size_t i = 0; i < r->nr_curve; i++)
			fprintf(f, "%s%.1f %.1f", i ? "L" : "M",
				jetwatt_plot_x(&p, (double)r->curve[i].samples),
				jetwatt_plot_y(&p, r->curve[i].median[w]));
		fprintf(f, "'/>\n");
	}
	jetwatt_plot_end(&p);
	return 0;
}
