// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latencies of requests, by turns and side by side: their figures, and both
 * histograms on one page.
 *
 *   schedule -l LATENCY_MS -o FILE.json -p FILE.html BY_TURNS TOGETHER
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/json.h"
#include "out/plot.h"

#define BINS	60

/**
 * struct run - answers of one run
 * @ms: of those that came, ascending; @lost: those that did not
 */
struct run {
	const char *name;
	double *ms;
	size_t n, lost;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void load(struct run *r, const char *path)
{
	FILE *f = fopen(path, "re");
	double sent, us;
	size_t max = 0;

	if (!f) {
		fprintf(stderr, "schedule: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	while (fscanf(f, "%lf %lf", &sent, &us) == 2) {
		if (us < 0) {
			r->lost++;
			continue;
		}
		if (r->n == max) {
			max = max ? 2 * max : 1024;
			r->ms = reallocarray(r->ms, max, sizeof(*r->ms));
			if (!r->ms)
				exit(1);
		}
		r->ms[r->n++] = us * 1e-3;
	}
	fclose(f);
	if (!r->n) {
		fprintf(stderr, "schedule: %s: no answers\n", path);
		exit(1);
	}
	qsort(r->ms, r->n, sizeof(*r->ms), by_value);
}

static double at(const struct run *r, double share)
{
	size_t i = share * r->n;

	return r->ms[i < r->n ? i : r->n - 1];
}

static double late_pct(const struct run *r, double latency)
{
	size_t late = r->lost;

	for (size_t i = 0; i < r->n; i++)
		late += r->ms[i] > latency;
	return 100.0 * late / (r->n + r->lost);
}

static double spread(const struct run *r)
{
	return at(r, 0.99) - at(r, 0.5);
}

static void histogram(FILE *f, const struct run *r, double latency, double hi)
{
	struct jetwatt_plot p = { f, { 0, 0 }, { hi, 1 }, 0 };
	int count[BINS] = { 0 };
	double x;

	for (size_t i = 0; i < r->n; i++)
		count[(int)fmin(r->ms[i] / hi * BINS, BINS - 1)]++;
	for (int k = 0; k < BINS; k++)
		p.hi[1] = fmax(p.hi[1], count[k]);
	fprintf(f, "<h2>%s</h2><p>p50 %.1f ms, p99 %.1f ms, most %.1f ms; %.2f %% later than %g ms</p>\n",
		r->name, at(r, .5), at(r, .99), r->ms[r->n - 1], late_pct(r, latency), latency);
	jetwatt_plot_begin(&p, r->name, "ms until the answer", "requests");
	for (int k = 0; k < BINS; k++) {
		double left = jetwatt_plot_x(&p, hi * k / BINS), top = jetwatt_plot_y(&p, count[k]);

		fprintf(f, "<rect class='bar' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", left, top,
			jetwatt_plot_x(&p, hi * (k + 1) / BINS) - left - 1, jetwatt_plot_y(&p, 0) - top);
	}
	x = jetwatt_plot_x(&p, latency);
	fprintf(f, "<path class='budget' d='M%.1f %.1fV%.1f'/>\n", x, jetwatt_plot_y(&p, 0),
		jetwatt_plot_y(&p, p.hi[1]));
	jetwatt_plot_end(&p);
}

static void page(const char *path, const struct run *r, double latency)
{
	/* The same axis for both, as far as 99.5 of 100 of the slower ones. */
	double hi = 1.1 * fmax(latency, fmax(at(&r[0], .995), at(&r[1], .995)));
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/><title>jetwatt schedule</title>\n"
	      "<style>body{margin:0 auto;padding:16px;max-width:900px;font:16px/1.5 system-ui,sans-serif}"
	      "svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,sans-serif}"
	      "svg path{fill:none}.grid{stroke:#ddd}.bar{fill:#2463b5}.budget{stroke:#b3261e;"
	      "stroke-dasharray:6 4}</style></head><body>\n<h1>Requests' latencies beside training</h1>\n", f);
	for (int i = 0; i < 2; i++)
		histogram(f, &r[i], latency, hi);
	fputs("</body></html>\n", f);
	fclose(f);
}

static void figures(FILE *f, const struct run *r, double latency)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, f, 1);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_real(&j, "latency_ms", latency, 6);
	for (int i = 0; i < 2; i++) {
		jetwatt_json_object(&j, i ? "together" : "by_turns");
		jetwatt_json_uint(&j, "answers", r[i].n);
		jetwatt_json_uint(&j, "unanswered", r[i].lost);
		jetwatt_json_real(&j, "p50_ms", at(&r[i], .5), 6);
		jetwatt_json_real(&j, "p90_ms", at(&r[i], .9), 6);
		jetwatt_json_real(&j, "p99_ms", at(&r[i], .99), 6);
		jetwatt_json_real(&j, "most_ms", r[i].ms[r[i].n - 1], 6);
		jetwatt_json_real(&j, "spread_ms", spread(&r[i]), 6);
		jetwatt_json_real(&j, "late_pct", late_pct(&r[i], latency), 4);
		jetwatt_json_end(&j);
	}
	jetwatt_json_real(&j, "spread_ratio", spread(&r[1]) / spread(&r[0]), 4);
	jetwatt_json_end(&j);
}

int main(int argc, char **argv)
{
	struct run r[2] = { { .name = "By turns" }, { .name = "Side by side" } };
	const char *json = NULL, *html = NULL;
	double latency = 0;
	FILE *f;
	int c;

	while ((c = getopt(argc, argv, "l:o:p:")) != -1) {
		if (c == 'l')
			latency = atof(optarg);
		else if (c == 'o')
			json = optarg;
		else if (c == 'p')
			html = optarg;
	}
	if (argc - optind != 2 || !(latency > 0) || !json || !html) {
		fprintf(stderr, "usage: schedule -l LATENCY_MS -o FILE.json -p FILE.html BY_TURNS TOGETHER\n");
		return 2;
	}
	load(&r[0], argv[optind]);
	load(&r[1], argv[optind + 1]);
	page(html, r, latency);
	f = fopen(json, "we");
	if (!f) {
		perror(json);
		return 1;
	}
	figures(f, r, latency);
	figures(stdout, r, latency);
	return fclose(f) != 0;
}
