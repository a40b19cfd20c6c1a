// SPDX-License-Identifier: GPL-2.0-only
/* Writes plots as gnuplot programs that contain their data. */
#include "out/report.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Length of an error bar to each side, in standard errors. */
#define BARS 2

/* Maximum number of predicted dots, to limit the size of the file. */
#define DOTS_MAX 20000

#define GREY	"#9aa3ad"
#define BLUE	"#2463b5"
#define ORANGE	"#c2571a"
#define GREEN	"#14794a"
#define RED	"#b3261e"
#define PURPLE	"#7b3fa0"

/* Labels of a logarithmic axis; the labels that gnuplot chooses are only whole powers of ten. */
#define DECADES(axis) \
	"set " axis "tics (1,2,5,10,20,50,100,200,500,1000,2000,5000,10000,20000,50000)\n"

static void script_begin(FILE *f, int png, int width, int height)
{
	if (png)
		fprintf(f, "set terminal pngcairo noenhanced size %d,%d font 'sans,20' linewidth 2 "
			"pointscale 2\n",
			2 * width, 2 * height);
	else
		fprintf(f, "set terminal svg noenhanced size %d,%d font 'sans-serif,12' background 'white'\n",
			width, height);
	fprintf(f, "set border 3 linecolor '#5d6673'\nset tics nomirror textcolor '#1b1f24'\n"
		"set grid linetype 1 linecolor '#e3e6ea'\n");
}

/* Write a name in quotes, at most 32 characters. Replace spaces, characters outside ASCII, and
 * characters that gnuplot interprets by '_'. */
static void script_word(FILE *f, const char *s)
{
	putc('"', f);
	for (int n = 0; *s && n < 32; s++, n++)
		putc(*s > ' ' && *s <= '~' && *s != '"' && *s != '\\' && *s != '`' ? *s : '_', f);
	putc('"', f);
}

static int point_by_time(const void *a, const void *b)
{
	const struct jetwatt_prediction *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? -1 : 1;
	return (x->power_w > y->power_w) - (x->power_w < y->power_w);
}

/* Write the predicted modes, and their Pareto front. */
static int script_predicted(FILE *f, const struct jetwatt_report *r)
{
	size_t n = r->nr_predicted, every = n / DOTS_MAX + 1;
	struct jetwatt_prediction *p = calloc(n + 1, sizeof(*p));
	double least = INFINITY;

	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, r->predicted, n * sizeof(*p));
	qsort(p, n, sizeof(*p), point_by_time);
	fprintf(f, "$cloud << EOD\n");
	for (size_t i = 0; i < n; i += every)
		fprintf(f, "%.6g %.6g\n", p[i].time_ms, p[i].power_w);
	fprintf(f, "EOD\n$front << EOD\n");
	for (size_t i = 0; i < n; i++) {
		if (p[i].power_w >= least)
			continue;
		least = p[i].power_w;
		fprintf(f, "%.6g %.6g\n", p[i].time_ms, least);
	}
	fprintf(f, "EOD\n");
	free(p);
	return 0;
}

struct plot_range {
	double lo[2], hi[2];
};

static void extend_range(struct plot_range *g, double time_ms, double power_w)
{
	g->lo[0] = fmin(g->lo[0], time_ms);
	g->hi[0] = fmax(g->hi[0], time_ms);
	g->lo[1] = fmin(g->lo[1], power_w);
	g->hi[1] = fmax(g->hi[1], power_w);
}

/* Set the ranges to all points plus a margin; by default gnuplot extends an axis to the next
 * label. */
static void script_ranges(FILE *f, const struct jetwatt_report *r)
{
	struct plot_range g = { { INFINITY, INFINITY }, { 0, 0 } };

	for (size_t i = 0; i < r->nr_predicted; i++)
		extend_range(&g, r->predicted[i].time_ms, r->predicted[i].power_w);
	for (size_t i = 0; i < r->nr_measured; i++)
		extend_range(&g, r->measured[i].time_ms, r->measured[i].power_w);
	for (size_t i = 0; i < r->nr_presets; i++)
		extend_range(&g, r->preset[i].time_ms, r->preset[i].power_w);
	if (r->chosen)
		extend_range(&g, r->chosen->time_ms, r->chosen->power_w);
	if (isfinite(g.lo[0]) && r->budget_w > 0)
		extend_range(&g, g.lo[0], r->budget_w);
	if (isfinite(g.lo[0]))
		fprintf(f, "set xrange [%g:%g]\nset yrange [%g:%g]\n", 0.8 * g.lo[0], 1.15 * g.hi[0],
			g.lo[1] - 0.05 * (g.hi[1] - g.lo[1]) - 0.1,
			g.hi[1] + 0.08 * (g.hi[1] - g.lo[1]) + 0.1);
}

