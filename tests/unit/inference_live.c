// SPDX-License-Identifier: GPL-2.0-only
/* optimize --latency with a job: an answer must keep within all limits in the longer measurement that
 * verifies it. */
#include "tune/inference.h"

#define jetwatt_tuner_measure test_measure
int test_measure(struct jetwatt_tuner *l, size_t index, const char *why, const struct jetwatt_measure_limits *limits);
#include "../../user/tune/inference_live.c"

#include "kselftest_harness.h"

/* Minibatches of 16 at 100 requests per second: one is full every 160 ms. */
#define SIZE	16

FIXTURE(live) {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	struct jetwatt_profile_store_args store_args;
	struct jetwatt_mode mode[2];
	struct jetwatt_tuner l;
	struct jetwatt_inference f;
	struct live v;
};

/* Time and power of the longer measurement of the first mode. */
static double proof_ms, proof_w;

int test_measure(struct jetwatt_tuner *l, size_t index, const char *why, const struct jetwatt_measure_limits *limits)
{
	struct jetwatt_row row = { .mode = l->mode[index], .time_ms = index ? 159 : proof_ms,
				   .power_w = index ? 29 : proof_w, .batch = SIZE };

	(void)why;
	(void)limits;
	return jetwatt_tuner_add(l, &row);
}

FIXTURE_SETUP(live)
{
	struct jetwatt_row row = { .time_ms = 155, .power_w = 28, .batch = SIZE };

	self->mode[0] = (struct jetwatt_mode){ 4, 1000000, 500000000, 2133000000 };
	self->mode[1] = (struct jetwatt_mode){ 4, 1000000, 400000000, 2133000000 };
	self->l = (struct jetwatt_tuner){ .args = &self->args, .mode = self->mode, .nr_modes = 2, .sizes = 1 };
	self->f = (struct jetwatt_inference){ .q = { 30, 500, 100 }, .size = { SIZE }, .sizes = 1,
					      .strategy = jetwatt_strategy_find("gmd"), .max_modes = 2 };
	self->v = (struct live){ .f = &self->f, .l = &self->l, .job = &self->job, .store_args = &self->store_args,
				 .runs = SIZE };
	for (int i = 0; i < 2; i++) {
		row.mode = self->mode[i];
		row.time_ms += 4 * i;
		ASSERT_EQ(0, jetwatt_tuner_add(&self->l, &row));
	}
	self->v.search = (struct jetwatt_strategy_search){ .learn = &self->l, .strategy = self->f.strategy,
							   .q = self->f.q, .max_modes = 2 };
	ASSERT_EQ(0, jetwatt_strategy_search_open(&self->v.search, JETWATT_SLICE_INFER, self->f.size, 1));
	proof_ms = 155;
	proof_w = 28;
}

FIXTURE_TEARDOWN(live)
{
	jetwatt_strategy_search_close(&self->v.search);
	free(self->l.row);
}

TEST_F(live, best_plan_is_verified)
{
	ASSERT_EQ(0, live_verify(&self->v));
	EXPECT_EQ(0, self->f.plan.mode);
}

/* The mean of both measurements is within the limit, but the longer one is not. */
TEST_F(live, server_that_cannot_keep_up_is_no_answer)
{
	proof_ms = 162;
	ASSERT_EQ(0, live_verify(&self->v));
	EXPECT_EQ(1, self->f.plan.mode);
}

TEST_F(live, power_over_the_budget_is_no_answer)
{
	proof_w = 31;
	ASSERT_EQ(0, live_verify(&self->v));
	EXPECT_EQ(1, self->f.plan.mode);
}

TEST_HARNESS_MAIN
