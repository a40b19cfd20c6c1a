// SPDX-License-Identifier: GPL-2.0-only
/* Counts of work units: restarts, and whether the stated standard error covers the true error. */
#include "kselftest_harness.h"

#include "../../user/measure/unit_count.c"

#define S 1000000000ull

TEST(increases_are_added_up)
{
	struct jetwatt_unit_count c = { 0 };

	EXPECT_EQ(0, jetwatt_unit_count_add(&c, 5 * S, 0, 1000));
	EXPECT_EQ(0, c.units);
	EXPECT_EQ(0, jetwatt_unit_count_add(&c, 6 * S, 0, 1000));
	EXPECT_EQ(0, jetwatt_unit_count_add(&c, 7 * S, 0, 1040));
	EXPECT_EQ(40, c.units);
	EXPECT_EQ(0, c.resets);
	EXPECT_EQ(5 * S, c.first_ns);
	EXPECT_EQ(7 * S, c.last_ns);
}

/* After a restart, the value of the counter is the number of units since the restart, as in rate()
 * of Prometheus. */
TEST(a_restarted_counter_counts_on)
{
	struct jetwatt_unit_count c = { 0 };

	jetwatt_unit_count_add(&c, 1 * S, 0, 100);
	jetwatt_unit_count_add(&c, 2 * S, 0, 150);
	EXPECT_EQ(1, jetwatt_unit_count_add(&c, 3 * S, 0, 20));
	EXPECT_EQ(1, c.resets);
	EXPECT_EQ(70, c.units);
	EXPECT_EQ(0, jetwatt_unit_count_add(&c, 4 * S, 0, 30));
	EXPECT_EQ(1, jetwatt_unit_count_add(&c, 5 * S, 0, 0));
	EXPECT_EQ(80, c.units);
	EXPECT_EQ(2, c.resets);
}

/* The first reading took 0.2 s and the last one 0.4 s, at 100 units per second: the error includes
 * both durations. */
TEST(the_error_has_the_readings_durations)
{
	struct jetwatt_unit_count c = { .fraction = 1 };

	jetwatt_unit_count_add(&c, 0, S / 10, 0);
	jetwatt_unit_count_add(&c, 10 * S, S / 5, 1000);
	EXPECT_LT(fabs(jetwatt_unit_count_sd(&c) - sqrt((10. * 10 + 20. * 20) / 3)), 1e-9);
}

/* A counter of whole units has a step of 1; when a program starts, no unit is in progress. */
TEST(the_error_has_the_step)
{
	struct jetwatt_unit_count c = { 0 };

	jetwatt_unit_count_add(&c, 0, 0, 0);
	jetwatt_unit_count_add(&c, 10 * S, 0, 1000);
	EXPECT_LT(fabs(jetwatt_unit_count_sd(&c) - sqrt(2. / 12)), 1e-9);
	c.exact_start = 1;
	EXPECT_LT(fabs(jetwatt_unit_count_sd(&c) - sqrt(1. / 12)), 1e-9);
}

static uint64_t state = 1;

static double uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return ((state >> 11) + 0.5) / 9007199254740992.0;
}

/*
 * A server whose requests take a random time, with a counter that increases by @step units when a
 * request ends, read once per second for @seconds, each reading taking up to 50 ms. Return the share
 * of runs in which the true number of units, those in progress included, is within two standard
 * errors. The rate is 100 units/s.
 */
static double covered(double step, int seconds, int runs)
{
	int within = 0;

	for (int k = 0; k < runs; k++) {
		struct jetwatt_unit_count c = { 0 };
		double mean = step / 100, ends = 0, length = mean * 2 * uniform(), done = 0;
		double first = NAN, last = NAN;

		ends = length * uniform();
		for (int i = 0; i <= seconds; i++) {
			double begin = 3 + i, half = 0.025 * uniform(), at = begin + half;
			double sampled = at + half * (2 * uniform() - 1);

			while (ends < sampled) {
				done += step;
				length = mean * 2 * uniform();
				ends += length;
			}
			jetwatt_unit_count_add(&c, (uint64_t)(at * 1e9), (uint64_t)(half * 1e9), done);
			last = done + step * (1 - (ends - at) / length);
			first = i ? first : last;
		}
		within += fabs(c.units - (last - first)) <= 2 * jetwatt_unit_count_sd(&c);
	}
	return (double)within / runs;
}

TEST(the_error_covers_the_true_error)
{
	EXPECT_GT(covered(1, 10, 2000), 0.93);
	EXPECT_GT(covered(20, 10, 2000), 0.93);
	EXPECT_GT(covered(128, 30, 2000), 0.93);
	EXPECT_GT(covered(512, 60, 2000), 0.93);
}

/* A counter with small steps and a slowly changing rate must not be mistaken for a counter with
 * large steps. */
TEST(a_slow_change_of_the_rate_is_no_step)
{
	struct jetwatt_unit_count c = { 0 };
	double units = 0;

	for (int i = 0; i <= 60; i++) {
		units += floor(50 + i);
		jetwatt_unit_count_add(&c, i * S, 0, units);
	}
	EXPECT_LT(fabs(jetwatt_unit_count_step(&c) - 1), 1e-6);
}

TEST_HARNESS_MAIN
