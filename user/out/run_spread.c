// SPDX-License-Identifier: GPL-2.0-only
/* Plots of minibatches: distribution of their energy, and their energy and time along the run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/order.h"
#include "out/plot.h"
#include "out/run_page.h"

#define BINS_MAX	60
#define STEPS_MAX	600
#define POINTS_MAX	2000
#define PIECES		40
#define SPLITS		200

/* Return: number of bins by the rule of Freedman and Diaconis, at most BINS_MAX. */
static int histogram_bins(const double *v, size_t n, double lo, double hi)
{
	double width = 2 * (v[n * 3 / 4] - v[n / 4]) / cbrt(n);
	double bins = width > 0 ? ceil((hi - lo) / width) : 1;

	return bins < 1 ? 1 : bins > BINS_MAX ? BINS_MAX : bins;
}

static void plot_histogram(FILE *f, const double *v, size_t n, double lo, double hi)
{
	struct jetwatt_plot p = { f, { lo, 0 }, { hi, 1 }, 0 };
	int bins = histogram_bins(v, n, lo, hi), count[BINS_MAX] = { 0 };
	double width = (hi - lo) / bins;

	for (size_t i = 0; i < n; i++) {
		int k = (v[i] - lo) / width;

		if (v[i] <= hi)
			count[k < bins ? k : bins - 1]++;
	}
	for (int k = 0; k < bins; k++)
		p.hi[1] = fmax(p.hi[1], count[k]);
	jetwatt_plot_begin(&p, "Histogram of energy per minibatch", "J per minibatch", "minibatches");
	for (int k = 0; k < bins; k++) {
		double x = jetwatt_plot_x(&p, lo + k * width), y = jetwatt_plot_y(&p, count[k]);

		fprintf(f, "<rect class='bar' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", x, y,
			fmax(jetwatt_plot_x(&p, lo + (k + 1) * width) - x - 1, .5),
			jetwatt_plot_y(&p, 0) - y);
	}
	jetwatt_plot_end(&p);
}

static void plot_cumulative(FILE *f, const double *v, size_t n, double lo, double hi)
{
	struct jetwatt_plot p = { f, { lo, 0 }, { hi, 100 }, 0 };
	size_t every = n / STEPS_MAX + 1;

	jetwatt_plot_begin(&p, "Share of minibatches below an energy", "J per minibatch", "% below");
	fprintf(f, "<path class='mean' d='M%.1f %.1f", jetwatt_plot_x(&p, v[0]), jetwatt_plot_y(&p, 0));
	for (size_t i = 0; i < n && v[i] <= hi; i += every)
		fprintf(f, "H%.1fV%.1f", jetwatt_plot_x(&p, v[i]),
			jetwatt_plot_y(&p, 100.0 * (i + 1) / n));
	fprintf(f, "H%.1f'/>\n", jetwatt_plot_x(&p, fmin(v[n - 1], hi)));
	jetwatt_plot_end(&p);
}

int jetwatt_page_spread(FILE *f, const struct jetwatt_page *page)
{
	size_t n = page->nr_minibatches, beyond = 0;
	double *v = calloc(n + 1, sizeof(*v)), lo, hi;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = page->minibatch[i].joule;
	qsort(v, n, sizeof(*v), jetwatt_order_doubles);
	lo = v[0];
	/* Limit the range, so that a few outliers do not compress all others into one bar. */
	hi = fmin(v[n - 1], v[n / 2] + 4 * (v[n * 95 / 100] - v[n / 2]));
	if (!(hi > lo))
		hi = lo + fmax(fabs(lo) * 1e-3, 1e-9);
	while (beyond < n && v[n - 1 - beyond] > hi)
		beyond++;
	plot_histogram(f, v, n, lo, hi);
	plot_cumulative(f, v, n, lo, hi);
	if (beyond)
		fprintf(f, "<p class='soft'>%zu of %zu took more than is shown here, up to %.4g J.</p>\n",
			beyond, n, v[n - 1]);
	free(v);
	return 0;
}

