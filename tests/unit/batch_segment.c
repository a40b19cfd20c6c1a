// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch boundaries found from the waits of a whole job, for a matrix of job shapes and for edge
 * cases. The environment variable SEED selects other random jobs. */
#include "minibatch/minibatch.h"

#include <errno.h>
#include <time.h>

#include "jobs.h"
#include "kselftest_harness.h"

/* Job shapes of the matrix. Members that are not set get their values from job_usual(). */
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
	double error_ms;	/* largest distance of a hit from a boundary that was not lost */
};

/* A found boundary counts as a hit if it is within 0.2 ms of the true boundary. If the event of the
 * true boundary was lost, the limit is 90 % of the length of the minibatch, or 1 s for the first
 * minibatch. */
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

TEST(bounds_of_every_job_shape)
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
		b = calloc(2 * j.waits, sizeof(*b));
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
		/* The minibatches cover the run without gaps and do not overlap. */
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

/* Three jobs run at once, each with its own period, and their waits are mixed in one stream. */
TEST(three_jobs_are_separated)
{
	static const struct job_shape a = { .k = 3, .minibatches = 150 };
	static const struct job_shape b = { .k = 1, .cycle_ms = 33, .minibatches = 400 };
	static const struct job_shape c = { .k = 2, .cycle_ms = 61, .minibatches = 200, .switch_every = 40 };
	struct jetwatt_batch_bound *out;
	struct jetwatt_batch_info info;
	struct score s;
	struct job j;
	int n;

	job_alloc(&j);
	job_make(&j, &a, 100, 5, seed());
	job_make(&j, &b, 200, 11, seed() + 1);
	job_make(&j, &c, 50, 300, seed() + 2);
	job_sort(&j);
	out = calloc(2 * j.waits, sizeof(*out));
	n = jetwatt_batch_segment(j.sync, j.waits, out, &info);
	s = score(&j, out, n);
	printf("# three jobs: F1 %.4f\n", f1(&s));
	EXPECT_GE(f1(&s), 0.995);
	for (int i = 1; i < n; i++)
		EXPECT_GE(out[i].end_ns, out[i - 1].end_ns);
	free(out);
	job_free(&j);
}

TEST(unsynchronised_thread_is_ignored)
{
	static const struct job_shape main_thread = { .k = 2, .minibatches = 200 };
	struct jetwatt_batch_bound *out;
	struct jetwatt_batch_info info;
	uint64_t z = seed();
	struct score s;
	struct job j;
	size_t own;
	int n;

	job_alloc(&j);
	job_make(&j, &main_thread, 100, 5, seed());
	own = j.waits;
	for (double now = 20; now < 15000; now += 40 + 300 * job_uniform(&z)) {
		j.sync[j.waits++] = (struct jetwatt_sync){
			.enter_ns = (uint64_t)(now * 1e6), .exit_ns = (uint64_t)((now + 3) * 1e6),
			.tgid = 100, .tid = 177,
		};
	}
	ASSERT_GT(j.waits, own);
	job_sort(&j);
	out = calloc(2 * j.waits, sizeof(*out));
	n = jetwatt_batch_segment(j.sync, j.waits, out, &info);
	s = score(&j, out, n);
	EXPECT_EQ(info.period_syncs, 2);
	EXPECT_GE(f1(&s), 0.995) TH_LOG("F1 %.4f", f1(&s));
	free(out);
	job_free(&j);
}

/* struct sharer - a job that shares a GPU, which executes the work of its jobs alternately */
struct sharer {
	int k, at;		/* waits per minibatch, current wait; the loader precedes wait 0 */
	double load, work, left, launched;	/* ms */
	int waiting, minibatches;
};

static void share_begin(struct sharer *s, double now, uint64_t *z)
{
	if (s->waiting) {
		s->launched = now;
		s->left = s->work / s->k * (1 + 0.01 * job_normal(z));
	} else {
		s->left = (s->at ? 0.05 : s->load) * (1 + 0.02 * job_normal(z)) + 0.1 * job_uniform(z);
	}
}

