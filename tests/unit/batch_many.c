// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatches of many waits that are found by the lengths of waits (user/minibatch/long_wait.c), with and
 * without traced launches; jobs that look similar but have short minibatches; and jobs in which the waits may
 * be parts of minibatches (doubt.c). PRINT=1 prints what was found; SEED selects other random times.
 */
#include "minibatch/minibatch.h"

#include "ends.h"
#include "jobs.h"
#include "kselftest_harness.h"

#define ENDS	20000

static struct job j;
static uint64_t end[ENDS], z;
static size_t ends;
static double now;	/* ms */
static bool launches;

static double vary(double ms)
{
	return ms * (1 + 0.03 * job_normal(&z)) + 0.003 * fabs(job_normal(&z));
}

static double between(double low, double high)
{
	return low + (high - low) * job_uniform(&z);
}

/* The program is idle, launches @n kernels for @launch_ms, and waits for them. */
static void wait_for(double idle_ms, double launch_ms, double wait_ms, uint32_t n)
{
	struct jetwatt_sync *s = &j.sync[j.waits++];

	*s = (struct jetwatt_sync){ .tgid = 7, .tid = 7, .call = JETWATT_SYNC_STREAM, .launches = launches ? n : 0 };
	now += vary(idle_ms);
	s->launch_ns = s->launches ? (uint64_t)(now * 1e6) : 0;
	now += vary(launch_ms);
	s->enter_ns = (uint64_t)(now * 1e6);
	now += vary(wait_ms);
	s->exit_ns = (uint64_t)(now * 1e6);
}

static void ended(void)
{
	end[ends++] = (uint64_t)(now * 1e6);
}

/* A minibatch of @ms: the wait for most of the work, and @k - 1 others. */
static void minibatch(double ms, int k)
{
	wait_for(ms * 0.15, 0.01, ms * 0.5, 300);
	for (int i = 1; i < k; i++)
		wait_for(ms * 0.1 / k, ms * 0.05 / k, ms * 0.2 / k, 3 + i % 3);
	ended();
}

static void many(int k, double ms, int minibatches)
{
	for (int i = 0; i < minibatches; i++)
		minibatch(ms, k);
}

static void many_12(void)
{
	many(12, 100, 300);
}

static void many_20(void)
{
	many(20, 100, 300);
}

static void many_161(void)
{
	many(161, 300, 200);
}

static void many_varying(void)
{
	for (int i = 0; i < 300; i++)
		minibatch(80, 13 + (int)between(0, 6));
}

/* The power mode changes. */
static void many_slower(void)
{
	many(20, 50, 150);
	many(20, 125, 150);
}

/* The first minibatch is long. After every 80th minibatch, the parameters are copied. */
static void many_saved(void)
{
	wait_for(100, 50, 9000, 300);
	for (int i = 0; i < 300; i++) {
		minibatch(100, 16);
		for (int w = 0; i % 80 == 40 && w < 161; w++)
			wait_for(0.02, 0.005, between(0.05, 0.5), 0);
	}
}

static void many_stalled(void)
{
	for (int i = 0; i < 300; i++) {
		now += job_uniform(&z) < 0.04 ? between(50, 300) : 0;
		minibatch(100, 20);
	}
}

/* A server of a language model: a prompt, then @tokens tokens. */
static void serve(double prompt_ms, double token_ms, int tokens, int more, double pause_ms)
{
	while (ends < 3000) {
		now += pause_ms > 0 ? between(0, 2 * pause_ms) : 0;
		wait_for(token_ms * 0.05, token_ms * 0.1, prompt_ms, 400);
		ended();
		for (int i = 0, n = tokens + (int)between(0, more); i < n; i++) {
			wait_for(token_ms * 0.05, token_ms * 0.1, token_ms * 0.85, 380);
			ended();
		}
	}
}

static void tokens_random(void)
{
	serve(400, 25, 10, 120, 50);
}

static void tokens_fixed(void)
{
	serve(400, 25, 64, 0, 0);
}

static void tokens_few(void)
{
	serve(2000, 50, 16, 0, 0);
}

static void tokens_fast(void)
{
	serve(30, 2, 10, 60, 0);
}

