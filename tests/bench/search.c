// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the quality of the search with files of measured modes: each mode that the search
 * requests is answered with its row plus noise. The mode that the search chooses for a budget is
 * compared with the fastest mode below 98 % of that budget, without outliers (tests/demo/optimum.h).
 * The noise is passed to the search as the error of the measurement: 0.3 %, which is typical of some
 * seconds at 1 kHz, and 1 %.
 *
 *	search [-o report.json] [-s seeds] [-b lo:hi:step] [-n noise] [-p] file.csv...
 *
 * -p: without particles (model/particles.h), with which jetwatt optimize searches
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "demo/optimum.h"
#include "plan/plan.h"
#include "unit/search_run.h"
#include "unit/synth.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Numbers of measured modes after which the result of a search is judged. */
#define AT	5

struct tally {
	double *excess;
	size_t n, unsolved, over;
	double over_max;
};

static void add(struct tally *t, const struct jetwatt_row *row, long answer, double budget,
		double optimum_ms)
{
	double e = 1.0;

	if (answer < 0) {
		t->unsolved++;
	} else {
		double w = row[answer].power_w / budget - 1;

		e = row[answer].time_ms / optimum_ms - 1;
		t->over += w > 0.02;
		t->over_max = fmax(t->over_max, w);
	}
	t->excess[t->n++] = fmax(e, 0);
}

static void show(struct tally *t, int most, FILE *json, int last)
{
	size_t n = t->n, five = 0;
	double mean = 0;

	qsort(t->excess, n, sizeof(double), by_value);
	for (size_t i = 0; i < n; i++) {
		five += t->excess[i] > 0.05;
		mean += t->excess[i] / n;
	}
	printf("  %2d modes: excess time in %%: median %.2f mean %.2f p90 %.2f max %.2f; over 5 %% in %.1f %% of the runs; unsolved %zu; more than 2 %% over the budget %zu (worst %+.2f %%)\n",
	       most, 100 * t->excess[n / 2], 100 * mean, 100 * t->excess[n * 9 / 10],
	       100 * t->excess[n - 1], 100.0 * five / n, t->unsolved, t->over, 100 * t->over_max);
	if (json)
		fprintf(json, "{\"modes\":%d,\"runs\":%zu,\"median\":%.3f,\"mean\":%.3f,\"p90\":%.3f,\"max\":%.3f,\"over5_pct\":%.2f,\"unsolved\":%zu,\"power_over2\":%zu,\"power_over_max_pct\":%.2f}%s",
			most, n, 100 * t->excess[n / 2], 100 * mean, 100 * t->excess[n * 9 / 10],
			100 * t->excess[n - 1], 100.0 * five / n, t->unsolved, t->over,
			100 * t->over_max, last ? "" : ",");
}

/*
 * @name: a file, or "orin:SEED", "xavier:SEED" or "nano:SEED": a random board and workload. The
 * prefix "dirty-" adds jitter and outliers.
 */
static long rows_of(const char *name, struct jetwatt_row **row)
{
	static const char *const kind[] = { "orin:", "xavier:", "nano:" };
	int dirty = !strncmp(name, "dirty-", 6);
	const char *n = dirty ? name + 6 : name;
	struct synth w;

	for (int k = SYNTH_ORIN; k <= SYNTH_NANO; k++)
		if (!strncmp(n, kind[k], strlen(kind[k]))) {
			unsigned long seed = strtoul(n + strlen(kind[k]), NULL, 10);

			synth_make(&w, seed, k);
			return synth_rows(&w, row, dirty ? 0.01 : 0, seed);
		}
	return search_read(name, row);
}

