// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch bounds over a matrix of job shapes, and at the edges. SEED= draws others. */
#include "batch/batch.h"

#include <errno.h>
#include <time.h>

#include "jobs.h"
#include "kselftest_harness.h"

/* What is not said is as in job_usual(). */
static const struct job_shape shapes[] = {
	{ "k1", .k = 1 },
	{ "k1 noise 5 %", .k = 1, .noise = 0.05 },
	{ "k1 10 ms", .k = 1, .cycle_ms = 10 },
	{ "k1 2 s", .k = 1, .cycle_ms = 2000 },
	{ "k1 loader-bound", .k = 1, .load = 0.8 },
	{ "k1 loader jitter", .k = 1, .load = 0.5, .noise = 0.25 },
	{ "k1 stalls", .k = 1, .stall = 0.1, .stall_by = 3 },
	{ "k1 many stalls", .k = 1, .stall = 0.4, .stall_by = 1 },
	{ "k1 switches", .k = 1, .switch_every = 17 },
	{ "k1 warm-up", .k = 1, .warm = 20 },
	{ "k1 accumulate 4", .k = 1, .accumulate = 4, .optimizer = 0.2 },
	{ "k1 accumulate 8", .k = 1, .accumulate = 8, .optimizer = 0.4 },
	{ "k1 accumulate 2", .k = 1, .accumulate = 2, .optimizer = 0.2 },
	{ "k1 eval k1", .k = 1, .eval_every = 50, .eval_len = 20, .eval_k = 1 },
	{ "k1 eval k2", .k = 1, .eval_every = 50, .eval_len = 20, .eval_k = 2 },
	{ "k1 lost 2 %", .k = 1, .lost = 0.02 },
	{ "k2", .k = 2 },
	{ "k2 noise 5 %", .k = 2, .noise = 0.05 },
	{ "k2 uneven", .k = 2, .uneven = 3 },
	{ "k2 even gaps", .k = 2, .load = 0.05, .inner = 0.05, .uneven = 2 },
	{ "k2 switches", .k = 2, .switch_every = 17 },
	{ "k2 stalls", .k = 2, .stall = 0.1, .stall_by = 3 },
	{ "k2 accumulate 4", .k = 2, .accumulate = 4, .optimizer = 0.2 },
	{ "k2 accumulate 4 extra", .k = 2, .accumulate = 4, .optimizer = 0.1, .extra = 1 },
	{ "k2 eval k1", .k = 2, .eval_every = 50, .eval_len = 20, .eval_k = 1 },
	{ "k2 lost 1 %", .k = 2, .lost = 0.01 },
	{ "k2 calls", .k = 2, .load = 0.055, .inner = 0.05, .calls = 2 },
	{ "k3", .k = 3 },
	{ "k3 even gaps", .k = 3, .load = 0.05, .inner = 0.05, .uneven = 3 },
	{ "k3 near gaps", .k = 3, .load = 0.055, .inner = 0.05, .uneven = 3 },
	{ "k4 near gaps", .k = 4, .load = 0.055, .inner = 0.05, .uneven = 3 },
	{ "k3 noise 5 %", .k = 3, .noise = 0.05, .uneven = 2 },
	{ "k3 close gaps", .k = 3, .load = 0.04, .inner = 0.025 },
	{ "k3 loader-bound", .k = 3, .load = 0.8 },
	{ "k3 switches", .k = 3, .switch_every = 17, .uneven = 2 },
	{ "k3 eval k1", .k = 3, .eval_every = 40, .eval_len = 15, .eval_k = 1 },
	{ "k3 eval k2", .k = 3, .eval_every = 40, .eval_len = 15, .eval_k = 2 },
	{ "k3 lost 1 %", .k = 3, .lost = 0.01, .uneven = 2 },
	{ "k3 threads", .k = 3, .threads = 3 },
	{ "k4", .k = 4 },
	{ "k4 stalls", .k = 4, .stall = 0.1, .stall_by = 3 },
	{ "k4 uneven switches", .k = 4, .uneven = 4, .switch_every = 25 },
	{ "k4 accumulate 4 extra", .k = 4, .accumulate = 4, .optimizer = 0.1, .extra = 1 },
	{ "k4 warm-up eval", .k = 4, .warm = 10, .eval_every = 60, .eval_len = 8, .eval_k = 1 },
	{ "k5", .k = 5 },
	{ "k5 noise 5 % stalls", .k = 5, .noise = 0.05, .stall = 0.05, .stall_by = 5 },
	{ "k5 lost 1 %", .k = 5, .lost = 0.01 },
	{ "k6", .k = 6 },
	{ "k6 10 ms", .k = 6, .cycle_ms = 10 },
	{ "k6 2 s switches", .k = 6, .cycle_ms = 2000, .switch_every = 17 },
	{ "k6 uneven eval", .k = 6, .uneven = 3, .eval_every = 50, .eval_len = 12, .eval_k = 1 },
	{ "k6 accumulate 2 extra", .k = 6, .accumulate = 2, .optimizer = 0.1, .extra = 1 },
	{ "k6 lost 1 %", .k = 6, .lost = 0.01 },
};
#define SHAPES	(sizeof(shapes) / sizeof(shapes[0]))