static void share(struct job *j, struct sharer *s, int minibatches, uint64_t *z)
{
	double now = 5;

	for (int i = 0; i < 2; i++)
		share_begin(&s[i], now, z);
	while (s[0].minibatches < minibatches && s[1].minibatches < minibatches) {
		double rate = s[0].waiting && s[1].waiting ? 0.5 : 1;
		double in[2] = { s[0].left / (s[0].waiting ? rate : 1), s[1].left / (s[1].waiting ? rate : 1) };
		int next = in[1] < in[0];
		struct sharer *o = &s[!next], *d = &s[next];

		now += in[next];
		o->left -= in[next] * (o->waiting ? rate : 1);
		if (d->waiting) {
			j->sync[j->waits++] = (struct jetwatt_sync){
				.enter_ns = (uint64_t)(d->launched * 1e6), .exit_ns = (uint64_t)(now * 1e6),
				.tgid = 100 + (uint32_t)next, .tid = 100 + (uint32_t)next,
			};
			d->at = (d->at + 1) % d->k;
			if (!d->at) {
				j->truth[j->truths++] = (struct job_truth){ (uint64_t)(now * 1e6),
									   100 + (uint32_t)next, 0, 0, 0 };
				d->minibatches++;
			}
		}
		d->waiting = !d->waiting;
		share_begin(d, now, z);
	}
}

/* The delays that two jobs on one GPU cause each other must neither look like a period nor hide
 * one. */
TEST(interference_of_two_jobs_is_not_a_period)
{
	struct score sum = { 0 };
	uint64_t z = seed() + 6;
	int bad = 0;

	for (int r = 0; r < 100; r++) {
		struct sharer s[2];
		struct jetwatt_batch_bound *out;
		struct jetwatt_batch_info info;
		struct score one;
		struct job j;
		int n;

		for (int i = 0; i < 2; i++) {
			double cycle = 30 * exp(log(5) * job_uniform(&z)), load = 0.15 + 0.3 * job_uniform(&z);

			s[i] = (struct sharer){ .k = 1 + (int)(6 * job_uniform(&z)), .load = load * cycle,
						.work = (1 - load) * cycle };
		}
		job_alloc(&j);
		share(&j, s, 70, &z);
		out = calloc(2 * j.waits, sizeof(*out));
		n = jetwatt_batch_segment(j.sync, j.waits, out, &info);
		one = score(&j, out, n);
		if (f1(&one) < 0.98) {
			printf("# k%d %.0f + %.0f ms, k%d %.0f + %.0f ms: F1 %.4f\n", s[0].k, s[0].load,
			       s[0].work, s[1].k, s[1].load, s[1].work, f1(&one));
			bad++;
		}
		sum.hit += one.hit;
		sum.found += one.found;
		sum.true_bounds += one.true_bounds;
		free(out);
		job_free(&j);
	}
	printf("# 100 pairs: F1 %.4f, %d below 0.98\n", f1(&sum), bad);
	EXPECT_GE(f1(&sum), 0.998);
	EXPECT_LE(bad, 1);
}

/* Segment a job again after each new wait. From the fifth minibatch on, the period is right, and
 * the number of minibatches differs from the true one by at most 1, in at least 99 % of these
 * segmentations. If the job has one wait per minibatch, every wait, from the first one on, must be
 * recognised as a minibatch. */
TEST(growing_job_has_right_bounds_except_at_the_end)
{
	size_t wrong_k = 0, looks = 0;

	for (int k = 1; k <= 6; k++) {
		for (int noisy = 0; noisy < 2; noisy++) {
			struct job_shape h = { .k = k, .minibatches = 40, .noise = noisy ? 0.05 : 0.02,
					       .stall = noisy ? 0.05 : 0, .stall_by = 2 };
			struct jetwatt_batch_bound *out;
			struct jetwatt_batch_info info;
			struct job j;

			job_alloc(&j);
			job_make(&j, &h, 100, 5, seed() + (uint64_t)k);
			out = calloc(2 * j.waits, sizeof(*out));
			for (size_t n = 1; n <= j.waits; n++) {
				int got = jetwatt_batch_segment(j.sync, n, out, &info);

				ASSERT_GE(got, 0);
				if (k == 1)
					EXPECT_EQ((size_t)got, n);
				if (n < 5 * (size_t)k)
					continue;
				looks++;
				wrong_k += info.period_syncs != k || (size_t)got + 1 < n / (size_t)k ||
					   (size_t)got > n / (size_t)k + 1;
			}
			free(out);
			job_free(&j);
		}
	}
	printf("# %zu looks, %zu wrong\n", looks, wrong_k);
	EXPECT_LE(wrong_k * 100, looks);
}