/* Every @every th minibatch is logged: further waits, and a file is written. */
static void logged(double ms, int every, double write_ms)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(i % every ? ms * 0.1 : ms * 0.1 + write_ms, ms * 0.1, ms * 0.8, 200);
		ended();
	}
}

static void logged_10(void)
{
	logged(50, 10, 20);
}

static void logged_50(void)
{
	logged(4, 50, 20);
}

static void logged_short(void)
{
	logged(0.5, 10, 4);
}

static void stalls(void)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(job_uniform(&z) < 0.08 ? between(5, 60) : 0.3, 0.2, 2, 200);
		ended();
	}
}

/* The processes of the data loader deliver a minibatch each, then the program waits for them. */
static void pauses(void)
{
	for (int i = 0; i < 3000; i++) {
		wait_for(i % 16 ? 0.05 : 10, 0.05, 0.4, 20);
		ended();
	}
}

static void accumulation(void)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(0.2, 0.2, i % 16 == 15 ? 7 : 2.2, i % 16 == 15 ? 480 : 300);
		ended();
	}
}

static void evaluation(void)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(0.05, 0.05, 0.8, 100);
		ended();
		for (int e = 0; i % 50 == 49 && e < 10; e++) {
			wait_for(0.1, 0.1, 9, 60);
			ended();
		}
	}
}

/* The evaluation is a single minibatch. */
static void evaluation_whole(void)
{
	for (int i = 0; i < 3000; i++) {
		wait_for(0.05, 0.05, i % 51 == 50 ? 25 : 0.8, i % 51 == 50 ? 60 : 100);
		ended();
	}
}

static void epochs(void)
{
	for (int i = 0; i < 3000; i++) {
		wait_for(i % 60 ? 0.1 : 80, 0.1, 1.2, 100);
		ended();
	}
}

static void alike(void)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(1, 1, 8, 200);
		ended();
	}
}

/* Minibatches of very different lengths. */
static void sentences(void)
{
	for (int i = 0; i < 2000; i++) {
		wait_for(0.3, 0.3, 0.5 * exp(log(30) * job_uniform(&z)), 200);
		ended();
	}
}

static void camera(void)
{
	for (int i = 0; i < 400; i++) {
		double begin = now;

		wait_for(1, 0.7, 1.6, 1);
		wait_for(0.3, 3, 10, 90);
		for (int w = 0, n = 1 + (int)between(0, 3); w < n; w++)
			wait_for(0.3, 0.2, 0.7, 5);
		ended();
		now = fmax(now, begin + 33);
	}
}

/* The waits between the long ones are too long to be parts for certain. */
static void many_slow(void)
{
	many(12, 600, 200);
}

/* A GAN: every fourth and sixteenth minibatch has one more wait. */
static void regularised(void)
{
	for (int i = 0; i < 400; i++) {
		wait_for(4, 4, 24, 200);
		if (i % 4 == 0)
			wait_for(0.8, 4, 24, 260);
		wait_for(0.8, 4, 32, 240);
		if (i % 16 == 0)
			wait_for(0.8, 4, 28, 300);
		ended();
	}
}

/* Two threads with loops of their own; the minibatches of the first one, which are more, count. */
static void threads(void)
{
	double until, ms = 0;

	for (int i = 0; i < 500; i++) {
		wait_for(4, 4, 32, 100);
		ended();
	}
	until = now;
	for (now = 12; now < until; now += ms) {
		ms = 0;
		wait_for(19, 9.5, 66, 150);
		j.sync[j.waits - 1].tid = 8;
	}
	job_sort(&j);
}

struct made {
	const char *name;
	void (*make)(void);
};

/* @live: number of ends that were found while the job ran, in the second half of its time, as fraction of the true
 * number. Where the long wait is the first one of a minibatch, they are late. */
struct result {
	double f1, live, confidence;
};

static double find_live(void)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	size_t found = 0, all = 0;

	if (!t)
		abort();
	for (size_t i = 0; i < j.waits; i++) {
		found += jetwatt_batch_track_add(t, &j.sync[i], 0) == 1 && 2 * j.sync[i].exit_ns > end[ends - 1];
		jetwatt_batch_track_learn(t);
	}
	for (size_t i = 0; i < ends; i++)
		all += 2 * end[i] > end[ends - 1];
	jetwatt_batch_track_free(t);
	return (double)found / (double)all;
}

