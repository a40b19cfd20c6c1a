// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of two series of measurements: if nothing has changed, a change is reported at
 * most at the stated false positive rate; a real change is found. The series are autocorrelated, as
 * power is. Also tested: single values, and which rail is named as the cause.
 */
#include <math.h>
#include <stdlib.h>

#include "../../user/cmd/compare/compare.c"
#include "../../user/cmd/compare/effect_size.c"
#include "../../user/cmd/compare/minibatch_table.c"
#include "../../user/cmd/stat/fail_if.c"
#include "../../user/cmd/stat/threshold.c"
#include "kselftest_harness.h"

static double normal(void)
{
	return sqrt(-2 * log(drand48() + 1e-12)) * cos(2 * M_PI * drand48());
}

/* Create an autocorrelated series: each deviation from the mean includes the share @memory of the
 * previous deviation. */
static void series(double *v, size_t n, double mean, double sd, double memory)
{
	double x = normal();

	for (size_t i = 0; i < n; i++) {
		x = memory * x + sqrt(1 - memory * memory) * normal();
		v[i] = mean + sd * x;
	}
}

TEST(cliffs_delta_of_known_pairs)
{
	double a[] = { 1, 2, 3, 4 }, b[] = { 3, 4, 5, 6 }, c[] = { 10, 11, 12, 13 };
	struct jetwatt_effect e;

	ASSERT_EQ(0, jetwatt_effect(a, 4, b, 4, &e));
	/* of the 16 pairs of values, 13 are higher, 1 is lower, 2 are equal */
	EXPECT_LT(fabs(e.delta - 12 / 16.), 1e-12);
	EXPECT_LT(e.confidence, 0);
	ASSERT_EQ(0, jetwatt_effect(a, 4, c, 4, &e));
	EXPECT_EQ(1, e.delta);
	ASSERT_EQ(0, jetwatt_effect(c, 4, a, 4, &e));
	EXPECT_EQ(-1, e.delta);
	ASSERT_EQ(0, jetwatt_effect(a, 4, NULL, 0, &e));
	EXPECT_FALSE(jetwatt_effect_moved(&e));
}

/* A rail of a part of the chip that is off has exactly 0 W. */
TEST(change_from_zero)
{
	double none[40] = { 0 }, some[40];
	struct jetwatt_effect e;

	series(some, 40, .05, .005, .6);
	ASSERT_EQ(0, jetwatt_effect(none, 40, some, 40, &e));
	EXPECT_TRUE(isnan(e.change) && isnan(e.lo) && isnan(e.hi));
	EXPECT_EQ(1, e.delta);
	EXPECT_TRUE(jetwatt_effect_moved(&e));
	ASSERT_EQ(0, jetwatt_effect(some, 40, none, 40, &e));
	EXPECT_LT(fabs(e.change + 1), 1e-12);
	EXPECT_TRUE(jetwatt_effect_moved(&e));
	ASSERT_EQ(0, jetwatt_effect(none, 40, none, 40, &e));
	EXPECT_EQ(0, e.change);
	EXPECT_EQ(0, e.confidence);
}

TEST(false_positives_are_rare)
{
	double a[400], b[300];
	int false_alarms = 0, covered = 0;
	struct jetwatt_effect e;

	srand48(3);
	for (int round = 0; round < 200; round++) {
		series(a, 400, 10, 1, .6);
		series(b, 300, 10, 1, .6);
		ASSERT_EQ(0, jetwatt_effect(a, 400, b, 300, &e));
		false_alarms += jetwatt_effect_moved(&e);
		covered += e.lo <= 0 && e.hi >= 0;
	}
	/* jetwatt_effect_moved() requires a confidence of 99 %, so that 1 % of equal pairs, here 2 of
	 * 200, may be reported as changed; 5 leaves room for chance. */
	EXPECT_LE(false_alarms, 5);
	EXPECT_GE(covered, 180);
}

TEST(real_change_is_found)
{
	double a[400], b[300];
	int found = 0, covered = 0;
	struct jetwatt_effect e;

	srand48(4);
	for (int round = 0; round < 200; round++) {
		series(a, 400, 10, .3, .6);
		series(b, 300, 10.3, .3, .6);
		ASSERT_EQ(0, jetwatt_effect(a, 400, b, 300, &e));
		found += jetwatt_effect_moved(&e);
		covered += e.lo <= .03 && e.hi >= .03;
	}
	EXPECT_GE(found, 198);
	EXPECT_GE(covered, 180);
}

TEST(identical_series_do_not_differ)
{
	double a[100], b[100];
	struct jetwatt_effect e;

	for (int i = 0; i < 100; i++)
		a[i] = b[i] = 2201.6 + i * 1e-12;
	b[3] += 1e-12;
	ASSERT_EQ(0, jetwatt_effect(a, 100, b, 100, &e));
	EXPECT_EQ(0, e.change);
	EXPECT_EQ(0, e.confidence);
}

/* A single value per run with its standard error: the interval has the stated coverage, and the false
 * positive rate is the stated one. */
TEST(single_values_have_the_stated_coverage)
{
	static const double sd[] = { .01, .02 };
	int false_alarms = 0, covered = 0, found = 0;
	struct jetwatt_effect e;

	srand48(5);
	for (int round = 0; round < 4000; round++) {
		double mean[] = { 3 * (1 + sd[0] * normal()), 3 * (1 + sd[1] * normal()) };

		jetwatt_effect_single(mean, sd, &e);
		false_alarms += jetwatt_effect_moved(&e);
		covered += e.lo <= 0 && e.hi >= 0;
		mean[1] *= 1.1;
		jetwatt_effect_single(mean, sd, &e);
		found += jetwatt_effect_moved(&e);
	}
	EXPECT_LE(false_alarms, 60);
	EXPECT_GE(covered, 3740);
	EXPECT_LE(covered, 3860);
	EXPECT_GE(found, 3700);
	EXPECT_EQ(0, strcmp("-", jetwatt_effect_size(&e)));
	jetwatt_effect_single((double[]){ 1, 2 }, (double[]){ .1, NAN }, &e);
	EXPECT_EQ(1, e.change);
	EXPECT_LT(e.confidence, 0);
	EXPECT_EQ(0, jetwatt_effect_moved(&e));
}

TEST(of_the_rails_that_changed_significantly_the_largest_change_is_named)
{
	const struct jetwatt_effect sure = { .delta = 1, .confidence = 1 }, unsure = { .delta = 1, .confidence = .5 };
	struct compare_line line[] = { { .name = "energy", .e = sure }, { .name = "VDD_GPU", .part = 1, .e = unsure },
				       { .name = "VDD_CPU", .part = 1, .e = sure } };
	const double mean[][2] = { { 10, 12 }, { 5, 8 }, { 2, 2.5 } };
	const struct compare_line *most;
	double share;
	int changed;

	for (int i = 0; i < 3; i++)
		memcpy(line[i].e.mean, mean[i], sizeof(mean[i]));
	most = largest_rail_change(line, 3, &changed, &share);
	EXPECT_EQ(&line[2], most);
	EXPECT_TRUE(changed);
	EXPECT_LT(fabs(share - .25), 1e-12);
	/* The total energy has changed, but that of no rail. */
	EXPECT_EQ(NULL, largest_rail_change(line, 2, &changed, &share));
	EXPECT_TRUE(changed);
	/* A rail has changed, but not the total energy. */
	line[0].e.confidence = .5;
	EXPECT_EQ(NULL, largest_rail_change(line, 3, &changed, &share));
	EXPECT_FALSE(changed);
}

TEST_HARNESS_MAIN