/* An irregular data loader must not make several waits look like one minibatch if the job has one
 * wait per minibatch: the number of minibatches is wrong for at most 2 % of the jobs. */
TEST(loader_noise_is_not_a_period)
{
	size_t wrong = 0, looks = 0;

	for (uint64_t r = 0; r < 400; r++) {
		struct job_shape h = { .k = 1, .load = 0.3, .noise = 0.02 + 0.002 * (double)(r % 150),
				       .stall = 0.05 * (double)(r % 9), .stall_by = 0.5,
				       .minibatches = 8 + (int)(r % 40) * 5 };
		struct jetwatt_batch_bound *out;
		struct jetwatt_batch_info info;
		struct job j;

		job_alloc(&j);
		job_make(&j, &h, 100, 5, seed() + r);
		out = calloc(2 * j.waits, sizeof(*out));
		wrong += jetwatt_batch_segment(j.sync, j.waits, out, &info) != h.minibatches;
		looks++;
		free(out);
		job_free(&j);
	}
	printf("# %zu noisy jobs, %zu wrong\n", looks, wrong);
	EXPECT_LE(wrong * 100, looks * 2);
}

/* Return the random shape of a job with @k waits per minibatch whose waits are delayed periodically
 * by another process. */
static struct job_shape disturbed(uint64_t *z, int k)
{
	static const double every[] = { 2, 3, 7, 2.3, 1.5, 4 };
	struct job_shape h = {
		.k = k,
		.cycle_ms = 2 * exp(log(1500) * job_uniform(z)),
		.load = (k > 1 ? 0.08 : 0.03) + 0.12 * job_uniform(z),
		.noise = 0.01 + 0.04 * job_uniform(z),
		.beat = every[job_random(z) % 6],
		.beat_by = 0.1 * sqrt(job_uniform(z)),
		.drift = 0.02 + 0.08 * job_uniform(z),
		.hidden = job_uniform(z) < 0.5,
		.bunch = job_uniform(z) < 0.5 ? 0 : 0.05 * job_uniform(z),
		.switch_every = job_uniform(z) < 0.5 ? 0 : 20 + (int)(300 * job_uniform(z)),
		.minibatches = (int)(100 * exp(log(300.0 / k) * job_uniform(z))),
	};

	return h;
}

/* Log a job whose minibatches were found wrongly. */
static void describe(const struct job_shape *h, size_t waits, int got, int k)
{
	printf("# k%d %.1f ms load %.3f beat %.2f by %.3f drift %.3f hidden %d bunch %.3f noise %.3f switch %d: %zu waits, %d minibatches, %d found, k %d\n",
	       h->k, h->cycle_ms, h->load, h->beat, h->beat_by, h->drift, h->hidden, h->bunch,
	       h->noise, h->switch_every, waits, h->minibatches, got, k);
}

/* The tests of this fixture segment 100 jobs each, which on a busy host takes long. */
FIXTURE(many) {
};

FIXTURE_SETUP(many)
{
}

FIXTURE_TEARDOWN(many)
{
}

#define MANY_S	150

/* Periodic delays of a job's waits, or waits that end together, must not look like a period of the
 * job: every wait is a minibatch, whatever the length of the job so far. */
TEST_F_TIMEOUT(many, beats_are_no_rhythm, MANY_S)
{
	size_t wrong = 0, jobs = 0, looks = 0;
	uint64_t z = seed() + 77;

	for (int r = 0; r < 100; r++) {
		struct job_shape h = disturbed(&z, 1);
		struct jetwatt_batch_bound *out;
		struct jetwatt_batch_info info;
		struct job j;
		int got;

		job_alloc(&j);
		job_make(&j, &h, 100, 5, seed() + (uint64_t)r);
		out = calloc(2 * j.waits, sizeof(*out));
		/* Segment longer and longer prefixes of the job: each is about one and a half times
		 * as long as the one before. */
		for (size_t n = 2; n <= j.waits; n = n == j.waits ? n + 1 : n + 1 + n / 2) {
			n = n + n / 4 + 1 >= j.waits ? j.waits : n;
			got = jetwatt_batch_segment(j.sync, n, out, &info);
			looks++;
			if ((size_t)got == n)
				continue;
			describe(&h, n, got, (int)info.period_syncs);
			wrong++;
			break;
		}
		jobs++;
		free(out);
		job_free(&j);
	}
	printf("# %zu jobs, %zu looks, %zu jobs wrong\n", jobs, looks, wrong);
	EXPECT_EQ(wrong, 0);
}