static uint64_t seed(void)
{
	const char *s = getenv("SEED");

	return s ? strtoull(s, NULL, 0) : 20260101;
}

struct score {
	size_t hit, found, true_bounds, whole;
	double error_ms;	/* worst of the hits */
};

/* A bound is hit if it is within 0.2 ms; one whose own event was lost, if it
 * is within the minibatch. */
static struct score score(const struct job *j, const struct jetwatt_batch_bound *b, int n)
{
	struct score s = { .found = (size_t)n, .true_bounds = j->truths };

	for (size_t i = 0; i < j->truths; i++) {
		const struct job_truth *t = &j->truth[i];
		double limit = 0.2e6;

		if (t->damaged)
			limit = i && j->truth[i - 1].tgid == t->tgid ?
				(double)(t->end_ns - j->truth[i - 1].end_ns) * 0.9 : 1e9;
		for (int k = 0; k < n; k++) {
			double off = fabs((double)b[k].end_ns - (double)t->end_ns);

			if (b[k].tgid != t->tgid || off > limit)
				continue;
			s.hit++;
			if (!t->damaged && off * 1e-6 > s.error_ms)
				s.error_ms = off * 1e-6;
			break;
		}
	}
	return s;
}

static double f1(const struct score *s)
{
	return s->found + s->true_bounds ?
	       2.0 * (double)s->hit / (double)(s->found + s->true_bounds) : 0;
}

TEST(matrix)
{
	struct score sum = { 0 };
	uint64_t base = seed();
	double worst = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %llu, %zu shapes\n", (unsigned long long)base, SHAPES);
	for (size_t i = 0; i < SHAPES; i++) {
		struct jetwatt_batch_bound *b;
		struct jetwatt_batch_info info;
		struct score s;
		struct job j;
		int n;

		job_alloc(&j);
		job_make(&j, &shapes[i], 100, 5, base + i);
		job_sort(&j);
		b = calloc(j.waits, sizeof(*b));
		n = jetwatt_batch_segment(j.sync, j.waits, b, &info);
		ASSERT_GT(n, 0);
		s = score(&j, b, n);
		printf("# %-24s F1 %.4f  true %zu found %d  k %.0f  confidence %.2f\n",
		       shapes[i].name, f1(&s), j.truths, n, info.period_syncs, info.confidence);
		sum.hit += s.hit;
		sum.found += s.found;
		sum.true_bounds += s.true_bounds;
		worst = fmin(worst, f1(&s));
		if (shapes[i].k == 1 && shapes[i].lost == 0 && shapes[i].eval_k <= 1)
			EXPECT_EQ((size_t)n, j.waits) TH_LOG("%s", shapes[i].name);
		EXPECT_EQ(info.period_syncs, shapes[i].k) TH_LOG("%s", shapes[i].name);
		/* The stretches leave nothing out and do not overlap. */
		EXPECT_EQ(b[0].start_ns, j.sync[0].enter_ns);
		for (int m = 1; m < n; m++)
			EXPECT_EQ(b[m].start_ns, b[m - 1].end_ns);
		free(b);
		job_free(&j);
	}
	printf("# all: F1 %.5f, worst shape %.4f\n", f1(&sum), worst);
	EXPECT_GE(f1(&sum), 0.995);
	EXPECT_GE(worst, 0.97);
}

TEST_HARNESS_MAIN
