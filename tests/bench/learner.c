// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the quality of jetwattd's learner with jobs of random length and budget, on a file of
 * measured modes, in virtual time (learner_job.h).
 *
 *	learner [-j jobs] [-s seed] [-t times] [-l least:most] [-w swing] [-p share] [-v]
 *		file.csv [references.csv...]
 *
 * Each job runs twice: first as a new job, with the other files as reference profiles in the
 * database, then as a known job, with the measurements of the first run in the database. The time
 * of each run is compared with that of an oracle, which uses the best mode within the same power
 * limit from the start, and with the fastest preset of nvpmodel within the limit. Outliers
 * (optimum.h) are no candidates.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/learner_file.h"

/*
 * Results of a job, as shares: excess time over the oracle (whole job; later part), excess time
 * over the preset, and time lost by learning; number of steps down by the cap; number of known
 * modes.
 */
struct score {
	double whole, later, preset, share;
	int overs, modes;
};

/* Return: excess of the mean time of a minibatch since @from_s over @t_ms, as a share of @t_ms. */
static double longer(const struct bench *b, double from_s, double t_ms)
{
	return b->length_s > from_s ? (b->length_s - from_s) / (made(b, from_s) * t_ms * 1e-3) - 1 : NAN;
}

static struct score judge(const struct bench *b, double after_s)
{
	double best = fastest(b, room(b)), vendor = best_preset(b);
	struct score s = { .whole = longer(b, 0, best), .later = longer(b, after_s, best),
			   .preset = isfinite(vendor) ? longer(b, 15, vendor) : NAN, .overs = b->overs };

	for (size_t i = 0; i < b->parts; i++)
		if (b->part[i].learning)
			s.share += fmax(0, 1 - best / b->row[b->part[i].mode].time_ms) * b->part[i].s / b->length_s;
	s.modes = (int)jetwatt_tuner_known(&b->l.known);
	return s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Print mean, median, 90th percentile and maximum, in percent, and how many values exceed 5 %. */
static void tell(const char *what, double *v, size_t n)
{
	double mean = 0;
	size_t k = 0, five = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[k++] = v[i];
	if (!k)
		return;
	qsort(v, k, sizeof(*v), by_value);
	for (size_t i = 0; i < k; i++) {
		mean += v[i] / k;
		five += v[i] > 0.05;
	}
	printf("  %-28s mean %6.2f median %6.2f p90 %6.2f max %6.2f %%, over 5 %%: %zu of %zu\n", what, 100 * mean,
	       100 * v[k / 2], 100 * v[k * 9 / 10], 100 * v[k - 1], five, k);
}

static void show(const char *title, const struct score *s, size_t n)
{
	double *v = malloc(n * sizeof(*v)), overs = 0, modes = 0;

	if (!v)
		exit(1);
	for (size_t i = 0; i < n; i++) {
		overs += (double)s[i].overs / n;
		modes += (double)s[i].modes / n;
	}
	printf("%s: %.1f modes, %.1f steps down a job\n", title, modes, overs);
#define TELL(what, field) do { \
	for (size_t i = 0; i < n; i++) \
		v[i] = s[i].field; \
	tell(what, v, n); \
} while (0)
	TELL("whole job against oracle", whole);
	TELL("later against oracle", later);
	TELL("from 15 s against preset", preset);
	TELL("lost by learning", share);
	free(v);
}

/* Number of modes of a reference that are in the database. */
#define KNOWN	20
static void refer(struct bench *b, const char *path)
{
	struct jetwatt_row *all, *some = malloc(KNOWN * sizeof(*some));
	long n = load(path, &all);
	uint64_t rng = 7;

	if (!some)
		exit(1);
	for (int i = 0; i < KNOWN; i++) {
		some[i] = all[(size_t)(search_uniform(&rng) * n)];
		some[i].time_sd = some[i].power_sd = 0.01;
	}
	b->other[b->others++] = (struct jetwatt_corpus){ .row = some, .n = KNOWN };
	free(all);
}

