// SPDX-License-Identifier: GPL-2.0-only
/* Ranking of candidate modes, and the Pareto front of time and power, compared with exhaustive
 * search. */
#include <math.h>

#include "kselftest_harness.h"
#include "plan/plan.h"
#include "search_run.h"

#define N	6

static const struct jetwatt_mode mode[N] = {
	{ 2, 1000000, 500000000, 2133000000 }, { 4, 1000000, 500000000, 2133000000 },
	{ 6, 1000000, 500000000, 2133000000 }, { 8, 1000000, 500000000, 2133000000 },
	{ 10, 1000000, 500000000, 2133000000 }, { 12, 1000000, 500000000, 2133000000 },
};
static const struct jetwatt_prediction p[N] = {
	{ 100, 15, 0.02, 0.02 }, { 90, 18, 0.02, 0.02 }, { 80, 21, 0.02, 0.02 },
	{ 70, 24, 0.02, 0.02 }, { 60, 27, 0.02, 0.02 }, { 50, 30, 0.02, 0.02 },
};

TEST(candidates_are_ranked_by_time_within_the_risk)
{
	struct jetwatt_plan_choice c[N];

	/* 24 W x exp(1.645 x 0.02) = 24.8 W */
	ASSERT_EQ(4, jetwatt_plan_rank(mode, p, N, NULL, 0, 25, 0.05, c, N));
	EXPECT_EQ(3, c[0].index);
	EXPECT_EQ(0, c[3].index);
	EXPECT_EQ(0, c[0].measured);
	ASSERT_EQ(3, jetwatt_plan_rank(mode, p, N, NULL, 0, 24.5, 0.05, c, N));
	EXPECT_EQ(2, c[0].index);
	ASSERT_EQ(4, jetwatt_plan_rank(mode, p, N, NULL, 0, 24.5, 0.4, c, N));
	ASSERT_EQ(2, jetwatt_plan_rank(mode, p, N, NULL, 0, 25, 0.05, c, 2));
}

TEST(readings_are_weighted_by_their_errors)
{
	struct jetwatt_row row[] = { { mode[3], 70, 25.4, 0.01, 0.004 },
				     { mode[2], 10, 99, 0.01, 0.01 },
				     { mode[3], 76, 24.9, 0.02, 0.002 } };
	struct jetwatt_plan_choice c[N];
	struct jetwatt_row mean = { .power_w = 7 };

	EXPECT_EQ(0, jetwatt_plan_reading(&mode[0], row, 3, &mean));
	EXPECT_EQ(7, mean.power_w);
	ASSERT_EQ(2, jetwatt_plan_reading(&mode[3], row, 3, &mean));
	EXPECT_LT(fabs(mean.power_w - 25.0), 1e-9);
	EXPECT_LT(fabs(mean.time_ms - 71.2), 1e-9);
	EXPECT_LT(fabs(mean.power_sd - 0.002 / sqrt(1.25)), 1e-12);
	EXPECT_EQ(0, memcmp(&mean.mode, &mode[3], sizeof(mean.mode)));
	/* One reading over the budget does not exclude a mode if a more precise reading is within
	 * the budget. */
	row[2].power_w = 24.5;
	ASSERT_EQ(3, jetwatt_plan_rank(mode, p, N, row, 3, 25, 0.5, c, N));
	EXPECT_EQ(3, c[0].index);
	EXPECT_EQ(1, c[0].measured);
}

TEST(mode_measured_over_the_budget_is_excluded)
{
	struct jetwatt_row row[] = { { mode[3], 70, 25.2, 0.01, 0.01 },
				     { mode[3], 70, 24.9, 0.01, 0.01 },
				     { mode[4], 60, 24.9, 0.01, 0.01 },
				     { mode[4], 60, 24.8, 0.01, 0.01 } };
	struct jetwatt_plan_choice c[N];

	ASSERT_EQ(4, jetwatt_plan_rank(mode, p, N, row, 4, 25, 0.05, c, N));
	EXPECT_EQ(4, c[0].index);
	EXPECT_EQ(1, c[0].measured);
	for (int i = 0; i < 4; i++)
		EXPECT_NE(3, c[i].index);
	/* A mode whose single reading contradicts its prediction is ranked last. */
	ASSERT_EQ(4, jetwatt_plan_rank(mode, p, N, row, 3, 25, 0.05, c, N));
	EXPECT_EQ(2, c[0].index);
	EXPECT_EQ(4, c[3].index);
}

