// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gnuplot program for the time and energy roofs of some modes, with the layers of a network
 * on the roofs of the first mode.
 */
#include "out/plot.h"

#include <errno.h>
#include <math.h>

/* Maximum number of layers drawn, to limit the size of the file. */
#define DOTS_MAX	5000

static const char *const colour[] = { "#2463b5", "#14794a", "#c2571a" };

#define COLOURS		(sizeof(colour) / sizeof(colour[0]))

static void write_layers(FILE *f, const struct jetwatt_report *r, double share, const char *name)
{
	size_t every = r->nr_layers / DOTS_MAX + 1;
	double most = 0;

	for (size_t i = 0; i < r->nr_layers; i++)
		most = fmax(most, r->layer[i].flop);
	fprintf(f, "$%s << EOD\n", name);
	for (size_t i = 0; i < r->nr_layers; i += every) {
		const struct jetwatt_report_layer *l = &r->layer[i];

		if (l->flop > share * most)
			fprintf(f, "%.5g %.5g %.5g\n", l->intensity,
				jetwatt_roof_under(&r->roof[0], l->intensity, 0) * 1e-9,
				jetwatt_roof_under(&r->roof[0], l->intensity, 1) * 1e-9);
	}
	fprintf(f, "EOD\n");
}

int jetwatt_gnuplot_roof(FILE *f, const struct jetwatt_report *r)
{
	static const char *const axis[] = { "GFLOP/s", "GFLOP/J" };
	double lo, hi;

	if (!r->nr_roofs)
		return -ENODATA;
	jetwatt_roof_range(r, &lo, &hi);
	for (size_t i = 0; i < r->nr_roofs; i++) {
		fprintf(f, "$roof%zu << EOD\n", i);
		for (int k = 0; k <= 200; k++) {
			double at = lo * pow(hi / lo, k / 200.0);

			fprintf(f, "%.5g %.5g %.5g\n", at, jetwatt_roof_under(&r->roof[i], at, 0) * 1e-9,
				jetwatt_roof_under(&r->roof[i], at, 1) * 1e-9);
		}
		fprintf(f, "EOD\n");
	}
	write_layers(f, r, 0, "layers");
	write_layers(f, r, 0.1, "heavy");
	fprintf(f, "set logscale xy\nset xrange [%g:%g]\nset xlabel 'operations for a byte'\n"
		"set key bottom right textcolor '#1b1f24' samplen 1.5\n"
		"set multiplot layout 1,2 margins 0.07,0.98,0.13,0.92 spacing 0.09,0\n", lo, hi);
	for (int w = 0; w < 2; w++) {
		double top = 0, bottom = INFINITY;

		/* Keep a margin, so that a flat roof is not drawn on the frame. */
		for (size_t i = 0; i < r->nr_roofs; i++) {
			top = fmax(top, 1.6e-9 * jetwatt_roof_under(&r->roof[i], hi, w));
			bottom = fmin(bottom, 0.6e-9 * jetwatt_roof_under(&r->roof[i], lo, w));
		}
		fprintf(f, "set title '%s'\nset ylabel '%s'\nset yrange [%g:%g]\nplot ",
			w ? "energy" : "time", axis[w], bottom, top);
		for (size_t i = 0; i < r->nr_roofs; i++)
			fprintf(f, "%s$roof%zu using 1:%d title '%s' with lines linewidth 2 linecolor '%s'",
				i ? ", " : "", i, 2 + w, r->roof[i].name, colour[i % COLOURS]);
		if (r->nr_layers)
			fprintf(f,
				", $layers using 1:%d title 'layers' with points pointtype 6 pointsize 0.7 linecolor '#9aa3ad', $heavy using 1:%d title 'layers with over 10 %% of the largest one' with points pointtype 7 pointsize 0.7 linecolor '#b3261e'", 2 + w, 2 + w);
		fputs("\n", f);
	}
	fprintf(f, "unset multiplot\n");
	return 0;
}
