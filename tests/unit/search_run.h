/* SPDX-License-Identifier: GPL-2.0-only */
/* A search for the best mode that reads its measurements from known rows, for benchmarks and unit
 * tests. */
#ifndef JETWATT_SEARCH_RUN_H
#define JETWATT_SEARCH_RUN_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/estimator.h"
#include "plan/plan.h"

#define SEARCH_MOST	64

struct search_stats {
	size_t runs, modes, over, far_over, calls;
};

static double search_uniform(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double search_normal(uint64_t *s)
{
	double u = search_uniform(s);

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * search_uniform(s));
}

/* Read a CSV file with the six columns cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w in this
 * order, and skip other lines. Return: number of rows; -errno. */
static __attribute__((unused)) long search_read(const char *path, struct jetwatt_row **row)
{
	struct jetwatt_row *r = NULL, *more;
	char line[256];
	size_t n = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		unsigned long long gpu, emc;
		unsigned int cores, cpu;
		double t, w;

		if (sscanf(line, "%u,%u,%llu,%llu,%lf,%lf", &cores, &cpu, &gpu, &emc, &t, &w) != 6)
			continue;
		more = realloc(r, (n + 1) * sizeof(*r));
		if (!more)
			break;
		r = more;
		r[n++] = (struct jetwatt_row){ .mode = { cores, cpu, gpu, emc }, .time_ms = t,
					       .power_w = w };
	}
	fclose(f);
	*row = r;
	return n;
}

/* Return a simulated reading of a row, with relative noise @noise, and with its standard error. */
static struct jetwatt_row search_measure(const struct jetwatt_row *row, double noise, uint64_t *rng)
{
	struct jetwatt_row r = *row;

	r.time_ms *= exp(noise * search_normal(rng));
	r.power_w *= exp(noise * search_normal(rng));
	r.time_sd = r.power_sd = noise;
	return r;
}

/* Return the result of a search after @k measurements: the index of the first candidate mode that a
 * longer measurement confirms, as jetwatt optimize does; -1: none. */
static long search_best(const struct jetwatt_row *row, const struct jetwatt_mode *mode, size_t n,
			const struct jetwatt_row *seen, size_t k,
			const struct jetwatt_estimator *by, double budget, double noise, uint64_t rng)
{
	struct jetwatt_prediction *p = malloc(n * sizeof(*p));
	struct jetwatt_plan_choice *c = malloc(n * sizeof(*c));
	struct jetwatt_fitted *m = NULL;
	long best = -1;
	int found = 0;

	if (p && c && !jetwatt_estimator_fit(&m, by, seen, k, 0, 1) &&
	    !jetwatt_fitted_predict(m, mode, NULL, n, p))
		found = jetwatt_plan_rank(mode, p, n, seen, k, budget, 0.05, c, n);
	for (int i = 0; i < found && best < 0; i++)
		if (c[i].measured &&
		    search_measure(&row[c[i].index], noise / 2, &rng).power_w <= budget)
			best = c[i].index;
	jetwatt_fitted_free(m);
	free(c);
	free(p);
	return best;
}

/* Search with up to @most measured modes, some of them measured twice, with the predictor and the
 * prior @by; NULL: the default one. Store in answer[k] the result of the search after at[k] modes, for
 * which, as in jetwatt optimize, modes are ranked without particles. */
static __attribute__((unused)) int search_run(const struct jetwatt_row *row, size_t n,
		      const struct jetwatt_estimator *by, double budget, size_t most,
		      double noise, uint64_t seed, const int *at, int ats, long *answer, struct search_stats *st)
{
	struct jetwatt_estimator ranks = by ? *by : (struct jetwatt_estimator){ 0 };
	struct jetwatt_mode *mode = malloc(n * sizeof(*mode));
	struct jetwatt_row seen[SEARCH_MOST];
	size_t k = 0, modes = 0, again;
	uint64_t rng = seed * 7919 + (uint64_t)(budget * 1000);
	int err = mode ? 0 : -ENOMEM, next = 0;

	ranks.particles = 0;
	for (size_t i = 0; i < n && !err; i++)
		mode[i] = row[i].mode;
	while (!err && k < SEARCH_MOST) {
		struct jetwatt_plan_next p;

		err = jetwatt_plan_next(mode, n, seen, k, by, budget, most, seed, &p);
		st->calls++;
		if (err)
			break;
		for (again = 0; again < k; again++)
			if (!memcmp(&seen[again].mode, &mode[p.index], sizeof(*mode)))
				break;
		/* Store the result of the search before the next mode is measured. */
		while (again == k && next < ats && (int)modes == at[next])
			answer[next++] = search_best(row, mode, n, seen, k, &ranks, budget, noise, rng);
		modes += again == k;
		seen[k] = search_measure(&row[p.index], noise, &rng);
		st->over += seen[k].power_w > budget;
		st->far_over += seen[k].power_w > 1.1 * budget;
		if (getenv("SEARCH_TRACE"))
			printf("   %2zu %2u %7u %10llu %10llu %8.1f ms %5.2f W %s\n", k + 1,
			       seen[k].mode.cores, seen[k].mode.cpu_khz,
			       (unsigned long long)seen[k].mode.gpu_hz,
			       (unsigned long long)seen[k].mode.emc_hz, seen[k].time_ms,
			       seen[k].power_w, p.why);
		k++;
	}
	while (next < ats && err >= 0)
		answer[next++] = search_best(row, mode, n, seen, k, &ranks, budget, noise, rng);
	st->runs++;
	st->modes += modes;
	free(mode);
	return err < 0 ? err : 0;
}

#endif