static struct score one(struct bench *b, const struct jetwattd_prior *prior, double after_s, const char *what)
{
	struct score s;

	job(b, prior);
	s = judge(b, after_s);
	if (b->verbose)
		printf("  %s: %.1f %% whole, %.1f %% later, %.1f %% preset, %d steps down, %d modes\n", what, 100 * s.whole,
		       100 * s.later, 100 * s.preset, s.overs, s.modes);
	return s;
}

/* Run a job of random length and budget twice: as a new job (result: @fresh), and then as a known
 * job, with the measurements of the first run (result: @known). */
static void twice(struct bench *b, uint64_t seed, double lo_s, double hi_s, struct score *fresh,
		  struct score *known)
{
	double least = b->row[lowest(b)].power_w, most = 0, after_s;
	struct jetwattd_prior prior = { .key = KEY, .other = b->other, .others = b->others,
					.first = b->first, .first_w = b->first_w, .firsts = b->presets };

	b->rng = seed + 500;
	for (size_t i = 0; i < b->n; i++)
		most = fmax(most, b->row[i].power_w);
	b->budget_w = least * pow(most / least, 0.12 + 0.8 * search_uniform(&seed));
	b->length_s = lo_s * pow(hi_s / lo_s, search_uniform(&seed));
	after_s = fmax(b->others >= 3 ? 15 : 60, 60 * 1e-3 * fastest(b, room(b)));
	memset(b->l.allowance, 0, sizeof(b->l.allowance));
	b->nr_stored = 0;
	if (b->verbose)
		printf("%g W for %.0f s; best %.2f ms\n", b->budget_w, b->length_s, fastest(b, room(b)));
	*fresh = one(b, &prior, after_s, "new");
	prior.row = b->stored;
	prior.rows = b->nr_stored;
	*known = one(b, &prior, 2, "known");
}

int main(int argc, char **argv)
{
	double times = 1, lo_s = 30, hi_s = 3600;
	struct bench b = { .swing = 0.003, .share = 0.05 };
	struct score *fresh, *known;
	int opt, jobs = 20, bad = 0;
	uint64_t seed = 1;

	while ((opt = getopt(argc, argv, "j:s:t:l:w:p:v")) != -1)
		if (opt == 'j')
			jobs = atoi(optarg);
		else if (opt == 's')
			seed = strtoul(optarg, NULL, 10);
		else if (opt == 't')
			times = atof(optarg);
		else if (opt == 'w')
			b.swing = atof(optarg);
		else if (opt == 'p')
			b.share = atof(optarg) / 100;
		else if (opt == 'v')
			b.verbose++;
		else if (opt != 'l' || sscanf(optarg, "%lf:%lf", &lo_s, &hi_s) != 2)
			bad = 1;
	if (bad || optind == argc || jobs < 1) {
		fprintf(stderr, "usage: learner [-j jobs] [-s seed] [-t times] [-l least:most] [-w swing] [-p share] [-v] file.csv [references.csv...]\n");
		return 2;
	}
	open_board(&b, argv[optind], times);
	for (int k = optind + 1; k < argc && b.others < REFERENCES; k++)
		refer(&b, argv[k]);
	fresh = calloc(jobs, sizeof(*fresh));
	known = calloc(jobs, sizeof(*known));
	if (!fresh || !known)
		return 1;
	for (int j = 0; j < jobs; j++)
		twice(&b, seed * 1000 + j, lo_s, hi_s, &fresh[j], &known[j]);
	printf("%s, minibatches x %g, %d jobs of %g to %g s, swing %g %%, %d references\n", argv[optind], times, jobs,
	       lo_s, hi_s, 100 * b.swing, b.others);
	show("new", fresh, jobs);
	show("known", known, jobs);
	jetwattd_learner_close(&b.l);
	return 0;
}
