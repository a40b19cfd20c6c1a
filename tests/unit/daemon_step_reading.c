// SPDX-License-Identifier: GPL-2.0-only
/* When a reading of a server's steps is evaluated, and when it suffices. */
#include "../../user/daemon/measure_steps.c"

#include "kselftest_harness.h"

static const struct jetwatt_measure_limits limits = {
	.seconds = 2, .max_s = 10, .batches = 20, .target = 0.02,
};

/* A reading of @s seconds with @prefills prefill steps of @ms ms each, and decode steps of 20 ms. */
static struct jetwattd_reading reading_of(double s, int prefills, double ms)
{
	struct jetwattd_reading got = { .m = { .dwell_s = s, .row = { .time_sd = 0.01, .power_sd = 0.01 } } };

	got.steps.kind[JETWATT_PREFILL] = (struct jetwatt_phase_cost){ .used = prefills, .ms = ms };
	got.steps.kind[JETWATT_DECODE] = (struct jetwatt_phase_cost){ .used = 100, .ms = 20 };
	return got;
}

/* Return: 1 if @got suffices, with rows whose prefill steps take 200 and 240 ms. */
static int suffices(struct jetwattd_reading got)
{
	struct jetwatt_step_costs row[3] = { got.steps, got.steps, got.steps };
	struct jetwattd_learner l = { .known = { .nr_rows = 3 }, .steps = { .cost = row } };

	row[0].kind[JETWATT_PREFILL].ms = 200;
	row[1].kind[JETWATT_PREFILL].ms = 240;
	row[0].kind[JETWATT_PREFILL].used = row[1].kind[JETWATT_PREFILL].used = 20;
	/* A row without prefill steps is not compared. */
	row[2].kind[JETWATT_PREFILL] = (struct jetwatt_phase_cost){ 0 };
	return is_complete(&got, &limits, 1, is_prefill_odd(&l, &got.steps));
}

TEST(precise_reading_suffices)
{
	EXPECT_EQ(1, suffices(reading_of(4, 10, 200)));
	EXPECT_EQ(0, suffices(reading_of(4, 9, 200)));
	EXPECT_EQ(0, suffices(reading_of(1.9, 10, 200)));
}

TEST(suspiciously_short_prefill_steps_need_the_full_time)
{
	EXPECT_EQ(1, suffices(reading_of(4, 10, 101)));
	EXPECT_EQ(0, suffices(reading_of(4, 10, 99)));
	EXPECT_EQ(0, suffices(reading_of(9.9, 10, 99)));
	EXPECT_EQ(1, suffices(reading_of(10, 10, 99)));
}

TEST(few_prefill_steps_need_longer)
{
	EXPECT_EQ(1, suffices(reading_of(10, 3, 200)));
	EXPECT_EQ(0, suffices(reading_of(10, 2, 200)));
	EXPECT_EQ(1, suffices(reading_of(20, 0, 0)));
}

/* Each evaluation looks at all steps so far: few of them, one after @max_s, and no long wait for the end. */
TEST(evaluations_become_rarer)
{
	const struct jetwatt_measure_limits each = { .poll_s = 1, .max_s = 20 };
	uint64_t since = 5000000000, at = since, next;
	double seen_s = 0;
	int full = 0;

	while (at < since + 40000000000) {
		next = next_ns(since, at, &each);
		ASSERT_LT(at, next);
		EXPECT_GE(since + 1.25 * (at - since) + 1e9, next);
		at = next;
		full += at == since + 20000000000;
		seen_s += (at - since) * 1e-9;
	}
	EXPECT_EQ(1, full);
	/* With one each second, it would be 820 s. */
	EXPECT_GT(300, seen_s);
}

TEST_HARNESS_MAIN
