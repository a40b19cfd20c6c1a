/* SPDX-License-Identifier: GPL-2.0-only */
/* Score of the minibatch boundaries that are found in simulated jobs with random shapes. */
#ifndef JETWATT_TESTS_SCORE_H
#define JETWATT_TESTS_SCORE_H

#include "minibatch/minibatch.h"
#include "jobs.h"

/* Maximum distance of a hit, in nanoseconds: a found boundary counts as a hit if it is at most this
 * far from the true boundary. If the event of the true boundary was lost, the maximum distance is
 * 90 % of the length of the minibatch. */
#define SCORE_NEAR_NS	0.2e6
#define SCORE_BINS	2000	/* bins of one microsecond */

/*
 * struct score - comparison of found with true minibatch boundaries, summed over jobs
 * @hit, @found, @truths: number of hit, found and true boundaries
 * @phase: number of hits with the right kind (training or evaluation)
 * @off: histogram of the distance of hits from the true boundary; hits whose event was lost are not
 * included
 */
struct score {
	size_t hit, found, truths, phase, off[SCORE_BINS];
};

static double score_f1(const struct score *s)
{
	return s->found + s->truths ? 2.0 * (double)s->hit / (double)(s->found + s->truths) : 0;
}

static double score_phases(const struct score *s)
{
	return s->hit ? (double)s->phase / (double)s->hit : 0;
}

static double score_error_ms(const struct score *s)
{
	size_t n = 0, sum = 0;

	for (int i = 0; i < SCORE_BINS; i++)
		n += s->off[i];
	for (int i = 0; i < SCORE_BINS; i++) {
		sum += s->off[i];
		if (2 * sum >= n)
			return i * 1e-3;
	}
	return INFINITY;
}

static void score_add(struct score *to, const struct score *s)
{
	to->hit += s->hit;
	to->found += s->found;
	to->truths += s->truths;
	to->phase += s->phase;
	for (int i = 0; i < SCORE_BINS; i++)
		to->off[i] += s->off[i];
}

static void score_hit(struct score *s, const struct job_truth *t, const struct jetwatt_batch_bound *b)
{
	double off = fabs((double)b->end_ns - (double)t->end_ns);

	s->hit++;
	s->phase += b->kind == (t->eval ? JETWATT_BATCH_EVAL : JETWATT_BATCH_TRAIN);
	if (!t->damaged)
		s->off[(int)fmin(off * 1e-3, SCORE_BINS - 1)]++;
}

/* Return the score of one process. A found boundary of kind OTHER does not count, except the first
 * one. */
static struct score score_job(const struct job *j, const struct jetwatt_batch_bound *b, int n)
{
	struct score s = { 0 };
	uint64_t before = 0;
	int at = 0;

	for (size_t i = 0; i < j->truths; i++) {
		const struct job_truth *t = &j->truth[i];
		double limit = t->damaged ? 0.9 * (double)(t->end_ns - before) : SCORE_NEAR_NS;

		before = t->end_ns;
		if (t->other)
			continue;
		s.truths++;
		while (at < n && (double)b[at].end_ns + limit < (double)t->end_ns)
			at++;
		if (at < n && fabs((double)b[at].end_ns - (double)t->end_ns) <= limit &&
		    (b[at].kind != JETWATT_BATCH_OTHER || !i))
			score_hit(&s, t, &b[at++]);
	}
	for (int i = 0; i < n; i++)
		s.found += b[i].kind != JETWATT_BATCH_OTHER || !i;
	return s;
}

static struct score score_drawn(uint64_t seed, int kind, uint64_t number, const char **name)
{
	uint64_t z = seed * 1000003 + (uint64_t)kind * 1009 + number;
	struct job_shape h = job_draw(&z, kind);
	struct jetwatt_batch_bound *b;
	struct jetwatt_batch_info info;
	struct score s;
	struct job j;
	int n;

	job_alloc(&j);
	job_make(&j, &h, 100, 5, z);
	job_sort(&j);
	b = calloc(2 * j.waits, sizeof(*b));
	if (!b)
		abort();
	n = jetwatt_batch_segment(j.sync, j.waits, b, &info);
	s = score_job(&j, b, n > 0 ? n : 0);
	*name = h.name;
	if (getenv("VERBOSE") && score_f1(&s) < 0.995)
		printf("# %s %llu: k %d found %.0f, F1 %.4f\n", h.name, (unsigned long long)number, h.k,
		       info.period_syncs, score_f1(&s));
	free(b);
	job_free(&j);
	return s;
}

#endif