static struct result find(const struct made *m, bool traced)
{
	struct jetwatt_batch_bound *b = calloc(2 * JOB_WAITS_MAX, sizeof(*b));
	struct jetwatt_batch_info info;
	struct result r;
	struct ends e;
	int n, train = 0;
	double ms = 0;

	job_alloc(&j);
	ends = 0;
	now = 0;
	z = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 20261128;
	launches = traced;
	m->make();
	e = (struct ends){ j.sync, j.waits, end, ends };
	n = jetwatt_batch_segment(j.sync, j.waits, b, &info);
	r = (struct result){ ends_whole(&e, .25), find_live(), info.confidence };
	for (int i = 0; i < n; i++)
		if (b[i].kind == JETWATT_BATCH_TRAIN) {
			ms += (double)(b[i].end_ns - b[i].start_ns) / 1e6;
			train++;
		}
	if (getenv("PRINT"))
		fprintf(stderr, "# %-18s L%d true %5zu %8.2f ms  found %5d %8.2f ms  period %3.0f confidence %.2f  F1 %.3f live %.3f\n",
		       m->name, traced, ends, now / (double)ends, train, ms / train, info.period_syncs,
		       info.confidence, r.f1, r.live);
	free(b);
	job_free(&j);
	return r;
}

TEST(minibatches_of_many_waits_are_found)
{
	static const struct made jobs[] = {
		{ "12 waits", many_12 }, { "20 waits", many_20 }, { "161 waits", many_161 },
		{ "13 to 18 waits", many_varying }, { "slower", many_slower },
		{ "checkpoints", many_saved }, { "stalls", many_stalled },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		for (int traced = 0; traced < 2; traced++) {
			struct result r = find(&jobs[i], traced);

			EXPECT_LE(0.97, r.f1) TH_LOG("%s %d: F1 %.3f", jobs[i].name, traced, r.f1);
			EXPECT_GE(0.04, fabs(r.live - 1)) TH_LOG("%s %d: live %.3f", jobs[i].name, traced, r.live);
			EXPECT_LE(0.9, r.confidence) TH_LOG("%s %d: %.2f", jobs[i].name, traced, r.confidence);
		}
}

TEST(short_minibatches_are_not_joined)
{
	static const struct made jobs[] = {
		{ "tokens", tokens_random }, { "64 tokens", tokens_fixed },
		{ "16 tokens", tokens_few }, { "tokens of 2 ms", tokens_fast },
		{ "log, 10th", logged_10 }, { "log, 50th", logged_50 },
		{ "log, 0.5 ms", logged_short }, { "stalls", stalls },
		{ "pauses", pauses }, { "accumulation", accumulation },
		{ "evaluation", evaluation }, { "short evaluation", evaluation_whole },
		{ "epochs", epochs }, { "alike", alike }, { "sentences", sentences },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		for (int traced = 0; traced < 2; traced++) {
			struct result r = find(&jobs[i], traced);

			EXPECT_LE(0.97, r.f1) TH_LOG("%s %d: F1 %.3f", jobs[i].name, traced, r.f1);
			EXPECT_GE(0.04, fabs(r.live - 1)) TH_LOG("%s %d: live %.3f", jobs[i].name, traced, r.live);
			EXPECT_LE(0.9, r.confidence) TH_LOG("%s %d: %.2f", jobs[i].name, traced, r.confidence);
		}
}

TEST(parts_of_minibatches_have_a_low_confidence)
{
	static const struct made jobs[] = {
		{ "camera", camera }, { "slow waits", many_slow }, { "GAN", regularised },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct result r = find(&jobs[i], false);

		EXPECT_GE(0.5, r.confidence) TH_LOG("%s: %.2f", jobs[i].name, r.confidence);
	}
}

TEST(launches_show_the_minibatches)
{
	static const struct made jobs[] = { { "camera", camera }, { "GAN", regularised },
					    { "threads", threads } };

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct result r = find(&jobs[i], true);

		EXPECT_LE(0.97, r.f1) TH_LOG("%s: F1 %.3f", jobs[i].name, r.f1);
	}
}

TEST_HARNESS_MAIN