TEST(impossible_budget_returns_the_closest_mode)
{
	struct jetwatt_row row = { mode[0], 100, 19, 0.01, 0.01 };
	struct jetwatt_plan_choice c[N];

	ASSERT_EQ(0, jetwatt_plan_rank(mode, p, N, NULL, 0, 10, 0.05, c, N));
	EXPECT_EQ(0, c[0].index);
	EXPECT_EQ(0, c[0].measured);
	ASSERT_EQ(0, jetwatt_plan_rank(mode, p, N, &row, 1, 10, 0.05, c, N));
	EXPECT_EQ(1, c[0].index);
}

/* The six modes range from 100 ms at 15 W to 50 ms at 30 W; their energies are 1.5, 1.62, 1.68,
 * 1.68, 1.62, 1.5 J. */
TEST(power_and_energy_are_minimised)
{
	struct jetwatt_plan_objective q = { JETWATT_MIN_POWER, 0, 82, 0.05 };
	struct jetwatt_row row = { .mode = mode[2], .time_ms = 81, .power_w = 20, .time_sd = 0.003,
				   .power_sd = 0.003 };
	struct jetwatt_plan_choice c[N];
	double power, time;

	/* The prediction of 80 ms with its margin, 80 ms x exp(1.645 x 0.02) = 82.7 ms, exceeds the
	 * limit of 82 ms; the mode is a candidate only after a measurement of 81 ms. */
	ASSERT_EQ(3, jetwatt_plan_candidates(mode, p, N, NULL, 0, &q, c, N));
	EXPECT_EQ(3, c[0].index);
	ASSERT_EQ(4, jetwatt_plan_candidates(mode, p, N, &row, 1, &q, c, N));
	EXPECT_EQ(2, c[0].index);
	EXPECT_EQ(1, c[0].measured);
	q.minimise = JETWATT_MIN_ENERGY;
	ASSERT_EQ(4, jetwatt_plan_candidates(mode, p, N, &row, 1, &q, c, N));
	EXPECT_EQ(5, c[0].index);
	/* With two limits, each gets half of the 5 % risk, so the margin is larger: 24 W x exp(1.96
	 * x 0.02) = 24.96 W. */
	q = (struct jetwatt_plan_objective){ JETWATT_MIN_TIME, 25, 85, 0.05 };
	ASSERT_EQ(2, jetwatt_plan_candidates(mode, p, N, NULL, 0, &q, c, N));
	EXPECT_EQ(3, c[0].index);
	q.power_w = 24.9;
	ASSERT_EQ(1, jetwatt_plan_candidates(mode, p, N, NULL, 0, &q, c, N));
	/* No mode takes 60 ms at 21 W. The closest mode, with 70 ms and 24 W, exceeds both limits
	 * by about a sixth. */
	q = (struct jetwatt_plan_objective){ JETWATT_MIN_TIME, 21, 60, 0.05 };
	ASSERT_EQ(0, jetwatt_plan_candidates(mode, p, N, NULL, 0, &q, c, N));
	EXPECT_EQ(3, c[0].index);
	jetwatt_plan_required_limits(mode, p, N, NULL, 0, &q, &power, &time);
	EXPECT_LT(fabs(power - 30 * exp(1.959964 * 0.02)), 1e-4);
	EXPECT_LT(fabs(time - 90 * exp(1.959964 * 0.02)), 1e-4);
}

TEST(pareto_front_equals_exhaustive_search)
{
	double t[300], w[300];
	size_t out[300];
	uint64_t s = 9;

	for (int round = 0; round < 50; round++) {
		size_t n = round * 6, k, expect = 0;

		for (size_t i = 0; i < n; i++) {
			/* Draw from twenty values only, so that ties occur. */
			t[i] = 1 + floor(20 * search_uniform(&s));
			w[i] = 1 + floor(20 * search_uniform(&s));
		}
		if (n > 2)
			t[2] = NAN;
		k = jetwatt_plan_front(t, w, n, out);
		for (size_t i = 0; i < n; i++) {
			int beaten = isnan(t[i]);

			for (size_t j = 0; j < n && !beaten; j++)
				beaten = t[j] <= t[i] && w[j] <= w[i] &&
					 (t[j] < t[i] || w[j] < w[i] || j < i);
			expect += !beaten;
		}
		EXPECT_EQ(expect, k);
		for (size_t i = 1; i < k; i++) {
			EXPECT_LT(t[out[i - 1]], t[out[i]]);
			EXPECT_GT(w[out[i - 1]], w[out[i]]);
		}
	}
}

TEST_HARNESS_MAIN
