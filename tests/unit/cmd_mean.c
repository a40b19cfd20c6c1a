// SPDX-License-Identifier: GPL-2.0-only
/* Means of time and power over minibatches, and the correctness of their standard errors. */
#include <stdint.h>

#include "kselftest_harness.h"

#include "../../user/measure/block_mean.c"

#define N 512

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return ((state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

TEST(mean_power_is_energy_by_time)
{
	/* 1 s at 10 W and 3 s at 30 W: 25 W, not 20 */
	double t[2] = { 1e9, 3e9 }, e[2] = { 10e6, 90e6 };
	struct jetwatt_row row;

	EXPECT_EQ(2, jetwatt_block_mean(t, e, 2, 0, &row));
	EXPECT_EQ(2000, row.time_ms);
	EXPECT_EQ(25, row.power_w);
}

TEST(no_minibatch_and_one_minibatch_have_no_error)
{
	double t = 1e9, e = 10e6;
	struct jetwatt_row row;

	EXPECT_EQ(0, jetwatt_block_mean(&t, &e, 0, 0, &row));
	EXPECT_EQ(0, row.time_ms);
	EXPECT_EQ(1, jetwatt_block_mean(&t, &e, 1, 0, &row));
	EXPECT_EQ(10, row.power_w);
	EXPECT_EQ(0, row.time_sd);
}

/* A rail that reads only its offset has a power of 0, not NaN. */
TEST(zero_power_is_not_nan)
{
	double t[3] = { 1e9, 1e9, 1e9 }, e[3] = { 0, 0, 0 };
	struct jetwatt_row row;

	EXPECT_EQ(3, jetwatt_block_mean(t, e, 3, 0, &row));
	EXPECT_EQ(0, row.power_w);
	EXPECT_EQ(0, row.power_sd);
}

/* Return the share of mean powers that lie within 1.96 standard errors of the true power, and in
 * *@time_in the same for times: ideally 95 %, slightly less with few blocks. Each run of @hold
 * consecutive minibatches has the same noise of the power, like several reads of one conversion of
 * the chip. The standard error is right only if a block is longer than @hold minibatches. */
static double coverage(int hold, double block_ns, double *time_in)
{
	double t[N], e[N], in_t = 0, in_w = 0;
	const int runs = 4000;

	state = 1;
	for (int r = 0; r < runs; r++) {
		struct jetwatt_row row;
		double noise = 0;

		for (int i = 0; i < N; i++) {
			if (i % hold == 0)
				noise = normal();
			t[i] = 20e6 * (1 + 0.05 * normal());
			e[i] = t[i] * 1e-3 * 25 * (1 + 0.03 * noise);
		}
		jetwatt_block_mean(t, e, N, block_ns, &row);
		in_t += fabs(row.time_ms / 20 - 1) < 1.96 * row.time_sd;
		in_w += fabs(row.power_w / 25 - 1) < 1.96 * row.power_sd;
	}
	*time_in = in_t / runs;
	return in_w / runs;
}

TEST(standard_errors_are_right)
{
	double time_in, power_in = coverage(1, 0, &time_in);

	EXPECT_GT(power_in, 0.93);
	EXPECT_LT(power_in, 0.97);
	EXPECT_GT(time_in, 0.93);
	EXPECT_LT(time_in, 0.97);
}

TEST(block_means_see_repeated_samples)
{
	double time_in;

	/* With blocks of 16 minibatches of 20 ms, values that repeat for 4 minibatches lower the
	 * coverage only a little. */
	EXPECT_GT(coverage(4, 318e6, &time_in), 0.88);
	/* If each minibatch is treated as independent, the standard error is too small, so the
	 * coverage is lower. */
	EXPECT_LT(coverage(4, 0, &time_in), 0.75);
}

TEST_HARNESS_MAIN
