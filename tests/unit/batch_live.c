// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatch boundaries found live, from the waits so far, compared with the boundaries found from
 * all waits of the job. The two may differ only where minibatch.h says so. The environment variable
 * SEED selects other random jobs; SHAPES sets the number of jobs per kind.
 */
#include "minibatch/minibatch.h"

#include "jobs.h"
#include "kselftest_harness.h"

/* LEAST and FEW are stated at struct jetwatt_batch_track. */
#define LEAST	24	/* number of waits before the first bound is reported */
#define FEW	96	/* number of waits before the period is certain */
#define NEAR	8	/* @near counts differences within this many waits of an event */

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

/*
 * struct outcome - comparison of live and batch results, summed over jobs
 * @labelled: number of waits that the live track has labelled
 * @early: number of waits near the start of the job for which the live result differed from the
 * batch result
 * @near: number of differences near an event that can be recognised only from later waits
 * @else_: number of differences counted neither in @early nor in @near
 * @hit, @live, @truth: among the waits counted in @labelled: number of true boundaries that were
 *	found live, number of all boundaries found live, number of all true boundaries
 */
struct outcome {
	size_t labelled, early, near, else_, hit, live, truth;
};

static double f1(const struct outcome *o)
{
	return 2.0 * o->hit / (o->live + o->truth);
}

/* Return whether a rule decides about a wait with the help of later waits, so that a live result
 * may differ. */
static int hindsight(int rule, int is_end)
{
	return rule == JETWATT_RULE_LAST ? !is_end : *jetwatt_batch_rule_live(rule) != '\0';
}

static int near(const struct jetwatt_batch_why *why, size_t n, size_t at)
{
	for (size_t i = at > NEAR ? at - NEAR : 0; i < n && i <= at + NEAR; i++)
		if (hindsight(why[i].rule, i + 1 == n))
			return 1;
	return 0;
}

/* Compare the live and the batch result for each wait of a job. Only the waits of process @tgid are
 * compared. */
static void compare(const struct job *j, uint32_t tgid, struct outcome *o)
{
	struct jetwatt_batch_bound *b = calloc(2 * j->waits, sizeof(*b));
	struct jetwatt_batch_why *why = calloc(j->waits, sizeof(*why));
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct jetwatt_batch_info info;
	size_t truth = 0;

	if (!b || !why || !t || jetwatt_batch_segment_why(j->sync, j->waits, b, &info, why) < 0)
		abort();
	for (size_t i = 0; i < j->waits; i++) {
		const struct jetwatt_sync *s = &j->sync[i];
		int whole = why[i].ends && why[i].end_ns == s->exit_ns;
		int live = jetwatt_batch_track_add(t, s, 0), is;

		jetwatt_batch_track_learn(t);
		while (truth < j->truths && j->truth[truth].end_ns < s->exit_ns)
			truth++;
		is = truth < j->truths && j->truth[truth].end_ns == s->exit_ns && !j->truth[truth].other;
		if (live < 0 || s->tgid != tgid)
			continue;
		o->labelled++;
		o->live += live;
		o->truth += is;
		o->hit += live && is;
		if (live == whole)
			continue;
		*(i < FEW ? &o->early : near(why, j->waits, i) ? &o->near : &o->else_) += 1;
	}
	jetwatt_batch_track_free(t);
	free(b);
	free(why);
}

/* Required F1 score of each kind of job. The value is below the score that the live track reaches,
 * and above the score of a track that only counts waits since its last fit: 0.38 to 0.86 where an
 * extra wait, a lost wait or a phase shift changes the count. */
static const struct {
	double f1;
	int exact;	/* live and batch results differ only near the start of the job */
} kinds[JOB_KINDS] = {
	{ 0.99, 1 }, { 0.99, 1 }, { 0.97, 0 }, { 0.99, 1 }, { 0.98, 0 }, { 0.98, 0 },
	{ 0.95, 0 }, { 0.55, 0 },
	{ 0.90, 0 }, { 0.90, 0 }, { 0.97, 0 }, { 0.95, 0 }, { 0.98, 0 }, { 0.99, 1 },
	{ 0.99, 1 }, { 0.80, 0 },
};

FIXTURE(many) {
};

FIXTURE_SETUP(many)
{
}

FIXTURE_TEARDOWN(many)
{
}