static int script_front(FILE *f, const struct jetwatt_report *r, int png)
{
	const char *comma = "plot";
	int err;

	script_begin(f, png, 860, 540);
	fprintf(f, "set logscale x\nset xlabel 'ms per minibatch'\nset ylabel 'W'\n"
		DECADES("x")
		"set key outside top center horizontal textcolor '#1b1f24' samplen 1.5\n");
	script_ranges(f, r);
	err = script_predicted(f, r);
	fprintf(f, "$measured << EOD\n");
	for (size_t i = 0; i < r->nr_measured; i++) {
		const struct jetwatt_row *m = &r->measured[i];

		fprintf(f, "%.6g %.6g %.6g %.6g\n", m->time_ms, m->power_w,
			fmin(BARS * m->time_sd, 0.9) * m->time_ms, BARS * m->power_sd * m->power_w);
	}
	fprintf(f, "EOD\n$presets << EOD\n");
	for (size_t i = 0; i < r->nr_presets; i++) {
		fprintf(f, "%.6g %.6g ", r->preset[i].time_ms, r->preset[i].power_w);
		script_word(f, r->preset[i].name);
		putc('\n', f);
	}
	fprintf(f, "EOD\n$chosen << EOD\n");
	if (r->chosen)
		fprintf(f, "%.6g %.6g\n", r->chosen->time_ms, r->chosen->power_w);
	fprintf(f, "EOD\n");
	if (r->budget_w > 0)
		fprintf(f, "set label 1 'budget %g W' at graph 0.99, first %g right offset 0,0.6 "
			"textcolor '" RED "'\nset arrow 1 from graph 0, first %g to graph 1, first %g "
			"nohead dashtype 2 linewidth 1.5 linecolor '" RED "'\n", r->budget_w,
			r->budget_w, r->budget_w, r->budget_w);
	if (r->nr_predicted) {
		fprintf(f, "%s $cloud title 'predicted' with points pointtype 7 pointsize 0.25 "
			"linecolor '" GREY "', $front title 'front of the prediction' with lines "
			"linewidth 2 linecolor '" BLUE "'", comma);
		comma = ",";
	}
	if (r->nr_measured) {
		fprintf(f, "%s $measured using 1:2:3:4 title 'measured' with xyerrorbars pointtype 7 "
			"pointsize 0.6 linecolor '" ORANGE "'", comma);
		comma = ",";
	}
	if (r->nr_presets) {
		fprintf(f, "%s $presets title 'presets' with points pointtype 13 pointsize 1.3 "
			"linecolor '" PURPLE "', $presets using 1:2:3 title '' with labels left "
			"offset 0.9,0.5 textcolor '" PURPLE "'", comma);
		comma = ",";
	}
	if (r->chosen) {
		fprintf(f, "%s $chosen title 'chosen' with points pointtype 6 pointsize 2 "
			"linewidth 2.5 linecolor '" GREEN "'", comma);
		comma = ",";
	}
	fputs("\n", f);
	return err ? err : *comma == ',' ? 0 : -ENODATA;
}

