// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatch boundaries of randomly drawn job shapes: F1 score over a matrix of shapes, and the
 * distance in time of the found boundaries from the true ones; also long jobs, lost waits, marks.
 * The environment variable SEED selects other random jobs; SHAPES sets the number of shapes of each
 * kind.
 */
#include "minibatch/minibatch.h"


#include "jobs.h"
#include "score.h"
#include "kselftest_harness.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

TEST(drawn_shapes_have_an_f1_of_0_995)
{
	uint64_t seed = number("SEED", 20260101), per_kind = number("SHAPES", 3);
	struct score all = { 0 };
	size_t below = 0, shapes = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %llu, %llu shapes\n", (unsigned long long)seed,
	       (unsigned long long)(per_kind * JOB_KINDS));
	for (int kind = 0; kind < JOB_KINDS; kind++) {
		struct score s = { 0 };
		const char *name = "";

		for (uint64_t i = 0; i < per_kind; i++) {
			struct score one = score_drawn(seed, kind, i, &name);

			below += score_f1(&one) < 0.97;
			shapes++;
			score_add(&s, &one);
			/* For an undisturbed job (kinds 0 and 1), the number of minibatches must be
			 * exact. */
			if (kind < 2)
				EXPECT_EQ(one.found, one.truths) TH_LOG("%s", name);
		}
		printf("# %-16s F1 %.4f  true %zu found %zu\n", name, score_f1(&s), s.truths, s.found);
		score_add(&all, &s);
	}
	printf("# all: F1 %.5f, %zu of %zu shapes below 0.97, bounds off by %.4f ms (median), phases right %.1f %%\n",
	       score_f1(&all), below, shapes, score_error_ms(&all), 100 * score_phases(&all));
	EXPECT_GE(score_f1(&all), 0.995);
	EXPECT_LE(score_error_ms(&all), 0.2);
	EXPECT_LE(below * 20, shapes);
	EXPECT_GE(score_phases(&all), 0.98);
}

/* The number of minibatches must be exact for a job that spans many windows of waits and changes
 * its clocks. */
TEST(no_minibatch_is_lost_in_a_long_job)
{
	static const struct job_shape h = { .k = 3, .minibatches = 9000, .switch_every = 700, .uneven = 2 };
	struct jetwatt_batch_bound *b;
	struct jetwatt_batch_info info;
	struct job j;
	int n;

	job_alloc(&j);
	job_make(&j, &h, 100, 5, number("SEED", 20260101));
	b = calloc(2 * j.waits, sizeof(*b));
	ASSERT_NE(b, NULL);
	n = jetwatt_batch_segment(j.sync, j.waits, b, &info);
	EXPECT_EQ(n, h.minibatches);
	EXPECT_EQ(b[0].flags, JETWATT_BATCH_FIRST);
	for (int i = 0; i < n; i++) {
		EXPECT_EQ(b[i].syncs, 3);
		EXPECT_EQ(b[i].kind, JETWATT_BATCH_TRAIN);
		EXPECT_EQ(b[i].start_ns, i ? b[i - 1].end_ns : j.sync[0].enter_ns);
	}
	free(b);
	job_free(&j);
}

/* The boundaries at lost waits are inferred and marked as inferred. */
TEST(lost_waits_are_inferred_and_marked)
{
	static const struct job_shape h = { .k = 1, .minibatches = 1000, .lost = 0.01,
					    .losses_reported = 1 };
	struct jetwatt_batch_bound *b;
	struct jetwatt_batch_info info;
	size_t inferred = 0;
	struct job j;
	int n;

	job_alloc(&j);
	job_make(&j, &h, 100, 5, number("SEED", 20260101));
	b = calloc(2 * j.waits, sizeof(*b));
	ASSERT_NE(b, NULL);
	n = jetwatt_batch_segment(j.sync, j.waits, b, &info);
	EXPECT_LE(abs(n - h.minibatches), 2);
	EXPECT_LE(llabs((long long)info.lost - (h.minibatches - (long long)j.waits)), 2);
	for (int i = 0; i < n; i++)
		inferred += !b[i].syncs;
	/* A minibatch whose wait was lost has no wait of its own: its bound must be marked as
	 * inferred. */
	for (int i = 0; i < n; i++)
		EXPECT_TRUE(b[i].syncs || b[i].flags & JETWATT_BATCH_INFERRED);
	EXPECT_GT(inferred, 0);
	free(b);
	job_free(&j);
}

/* Marks of evaluations never mark minibatches: neither if the first name is one of an evaluation and
 * is as frequent as that of the minibatches, nor if there is no other name. */