TEST_F_TIMEOUT(many, live_equals_batch_except_where_stated, 150)
{
	uint64_t seed = number("SEED", 20260101), per_kind = number("SHAPES", 12);
	struct outcome all = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int kind = 0; kind < JOB_KINDS; kind++) {
		struct outcome o = { 0 };
		const char *name = "";

		for (uint64_t i = 0; i < per_kind; i++) {
			uint64_t z = seed * 1000003 + (uint64_t)kind * 1009 + i;
			struct job_shape h = job_draw(&z, kind);
			struct job j;

			name = h.name;
			job_alloc(&j);
			job_make(&j, &h, 100, 5, z);
			job_sort(&j);
			compare(&j, 100, &o);
			job_free(&j);
		}
		printf("# %-16s %6zu waits, differ: %zu early, %zu by hindsight, %zu else; F1 %.4f\n", name,
		       o.labelled, o.early, o.near, o.else_, f1(&o));
		if (kinds[kind].exact)
			EXPECT_EQ(0, o.near + o.else_) TH_LOG("%s", name);
		EXPECT_LE(kinds[kind].f1, f1(&o)) TH_LOG("%s", name);
		EXPECT_LE(o.early, per_kind * FEW / 3) TH_LOG("%s", name);
		all.labelled += o.labelled;
		all.else_ += o.else_;
	}
	printf("# all: %zu of %zu differ where it is not stated\n", all.else_, all.labelled);
	/* 0.5 %, as minibatch.h states. */
	EXPECT_LE(all.else_ * 200, all.labelled);
}

/* The live track reports no bound before it has seen its minimum number of waits, LEAST. */
TEST(first_bound_comes_after_the_minimum_of_waits)
{
	for (int k = 1; k <= 6; k++) {
		struct job_shape h = { .k = k, .minibatches = 100 };
		struct jetwatt_batch_track *t = jetwatt_batch_track_new();
		size_t first = 0;
		struct job j;

		job_alloc(&j);
		job_make(&j, &h, 100, 5, 7);
		for (size_t i = 0; i < j.waits; i++) {
			if (jetwatt_batch_track_add(t, &j.sync[i], 0) >= 0 && !first)
				first = i;
			jetwatt_batch_track_learn(t);
		}
		EXPECT_EQ(LEAST, first);
		EXPECT_EQ(k, jetwatt_batch_track_period(t));
		jetwatt_batch_track_free(t);
		job_free(&j);
	}
}

/* Of two processes, the live track follows the one with more waits, even if the other process ended
 * its last minibatch later. */
TEST(process_with_more_waits_is_followed)
{
	static const struct job_shape busy = { .k = 3, .cycle_ms = 60, .minibatches = 400, .log_every = 20 },
				      slow = { .k = 1, .cycle_ms = 95, .minibatches = 250 };
	struct outcome o = { 0 };
	struct job j;

	job_alloc(&j);
	job_make(&j, &busy, 100, 5, 3);
	job_make(&j, &slow, 200, 9, 4);
	job_sort(&j);
	compare(&j, 100, &o);
	printf("# %zu waits, differ: %zu early, %zu by hindsight, %zu else\n", o.labelled, o.early, o.near, o.else_);
	EXPECT_LT(1000, o.labelled);
	EXPECT_LE(o.near, 2 * 400 / 20);
	/* Before an extra wait, the track reports the bound one wait too early. The track must not
	 * report the bound a second time. */
	EXPECT_LE(llabs((long long)o.live - (long long)o.truth), 4);
	EXPECT_EQ(0, o.else_);
	job_free(&j);
}

/* One thread waits in a fixed rhythm, a second thread at random times. The waits of the second
 * thread end no minibatch. */
TEST(unsynchronised_thread_is_ignored)
{
	static const struct job_shape h = { .k = 2, .minibatches = 300 };
	struct outcome o = { 0 };
	uint64_t z = 5;
	struct job j;

	job_alloc(&j);
	job_make(&j, &h, 100, 5, 7);
	for (double now = 20; now < 23000; now += 40 + 300 * job_uniform(&z))
		j.sync[j.waits++] = (struct jetwatt_sync){ .enter_ns = (uint64_t)(now * 1e6),
			.exit_ns = (uint64_t)((now + 3) * 1e6), .tgid = 100, .tid = 177 };
	job_sort(&j);
	compare(&j, 100, &o);
	printf("# differ: %zu early, %zu by hindsight, %zu else; F1 %.4f\n", o.early, o.near, o.else_, f1(&o));
	EXPECT_LE(0.95, f1(&o));
	job_free(&j);
}

/* After the number of waits in a minibatch has changed, the track finds the new number. */
TEST(new_minibatch_shape_is_found)
{
	static const struct job_shape first = { .k = 2, .minibatches = 200 }, then = { .k = 5, .minibatches = 400 };
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	size_t at = 0, wrong = 0;
	struct job j;

	job_alloc(&j);
	job_make(&j, &first, 100, 5, 7);
	job_make(&j, &then, 100, (double)j.sync[j.waits - 1].exit_ns * 1e-6 + 10, 8);
	for (size_t i = 0; i < j.waits; i++) {
		int live = jetwatt_batch_track_add(t, &j.sync[i], 0);

		/* After the change, do not check the first 256 waits, the size of the track's
		 * window, and 64 more until the next fit. */
		if (i >= 400 + 256 + 64) {
			at++;
			wrong += live != (i % 5 == 4);
		}
		jetwatt_batch_track_learn(t);
	}
	printf("# %zu of %zu wrong\n", wrong, at);
	EXPECT_LT(1000, at);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(5, jetwatt_batch_track_period(t));
	jetwatt_batch_track_free(t);
	job_free(&j);
}

TEST_HARNESS_MAIN
