// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evaluates the latencies of requests under several loads: time sharing by jetwatt schedule (by
 * turns), training and server side by side, and the server alone. Writes the values as JSON and the
 * histograms as one HTML page.
 *
 *   schedule -o FILE.json -p FILE.html LOAD...
 *
 * LOAD is a directory with the responses of each run in the files alone, by_turns and together, and
 * with a file load: the latency limit in ms and a description.
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
#define RUNS	3

/**
 * struct run - latencies of one run
 * @ms: latencies of the answered requests, in ms, ascending
 * @lost: number of requests without an answer
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
		fprintf(stderr, "schedule: %s: contains no answers\n", path);
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

/* Return: difference between the 99th percentile and the median of the latencies, in ms. */
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
	fprintf(f, "<h2>%s</h2><p>p50 %.1f ms, p99 %.1f ms, max %.1f ms; %.2f %% later than %g ms</p>\n",
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

/**
 * struct load - a load and its runs
 * @latency: latency limit in ms
 */
struct load {
	char name[160];
	double latency;
	struct run run[RUNS];
};

enum { BY_TURNS, TOGETHER, ALONE };

static void load_open(struct load *l, const char *dir)
{
	static const char *const name[RUNS] = { "by_turns", "together", "alone" };
	static const char *const title[RUNS] = { "By turns", "Side by side", "The server alone" };
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/load", dir);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%lf %159[^\n]", &l->latency, l->name) != 2) {
		fprintf(stderr, "schedule: %s: %s\n", path, f ? "has no latency limit and description" : strerror(errno));
		exit(1);
	}
	fclose(f);
	for (int i = 0; i < RUNS; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
		l->run[i].name = title[i];
		load(&l->run[i], path);
	}
}

static void page(const char *path, const struct load *l, int n)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/><title>jetwatt schedule</title>\n"
	      "<style>body{margin:0 auto;padding:16px;max-width:900px;font:16px/1.5 system-ui,sans-serif}"
	      "svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,sans-serif}"
	      "svg path{fill:none}.grid{stroke:#ddd}.bar{fill:#2463b5}.budget{stroke:#b3261e;"
	      "stroke-dasharray:6 4}</style></head><body>\n<h1>Requests' latencies beside training</h1>\n", f);
	for (; n--; l++) {
		/* The same axis for all runs of a load. */
		double hi = 1.1 * fmax(l->latency, fmax(at(&l->run[BY_TURNS], .995),
							at(&l->run[TOGETHER], .995)));

		fprintf(f, "<h1>%s</h1>\n", l->name);
		for (int i = 0; i < RUNS; i++)
			histogram(f, &l->run[i], l->latency, hi);
	}
	fputs("</body></html>\n", f);
	fclose(f);
}

static void figures(FILE *f, const struct load *l, int n)
{
	static const char *const key[RUNS] = { "by_turns", "together", "alone" };
	struct jetwatt_json j;

	jetwatt_json_init(&j, f, 1);
	jetwatt_json_array(&j, NULL);
	for (; n--; l++) {
		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "load", l->name);
		jetwatt_json_real(&j, "latency_ms", l->latency, 6);
		for (int i = 0; i < RUNS; i++) {
			const struct run *r = &l->run[i];

			jetwatt_json_object(&j, key[i]);
			jetwatt_json_uint(&j, "answers", r->n);
			jetwatt_json_uint(&j, "unanswered", r->lost);
			jetwatt_json_real(&j, "p50_ms", at(r, .5), 6);
			jetwatt_json_real(&j, "p90_ms", at(r, .9), 6);
			jetwatt_json_real(&j, "p99_ms", at(r, .99), 6);
			jetwatt_json_real(&j, "most_ms", r->ms[r->n - 1], 6);
			jetwatt_json_real(&j, "spread_ms", spread(r), 6);
			jetwatt_json_real(&j, "late_pct", late_pct(r, l->latency), 4);
			jetwatt_json_end(&j);
		}
		jetwatt_json_real(&j, "spread_ratio", spread(&l->run[TOGETHER]) / spread(&l->run[BY_TURNS]), 4);
		/* Upper bound of the ratio: there is no training in the run with the server alone. */
		jetwatt_json_real(&j, "spread_ratio_most", spread(&l->run[TOGETHER]) / spread(&l->run[ALONE]), 4);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
}

static void table(const struct load *l, int n)
{
	printf("p50 / p99 / spread in ms; late: %% of requests\n");
	for (; n--; l++) {
		printf("%s, within %g ms\n", l->name, l->latency);
		for (int i = RUNS; i--;) {
			const struct run *r = &l->run[i];

			printf("  %-16s %7.1f %7.1f %7.1f  late %.2f\n", r->name, at(r, .5), at(r, .99),
			       spread(r), late_pct(r, l->latency));
		}
		printf("  spread %.2f times smaller than side by side; %.2f times with the server alone\n",
		       spread(&l->run[TOGETHER]) / spread(&l->run[BY_TURNS]),
		       spread(&l->run[TOGETHER]) / spread(&l->run[ALONE]));
	}
}

int main(int argc, char **argv)
{
	const char *json = NULL, *html = NULL;
	struct load *l;
	FILE *f;
	int c, n;

	while ((c = getopt(argc, argv, "o:p:")) != -1) {
		if (c == 'o')
			json = optarg;
		else if (c == 'p')
			html = optarg;
	}
	n = argc - optind;
	l = n > 0 ? calloc(n, sizeof(*l)) : NULL;
	if (!l || !json || !html) {
		fprintf(stderr, "usage: schedule -o FILE.json -p FILE.html LOAD...\n");
		return 2;
	}
	for (int i = 0; i < n; i++)
		load_open(&l[i], argv[optind + i]);
	page(html, l, n);
	f = fopen(json, "we");
	if (!f) {
		perror(json);
		return 1;
	}
	figures(f, l, n);
	table(l, n);
	return fclose(f) != 0;
}