/* Draw mean energies over parts of the run with equal numbers of minibatches. */
static void plot_piece_means(struct jetwatt_plot *p, const struct jetwatt_page *page)
{
	size_t n = page->nr_minibatches, parts = n < PIECES * 4 ? n / 4 : PIECES;

	fputs("<path class='mean' d='M0 0", p->f);
	for (size_t k = 0; k < parts; k++) {
		size_t from = k * n / parts, to = (k + 1) * n / parts;
		double sum = 0;

		for (size_t i = from; i < to; i++)
			sum += page->minibatch[i].joule;
		fprintf(p->f, "%s%.1f %.1f", k ? "L" : "M",
			jetwatt_plot_x(p, page->minibatch[(from + to) / 2].end_s),
			jetwatt_plot_y(p, sum / (to - from)));
	}
	fputs("'/>\n", p->f);
}

void jetwatt_page_drift(FILE *f, const struct jetwatt_page *page)
{
	size_t n = page->nr_minibatches, every = n / POINTS_MAX + 1;
	struct jetwatt_plot p = { f, { 0, INFINITY }, { page->minibatch[n - 1].end_s, -INFINITY }, 0 };

	for (size_t i = 0; i < n; i += every) {
		p.lo[1] = fmin(p.lo[1], page->minibatch[i].joule);
		p.hi[1] = fmax(p.hi[1], page->minibatch[i].joule);
	}
	jetwatt_plot_begin(&p, "Energy per minibatch along the run", "s", "J per minibatch");
	fputs("<path class='dots' d='M0 0", f);
	for (size_t i = 0; i < n; i += every)
		fprintf(f, "M%.1f %.1fh.01", jetwatt_plot_x(&p, page->minibatch[i].end_s),
			jetwatt_plot_y(&p, page->minibatch[i].joule));
	fputs("'/>\n", f);
	plot_piece_means(&p, page);
	jetwatt_plot_end(&p);
}

/* Draw stall time and GPU time of a minibatch stacked, and its whole time as a line: means over
 * parts of the run with equal numbers of minibatches. */
void jetwatt_page_split(FILE *f, const struct jetwatt_page *page)
{
	size_t n = page->nr_minibatches, parts = n < SPLITS ? n : SPLITS;
	struct { double s, part[3]; } mean[SPLITS] = { 0 };
	struct jetwatt_plot p = { f, { 0, 0 }, { page->minibatch[n - 1].end_s, 0 }, 0 };

	for (size_t k = 0; k < parts; k++) {
		size_t from = k * n / parts, to = (k + 1) * n / parts;

		for (size_t i = from; i < to; i++) {
			const struct jetwatt_page_minibatch *b = &page->minibatch[i];

			mean[k].part[0] += b->stall_ms / (to - from);
			mean[k].part[1] += (b->stall_ms + b->gpu_ms) / (to - from);
			mean[k].part[2] += b->ms / (to - from);
		}
		mean[k].s = page->minibatch[(from + to) / 2].end_s;
		p.hi[1] = fmax(p.hi[1], mean[k].part[2]);
	}
	jetwatt_plot_begin(&p, "Time per minibatch: stall and the GPU's work", "s", "ms per minibatch");
	for (int i = 1; i >= 0; i--) {
		fprintf(f, "<path class='rail r%d' d='M%.1f %.1f", i ? 0 : 2, jetwatt_plot_x(&p, mean[0].s),
			jetwatt_plot_y(&p, 0));
		for (size_t k = 0; k < parts; k++)
			fprintf(f, "L%.1f %.1f", jetwatt_plot_x(&p, mean[k].s),
				jetwatt_plot_y(&p, fmin(mean[k].part[i], mean[k].part[2])));
		fprintf(f, "L%.1f %.1fZ'/>\n", jetwatt_plot_x(&p, mean[parts - 1].s), jetwatt_plot_y(&p, 0));
	}
	fputs("<path class='mean' d='", f);
	for (size_t k = 0; k < parts; k++)
		fprintf(f, "%c%.1f %.1f", k ? 'L' : 'M', jetwatt_plot_x(&p, mean[k].s),
			jetwatt_plot_y(&p, mean[k].part[2]));
	fputs("'/>\n", f);
	jetwatt_plot_end(&p);
}