static int script_fit(FILE *f, const struct jetwatt_report *r, int png)
{
	static const char * const name[] = { "ms per minibatch", "W" };

	if (!r->nr_fit)
		return -ENODATA;
	script_begin(f, png, 960, 500);
	fprintf(f, "$fit << EOD\n");
	for (size_t i = 0; i < r->nr_fit; i++)
		fprintf(f, "%.6g %.6g %.6g %.6g\n", r->fit[i].measured[0], r->fit[i].predicted[0],
			r->fit[i].measured[1], r->fit[i].predicted[1]);
	fprintf(f, "EOD\nset key off\nset multiplot layout 1,2 margins 0.08,0.98,0.13,0.92 "
		"spacing 0.1,0\n");
	for (int w = 0; w < 2; w++) {
		double lo = INFINITY, hi = 0, error = 0;

		for (size_t i = 0; i < r->nr_fit; i++) {
			lo = fmin(lo, fmin(r->fit[i].measured[w], r->fit[i].predicted[w]));
			hi = fmax(hi, fmax(r->fit[i].measured[w], r->fit[i].predicted[w]));
			error += 100 * fabs(r->fit[i].predicted[w] / r->fit[i].measured[w] - 1) / r->nr_fit;
		}
		lo *= 0.93;
		hi *= 1.07;
		fprintf(f, "%s\nset xrange [%g:%g]\nset yrange [%g:%g]\n",
			w ? "unset logscale\nset xtics auto\nset ytics auto" :
			"set logscale xy\n" DECADES("x") DECADES("y"), lo, hi, lo, hi);
		fprintf(f, "set title 'off by %.1f %% on average (dotted: 10 %%)'\nset xlabel 'measured, %s'\n"
			"set ylabel 'predicted, %s'\n", error, name[w], name[w]);
		fprintf(f, "plot x with lines linecolor '" GREY "', x * 1.1 with lines dashtype 3 linecolor '"
			GREY "', x / 1.1 with lines dashtype 3 linecolor '" GREY "', $fit using %d:%d "
			"with points pointtype 7 pointsize 0.3 linecolor '" BLUE "'\n", 2 * w + 1,
			2 * w + 2);
	}
	fprintf(f, "unset multiplot\n");
	return 0;
}

static int script_learning(FILE *f, const struct jetwatt_report *r, int png)
{
	static const char * const name[] = { "time", "power" };
	static const char * const colour[] = { BLUE, ORANGE };
	double top = 0;

	if (!r->nr_curve)
		return -ENODATA;
	script_begin(f, png, 760, 480);
	for (int w = 0; w < 2; w++) {
		fprintf(f, "$%s << EOD\n", name[w]);
		for (size_t i = 0; i < r->nr_curve; i++) {
			const struct jetwatt_report_curve *c = &r->curve[i];

			fprintf(f, "%zu %.5g %.5g %.5g\n", c->samples, c->median[w], c->q1[w], c->q3[w]);
			top = fmax(top, c->q3[w]);
		}
		fprintf(f, "EOD\n");
	}
	fprintf(f, "set logscale x\nset xlabel 'modes measured'\nset ylabel 'mean error, %%'\n"
		"set xtics (");
	for (size_t i = 0; i < r->nr_curve; i++)
		fprintf(f, "%s%zu", i ? "," : "", r->curve[i].samples);
	fprintf(f, ")\nset yrange [0:%g]\nset xrange [%g:%g]\nset style fill transparent solid 0.2 noborder\n"
		"set key top right textcolor '#1b1f24'\nplot ", 1.08 * top,
		0.93 * r->curve[0].samples, 1.07 * r->curve[r->nr_curve - 1].samples);
	for (int w = 0; w < 2; w++)
		fprintf(f, "%s$%s using 1:3:4 title '' with filledcurves linecolor '%s', $%s using 1:2 "
			"title '%s' with linespoints pointtype 7 pointsize 0.6 linewidth 2 linecolor '%s'",
			w ? ", " : "", name[w], colour[w], name[w], name[w], colour[w]);
	fprintf(f, "\n");
	return 0;
}

int jetwatt_gnuplot_script(FILE *f, const struct jetwatt_report *r, enum jetwatt_gnuplot what,
			   int png)
{
	int err;

	if (what == JETWATT_GNUPLOT_ROOF)
		script_begin(f, png, 1100, 500);
	err = what == JETWATT_GNUPLOT_ROOF ? jetwatt_gnuplot_roof(f, r) :
	      what == JETWATT_GNUPLOT_FRONT ? script_front(f, r, png) :
	      what == JETWATT_GNUPLOT_FIT ? script_fit(f, r, png) : script_learning(f, r, png);

	return err ? err : fflush(f) || ferror(f) ? -EIO : 0;
}