TEST(marks_of_evaluations_mark_no_minibatch)
{
	static const char name[JETWATT_MARKS_MAX][JETWATT_MARK_LEN] = { "eval", "train" };
	static const struct jetwatt_sync s[] = {
		{ .enter_ns = 20, .exit_ns = 100, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .ret = 0 },
		{ .enter_ns = 110, .exit_ns = 200, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .ret = 1 },
		{ .enter_ns = 210, .exit_ns = 300, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .ret = 0 },
		{ .enter_ns = 310, .exit_ns = 400, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .ret = 1 },
	};
	struct jetwatt_batch_bound b[4];

	ASSERT_EQ(4, jetwatt_batch_marked(s, 4, name, b));
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(i % 2 ? JETWATT_BATCH_TRAIN : JETWATT_BATCH_EVAL, b[i].kind);
	EXPECT_FALSE(b[0].flags & JETWATT_BATCH_FIRST);
	EXPECT_TRUE(b[1].flags & JETWATT_BATCH_FIRST);
	EXPECT_EQ(0, jetwatt_batch_marked(s, 1, name, b));
}

/* A run of a day may have half a million pairs of marks. If the time grew with the square of their number, it
 * would exceed the time limit of a test. */
TEST(many_pairs_of_marks)
{
	enum { PAIRS = 500000 };
	static const char name[JETWATT_MARKS_MAX][JETWATT_MARK_LEN] = { "train" };
	static struct jetwatt_sync s[2 * PAIRS];
	static struct jetwatt_batch_bound b[2 * PAIRS];

	for (uint64_t i = 0; i < PAIRS; i++) {
		s[2 * i] = (struct jetwatt_sync){ .enter_ns = 100 * i + 1, .exit_ns = 100 * i + 1, .tgid = 7,
						  .call = JETWATT_SYNC_MARK_BEGIN };
		s[2 * i + 1] = (struct jetwatt_sync){ .enter_ns = 100 * i + 1, .exit_ns = 100 * i + 90, .tgid = 7,
						      .call = JETWATT_SYNC_MARK };
	}
	EXPECT_EQ(PAIRS, jetwatt_batch_marked(s, 2 * PAIRS, name, b));
	EXPECT_EQ(100 * (PAIRS - 1) + 1, b[PAIRS - 1].start_ns);
}

TEST(waits_of_two_threads_in_one_minibatch)
{
	/* Two threads wait at the same time; only the first wait has a recorded launch time. */
	static const struct jetwatt_sync s[] = {
		{ .enter_ns = 100, .exit_ns = 200, .tgid = 7, .tid = 7, .launch_ns = 40, .cgroup = 5 },
		{ .enter_ns = 150, .exit_ns = 260, .tgid = 7, .tid = 8, .cgroup = 5 },
		{ .enter_ns = 20, .exit_ns = 300, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .cgroup = 5 },
		{ .enter_ns = 350, .exit_ns = 400, .tgid = 7, .tid = 7, .cgroup = 5 },
		{ .enter_ns = 310, .exit_ns = 410, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK, .cgroup = 5 },
	};
	struct jetwatt_batch_bound b[10];
	struct jetwatt_batch_info info;

	/* If the program writes minibatch marks, the marks are the boundaries. */
	ASSERT_EQ(jetwatt_batch_segment(s, 5, b, &info), 2);
	EXPECT_EQ(b[0].start_ns, 20);
	EXPECT_EQ(b[0].end_ns, 300);
	EXPECT_EQ(b[0].syncs, 2);
	EXPECT_EQ(b[0].wait_ns, 160);
	EXPECT_EQ(b[0].fetch_ns, 20);
	EXPECT_EQ(b[0].gpu_ns, 220);
	EXPECT_EQ(b[0].cgroup, 5);
	EXPECT_TRUE(b[0].flags & JETWATT_BATCH_LAUNCHED);
	EXPECT_EQ(b[1].fetch_ns, 40);
	EXPECT_EQ(b[1].gpu_ns, 50);
	EXPECT_EQ(b[1].flags, 0);
	EXPECT_EQ(info.confidence, 1);
}

TEST(minibatch_of_a_single_mark_begins_at_the_previous_mark)
{
	static const struct jetwatt_sync s[] = {
		{ .enter_ns = 100, .exit_ns = 200, .tgid = 7, .tid = 7 },
		{ .enter_ns = 210, .exit_ns = 210, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK },
		{ .enter_ns = 250, .exit_ns = 300, .tgid = 7, .tid = 7 },
		{ .enter_ns = 320, .exit_ns = 400, .tgid = 7, .tid = 7 },
		{ .enter_ns = 410, .exit_ns = 410, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_MARK },
	};
	struct jetwatt_batch_bound b[10];
	struct jetwatt_batch_info info;

	ASSERT_EQ(jetwatt_batch_segment(s, 5, b, &info), 2);
	EXPECT_EQ(b[0].start_ns, 100);
	EXPECT_EQ(b[0].end_ns, 210);
	EXPECT_EQ(b[0].syncs, 1);
	EXPECT_EQ(b[1].start_ns, 210);
	EXPECT_EQ(b[1].end_ns, 410);
	EXPECT_EQ(b[1].syncs, 2);
	EXPECT_EQ(b[1].wait_ns, 130);
	EXPECT_EQ(b[1].fetch_ns, 40);
}

TEST_HARNESS_MAIN