/* Periodic delays of waits must not hide the true period of a job. In a few jobs the period may
 * stay hidden: a delay of a tenth of a minibatch may be longer than the loader's gap. */
TEST_F_TIMEOUT(many, beats_hide_no_rhythm, MANY_S)
{
	size_t wrong = 0, jobs = 0;
	uint64_t z = seed() + 78;

	for (int r = 0; r < 100; r++) {
		struct job_shape h = disturbed(&z, 2 + r % 5);
		struct jetwatt_batch_bound *out;
		struct jetwatt_batch_info info;
		struct job j;
		int got;

		job_alloc(&j);
		job_make(&j, &h, 100, 5, seed() + (uint64_t)r);
		out = calloc(2 * j.waits, sizeof(*out));
		got = jetwatt_batch_segment(j.sync, j.waits, out, &info);
		jobs++;
		if (abs(got - h.minibatches) > 1 + h.minibatches / 200) {
			describe(&h, j.waits, got, (int)info.period_syncs);
			wrong++;
		}
		free(out);
		job_free(&j);
	}
	printf("# %zu jobs, %zu wrong\n", jobs, wrong);
	EXPECT_LE(wrong * 20, jobs);
}

TEST(one_to_three_waits_have_no_period)
{
	struct jetwatt_sync s[3] = {
		{ .enter_ns = 10, .exit_ns = 20, .tgid = 1, .tid = 1 },
		{ .enter_ns = 25, .exit_ns = 30, .tgid = 1, .tid = 1 },
		{ .enter_ns = 30, .exit_ns = 30, .tgid = 1, .tid = 1 },
	};
	struct jetwatt_batch_bound b[3];
	struct jetwatt_batch_info info;

	EXPECT_EQ(jetwatt_batch_segment(s, 0, b, &info), -ENODATA);
	ASSERT_EQ(jetwatt_batch_segment(s, 1, b, &info), 1);
	EXPECT_EQ(b[0].start_ns, 10);
	EXPECT_EQ(b[0].end_ns, 20);
	EXPECT_EQ(b[0].wait_ns, 10);
	EXPECT_LT(info.confidence, 0.2);
	ASSERT_EQ(jetwatt_batch_segment(s, 3, b, &info), 3);
	EXPECT_EQ(b[1].start_ns, 20);
	EXPECT_EQ(b[2].start_ns, 30);
	s[1].exit_ns = 19;
	EXPECT_EQ(jetwatt_batch_segment(s, 3, b, &info), -EINVAL);
	s[1].exit_ns = 30;
	s[1].enter_ns = 31;
	EXPECT_EQ(jetwatt_batch_segment(s, 3, b, &info), -EINVAL);
	/* Even if all times are equal, each of the three waits ends a minibatch. */
	memset(s, 0, sizeof(s));
	EXPECT_EQ(jetwatt_batch_segment(s, 3, b, &info), 3);
}

/* Segmentation is repeated while a job grows, so its run time must be proportional to the number of
 * waits. */
TEST(time_is_linear_in_waits)
{
	struct job_shape h = { .k = 6, .minibatches = 6000, .threads = 1 };
	struct jetwatt_batch_bound *out;
	struct jetwatt_batch_info info;
	struct timespec a, b;
	struct job j;
	double s;

	job_alloc(&j);
	job_make(&j, &h, 100, 5, seed());
	out = calloc(2 * j.waits, sizeof(*out));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	EXPECT_EQ(jetwatt_batch_segment(j.sync, j.waits, out, &info), 6000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
	printf("# %zu waits in %.0f ms\n", j.waits, s * 1e3);
	EXPECT_LT(s, 3);	/* limit with sanitizers; a quadratic algorithm needs minutes */
	free(out);
	job_free(&j);
}

TEST_HARNESS_MAIN
