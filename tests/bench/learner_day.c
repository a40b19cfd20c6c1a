// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the quality of jetwattd's learner over a day on one board, in virtual time
 * (learner_job.h): jobs of random workloads, lengths and budgets run one after the other, and the
 * measurements of each are in the database when the next one starts.
 *
 *	learner-day [-s seed] [-h hours] [-l least:most] [-p share] [-w swing] file.csv...
 *
 * Each file is three workloads: with its own time per minibatch, and with 5 and 20 times that. The
 * length of a job is log-uniform (default: 30 s to 3 h), its budget is drawn from the lowest, the
 * middle or the highest third of the range of power of its modes.
 *
 * Output: CSV, a row for each job. "new" is 1 for the first job of a workload. The oracle uses the
 * fastest mode within the same power limit from the start; the raw oracle uses the fastest mode
 * within the budget. "best_ms", "raw_ms" and "preset_ms" are the times of a minibatch in the
 * oracles' modes and in the fastest preset of nvpmodel within the limit; "done" and the columns that
 * follow are numbers of minibatches: of the whole job, after 15 s, and in each part of the job.
 */
#include <string.h>
#include <unistd.h>

#include "bench/learner_file.h"
#include "daemon/loop.h"

#define FILES		8
#define WORKLOADS	(3 * FILES)
/* Number of other workloads that serve as references, as in user/daemon/job_hold.c. */
#define OTHERS		4
/* The budgets lie between these fractions of the range of log power. */
#define LOWEST		0.12
#define HIGHEST		0.92

static const double times[] = { 1, 5, 20 };
/* Ends of the parts of a job, in s. */
static const double part_s[] = { 5, 10, 20, 60, 120, 300, 600, 1800, 10800 };
#define BINS		(sizeof(part_s) / sizeof(*part_s))

/* A workload: a file with a factor for its times. @last: number of the job that ran it last, 0: none. */
struct workload {
	const char *file;
	double times;
	int last;
	struct bench b;
};

/* Find the workloads that ran last, except @own, as references. Return: their number. */
static int references(const struct workload *w, int n, int own, struct jetwatt_corpus *other)
{
	int before = INT32_MAX, found = 0;

	while (found < OTHERS) {
		int at = -1;

		for (int i = 0; i < n; i++)
			if (i != own && w[i].last && w[i].last < before && (at < 0 || w[i].last > w[at].last))
				at = i;
		if (at < 0)
			break;
		before = w[at].last;
		other[found++] = (struct jetwatt_corpus){ .row = w[at].b.stored, .n = w[at].b.nr_stored };
	}
	return found;
}

/* Run a job of the workload with random length and budget, and print its row. Return: its length. */
static double run(struct workload *w, const struct jetwatt_corpus *other, int others, double at_s, double lo_s,
		  double hi_s, uint64_t *rng)
{
	struct bench *b = &w->b;
	struct jetwattd_prior prior = { .key = KEY, .first = b->first, .first_w = b->first_w, .firsts = b->presets,
					.row = b->stored, .rows = b->nr_stored };
	double least = b->row[lowest(b)].power_w, most = 0, third = (int)(3 * search_uniform(rng)), from = 0;

	for (size_t i = 0; i < b->n; i++)
		most = fmax(most, b->row[i].power_w);
	b->rng = *rng + 500;
	b->budget_w = least * pow(most / least, LOWEST + (HIGHEST - LOWEST) * (third + search_uniform(rng)) / 3);
	b->length_s = lo_s * pow(hi_s / lo_s, search_uniform(rng));
	if (b->nr_stored < JETWATTD_KNOWN) {
		prior.other = other;
		prior.others = (size_t)others;
	}
	job(b, &prior);
	printf("%.0f,%s,%g,%.1f,%.0f,%d,%d,%.4g,%.4g,%.4g,%d,%zu,%.6g,%.6g", at_s, w->file, w->times, b->budget_w,
	       b->length_s, !w->last, (int)prior.others, fastest(b, room(b)), fastest(b, b->budget_w), best_preset(b),
	       b->overs, jetwatt_tuner_known(&b->l.known), made(b, 0), made(b, 15));
	for (size_t i = 0; i < BINS; from = part_s[i++])
		printf(",%.6g", made(b, from) - made(b, part_s[i]));
	putchar('\n');
	fflush(stdout);
	return b->length_s;
}

int main(int argc, char **argv)
{
	double hours = 24, lo_s = 30, hi_s = 10800, swing = 0.003, share = 0.05, at_s = 0;
	static struct workload w[WORKLOADS];
	int opt, n = 0, jobs = 0, bad = 0;
	uint64_t rng = 1;

	while ((opt = getopt(argc, argv, "s:h:l:w:p:")) != -1)
		if (opt == 's')
			rng = strtoul(optarg, NULL, 10);
		else if (opt == 'h')
			hours = atof(optarg);
		else if (opt == 'w')
			swing = atof(optarg);
		else if (opt == 'p')
			share = atof(optarg) / 100;
		else if (opt != 'l' || sscanf(optarg, "%lf:%lf", &lo_s, &hi_s) != 2)
			bad = 1;
	if (bad || optind == argc || argc - optind > FILES) {
		fprintf(stderr, "usage: learner-day [-s seed] [-h hours] [-l least:most] [-p share] [-w swing] file.csv...\n");
		return 2;
	}
	for (int k = optind; k < argc; k++)
		for (size_t t = 0; t < sizeof(times) / sizeof(*times); t++, n++) {
			const char *name = strrchr(argv[k], '/');

			w[n] = (struct workload){ .file = name ? name + 1 : argv[k], .times = times[t],
						  .b = { .swing = swing, .share = share } };
			open_board(&w[n].b, argv[k], times[t]);
		}
	printf("at_s,file,times,budget_w,length_s,new,others,best_ms,raw_ms,preset_ms,overs,modes,done,done_15");
	for (size_t i = 0; i < BINS; i++)
		printf(",to_%g", part_s[i]);
	putchar('\n');
	while (at_s < 3600 * hours) {
		int i = (int)(n * search_uniform(&rng));
		struct jetwatt_corpus other[OTHERS];

		at_s += run(&w[i], other, references(w, n, i, other), at_s, lo_s, hi_s, &rng);
		w[i].last = ++jobs;
	}
	for (int i = 0; i < n; i++)
		jetwattd_learner_close(&w[i].b.l);
	return 0;
}
