// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch boundaries found live in jobs that are frozen at a minibatch boundary for up to half a
 * minute; also in jobs with a long start-up, many waits per minibatch, or marks. */
#include "minibatch/minibatch.h"

#include "jobs.h"
#include "kselftest_harness.h"

/*
 * struct outcome - bounds that the live track reports for a job
 * @after: number of scored minibatches; the first ones, during which the period is learned, are not
 * scored
 * @hit: number of reported bounds that are true, without the first minibatches
 * @reported: number of reported bounds, without the first minibatches
 * @first: number of true bounds before the track first reported whether a wait is a bound
 * @ns: reported median length of a minibatch, in nanoseconds
 */
struct outcome {
	size_t after, hit, reported, first;
	uint64_t ns;
};

#define LEARN	40	/* number of minibatches at the start that are not scored */

/* Pass the waits of a job to the live track, and freeze the job after every reported bound of the
 * first LEARN minibatches, then after every @turn-th one. */
static struct outcome follow(const struct job_shape *h, int turn, uint64_t seed)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct outcome o = { 0 };
	uint64_t held = 0;
	size_t truth = 0;
	struct job j;

	job_alloc(&j);
	job_make(&j, h, 100, 5, seed);
	for (size_t i = 0; i < j.waits; i++) {
		struct jetwatt_sync s = j.sync[i];
		int bound, is;

		while (truth < j.truths && j.truth[truth].end_ns < s.exit_ns)
			truth++;
		is = truth < j.truths && j.truth[truth].end_ns == s.exit_ns;
		s.enter_ns += held;
		s.exit_ns += held;
		bound = jetwatt_batch_track_add(t, &s, held);
		if (bound >= 0 && !o.first)
			o.first = truth;
		if (truth >= LEARN) {
			o.after += is;
			o.reported += bound == 1;
			o.hit += bound == 1 && is;
		}
		if (bound == 1 && o.reported % turn == 0)
			held += 1000000 + job_random(&seed) % 30000000000ull;
		if (bound)
			jetwatt_batch_track_learn(t);
	}
	o.ns = jetwatt_batch_track_ns(t);
	jetwatt_batch_track_free(t);
	job_free(&j);
	return o;
}

static double f1(const struct outcome *o)
{
	return 2.0 * o->hit / (o->after + o->reported);
}

/* The job has 1 to 5 waits per minibatch, and is frozen after every 1 to 4 minibatches. */
TEST(regular_job_is_followed_to_the_last_bound)
{
	for (int k = 1; k <= 5; k++)
		for (int turn = 1; turn <= 4; turn++) {
			struct job_shape h = { .k = k, .minibatches = 600, .cycle_ms = 20 + 13 * k,
					       .uneven = 2 };
			struct outcome o = follow(&h, turn, 77 + k);

			EXPECT_LT(o.first, LEARN) TH_LOG("%d waits, %zu", k, o.first);
			EXPECT_EQ(o.after, o.hit) TH_LOG("%d waits", k);
			EXPECT_EQ(o.reported, o.hit) TH_LOG("%d waits", k);
			EXPECT_LT(fabs(o.ns * 1e-6 / h.cycle_ms - 1), 0.1) TH_LOG("%d waits, %.3f ms", k,
										  o.ns * 1e-6);
		}
}

/* The period of the job changes: by evaluations, switches of the power mode, stalls, or accumulated
 * gradients. The live track must find the new period. */
TEST(changed_period_is_found_again)
{
	static const struct job_shape shape[] = {
		{ .name = "evaluates", .k = 1, .eval_every = 50, .eval_len = 12, .eval_k = 1 },
		{ .name = "switches", .k = 2, .switch_every = 150, .uneven = 2 },
		{ .name = "stalls", .k = 2, .stall = 0.05, .stall_by = 4, .uneven = 2 },
		{ .name = "accumulates", .k = 1, .accumulate = 4, .optimizer = 0.2 },
	};

	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
		struct job_shape h = shape[i];
		struct outcome o;

		h.minibatches = 1200;
		h.cycle_ms = 40;
		o = follow(&h, 3, 5 + i);
		TH_LOG("%s: F1 %.4f", h.name, f1(&o));
		EXPECT_LE(0.9, f1(&o)) TH_LOG("%s", h.name);
	}
}

/* Add a wait of @wait_ms after @gap_ms. Return: whether a minibatch ends with this wait. */
static int add_wait(struct jetwatt_batch_track *t, struct jetwatt_sync *s, double gap_ms, double wait_ms)
{
	int ends;

	s->launch_ns = s->exit_ns + (uint64_t)(0.1e6 * gap_ms);
	s->enter_ns = s->exit_ns + (uint64_t)(1e6 * gap_ms);
	s->exit_ns = s->enter_ns + (uint64_t)(1e6 * wait_ms);
	ends = jetwatt_batch_track_add(t, s, 0) > 0;
	jetwatt_batch_track_learn(t);
	return ends;
}