static int bench(const char *path, double lo, double hi, double step, int seeds, double noise,
		 const struct jetwatt_estimator *by, FILE *json)
{
	static const int at[AT] = { 5, 7, 10, 15, 20 };
	struct jetwatt_row *row = NULL;
	unsigned char *dirty = NULL;
	struct tally t[AT] = { 0 };
	struct search_stats st = { 0 };
	long n = rows_of(path, &row);
	clock_t t0 = clock();
	int err = n > 0 ? 0 : -EINVAL;

	if (err)
		goto out;
	err = -ENOMEM;
	dirty = calloc(n, 1);
	for (int k = 0; k < AT; k++) {
		t[k].excess = calloc((size_t)((hi - lo) / step + 2) * seeds, sizeof(double));
		if (!t[k].excess)
			goto out;
	}
	if (!dirty || optimum_outliers(row, n, dirty) < 0)
		goto out;
	for (double b = lo; b <= hi + 1e-9; b += step) {
		long best = optimum_find(row, n, dirty, 0.98 * b);

		if (best < 0)
			continue;
		for (int s = 0; s < seeds; s++) {
			long answer[AT];

			err = search_run(row, n, by, b, at[AT - 1], noise, s + 1, at, AT, answer, &st);
			if (err)
				goto out;
			for (int k = 0; k < AT; k++)
				add(&t[k], row, answer[k], b, row[best].time_ms);
			for (int k = 0; k < AT && getenv("SEARCH_VERBOSE"); k++)
				printf("%g W seed %d, %d modes: %.1f\n", b, s, at[k],
				       100 * t[k].excess[t[k].n - 1]);
		}
	}
	/* No mode of the file is within any of the budgets. */
	err = -ERANGE;
	if (!t[0].n)
		goto out;
	printf("%s, error of a reading %g %%: %zu runs; per run %.1f modes measured, %.1f readings over the budget (by more than 10 %%: %.1f); %.1f ms of CPU time per call\n",
	       path, 100 * noise, t[0].n, (double)st.modes / st.runs, (double)st.over / st.runs,
	       (double)st.far_over / st.runs, 1e3 * (clock() - t0) / CLOCKS_PER_SEC / st.calls);
	if (json)
		fprintf(json, "{\"file\":\"%s\",\"noise\":%g,\"modes_measured\":%.2f,\"at\":[",
			path, noise, (double)st.modes / st.runs);
	for (int k = 0; k < AT; k++)
		show(&t[k], at[k], json, k == AT - 1);
	if (json)
		fputs("]}", json);
	err = 0;
out:
	for (int k = 0; k < AT; k++)
		free(t[k].excess);
	free(dirty);
	free(row);
	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	double lo = 15, hi = 45, step = 1, noise[] = { 0.003, 0.01 };
	int noises = 2;
	struct jetwatt_estimator by = { .particles = 1 };
	const char *out = NULL;
	FILE *json = NULL;
	int seeds = 5, opt, bad = 0, first;

	while ((opt = getopt(argc, argv, "o:s:b:n:p")) != -1) {
		if (opt == 'o')
			out = optarg;
		else if (opt == 'n')
			noise[0] = atof(optarg), noises = 1;
		else if (opt == 'p')
			by.particles = 0;
		else if (opt == 's')
			seeds = atoi(optarg);
		else if (opt != 'b' || sscanf(optarg, "%lf:%lf:%lf", &lo, &hi, &step) != 3)
			bad = 1;
	}
	if (bad || optind == argc || seeds < 1 || !(noise[0] > 0) || !(step > 0) || !(lo <= hi)) {
		fprintf(stderr, "usage: search [-o report.json] [-s seeds] [-b lo:hi:step] [-n noise] [-p] file.csv...\n");
		return 2;
	}
	if (out) {
		json = fopen(out, "w");
		if (!json) {
			perror(out);
			return 1;
		}
		fputs("[", json);
	}
	first = optind;
	for (; optind < argc; optind++)
		for (int k = 0; k < noises; k++) {
			if (json && (optind > first || k))
				fputs(",\n", json);
			if (bench(argv[optind], lo, hi, step, seeds, noise[k], &by, json))
				bad = 1;
		}
	if (json) {
		fputs("]\n", json);
		bad |= fclose(json) != 0;
	}
	return bad;
}