/* A program that waits in six threads while it compiles, seven times per round, and then once per
 * minibatch in a seventh thread, as JAX does. */
TEST(waits_of_the_start_up_are_forgotten)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct jetwatt_sync s = { .tgid = 1, .call = JETWATT_SYNC_STREAM, .launches = 2 };
	int ends = 0;

	for (int i = 0; i < 280; i++) {
		s.tid = 1 + (uint32_t)(i % 6);
		add_wait(t, &s, i % 7 ? 0.1 : 3, 0.05);
	}
	s.tid = 9;
	s.call = JETWATT_SYNC_CALLBACK;
	for (int i = 0; i < 60; i++)
		ends += add_wait(t, &s, 1, 32 + i % 3) && i >= 30;
	EXPECT_LE(27, ends);
	EXPECT_GE(30, ends);
	jetwatt_batch_track_free(t);
}

/* Training steps of 20 waits, an evaluation with one wait per minibatch, then training again. */
TEST(minibatches_of_many_waits_begin_and_end)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct jetwatt_sync s = { .tgid = 1, .tid = 1, .call = JETWATT_SYNC_STREAM };
	int ends[3] = { 0 };

	for (int part = 0; part < 3; part++)
		for (int i = 0; i < 60; i++) {
			for (int j = 0; part != 1 && j < 19; j++) {
				s.launches = 5 + 4 * (uint32_t)(j * j % 23);
				ends[part] += add_wait(t, &s, j ? 0.3 : 4, 1) && i >= 40;
			}
			s.launches = part == 1 ? 250 : 600;
			for (int j = 0; j < (part == 1 ? 5 : 1); j++)
				ends[part] += add_wait(t, &s, 1, 20) && i >= 40;
		}
	EXPECT_EQ(20, ends[0]);
	EXPECT_EQ(100, ends[1]);
	EXPECT_EQ(20, ends[2]);
	jetwatt_batch_track_free(t);
}

/* Minibatch marks of the program take precedence over inferred bounds. */
TEST(marks_override_inference)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct jetwatt_sync s = { .tgid = 1, .tid = 1 };

	for (int i = 1; i <= 20; i++) {
		s.call = JETWATT_SYNC_SYNCPT;
		s.enter_ns = i * 1000000ull;
		s.exit_ns = s.enter_ns + 400000;
		EXPECT_EQ(i == 1 ? -11 : 0, jetwatt_batch_track_add(t, &s, 0));
		s.call = JETWATT_SYNC_MARK;
		s.enter_ns = s.exit_ns = i * 1000000ull + 500000;
		EXPECT_EQ(1, jetwatt_batch_track_add(t, &s, 0));
		EXPECT_EQ(0, jetwatt_batch_track_learn(t));
	}
	EXPECT_EQ(1000000, jetwatt_batch_track_ns(t));
	jetwatt_batch_track_free(t);
}

/* Of several names, the most frequent one marks the minibatches; a pair of marks tells its duration. */
TEST(most_frequent_name_marks_minibatches)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	struct jetwatt_sync s = { .tgid = 1, .tid = 1, .call = JETWATT_SYNC_MARK };
	int ends[3] = { 0 };

	/* Name 2 is marked twice in each step of name 1, in a pair, and name 0 once. */
	for (uint64_t i = 1; i <= 20; i++)
		for (int k = 0; k < 4; k++) {
			s.ret = k < 2 ? 2 : 3 - k;
			s.exit_ns = i * 1000000 + (uint64_t)k * 100000;
			s.enter_ns = s.exit_ns - (s.ret == 2 ? 30000 : 0);
			ends[s.ret] += jetwatt_batch_track_add(t, &s, 0);
		}
	EXPECT_EQ(40, ends[2]);
	EXPECT_EQ(0, ends[0] + ends[1]);
	EXPECT_EQ(30000, jetwatt_batch_track_ns(t));
	/* After a part of the program with other marks, these marks count. */
	for (uint64_t i = 1; i <= 200; i++) {
		s.ret = 5;
		s.enter_ns = s.exit_ns = 30000000 + i * 500000;
		ends[0] += jetwatt_batch_track_add(t, &s, 0) && i > 100;
	}
	EXPECT_LE(90, ends[0]);
	EXPECT_EQ(500000, jetwatt_batch_track_ns(t));
	jetwatt_batch_track_free(t);
}

TEST_HARNESS_MAIN
