// SPDX-License-Identifier: GPL-2.0-only
/* Parsing of quantities with units on the command line, and suggestions for misspelled words. */
#include "kselftest_harness.h"

#include "../../user/util/suggest.c"
#include "../../user/util/units.c"

static int near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

TEST(quantities_are_parsed)
{
	static const struct {
		const char *text, *unit;
		double v;
	} good[] = {
		{ "30", "W", 30 }, { "30W", "W", 30 }, { "30 W", "W", 30 }, { "30w", "W", 30 },
		{ "1500mW", "W", 1.5 }, { ".5kW", "W", 500 }, { "5s", "s", 5 }, { "250ms", "s", .25 },
		{ "2min", "s", 120 }, { "1h", "s", 3600 }, { "1kHz", "Hz", 1000 }, { "1k", "Hz", 1000 },
		{ "345hz", "Hz", 345 }, { "1e3", "Hz", 1000 }, { "-3", "W", -3 }, { " 7", "W", 7 },
	};
	double v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ASSERT_EQ(0, jetwatt_unit_parse(good[i].text, good[i].unit, &v)) {
			TH_LOG("%s", good[i].text);
		}
		EXPECT_TRUE(near(v, good[i].v)) {
			TH_LOG("%s: %g", good[i].text, v);
		}
	}
}

TEST(malformed_quantities_are_refused)
{
	static const char *const bad[] = { "", "W", "30V", "30s", "nan", "inf", "0x10", "30WW",
					   "3 0", "1e999", "--3", "30Hz" };
	double v = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, jetwatt_unit_parse(bad[i], "W", &v)) {
			TH_LOG("%s: %g", bad[i], v);
		}
	}
}

TEST(counts_out_of_range_are_refused)
{
	long v;

	EXPECT_EQ(0, jetwatt_unit_count("20", 3, 100, &v));
	EXPECT_EQ(20, v);
	EXPECT_EQ(-ERANGE, jetwatt_unit_count("2", 3, 100, &v));
	EXPECT_EQ(-ERANGE, jetwatt_unit_count("99999999999999999999", 3, 100, &v));
	EXPECT_EQ(-EINVAL, jetwatt_unit_count("20x", 3, 100, &v));
	EXPECT_EQ(-EINVAL, jetwatt_unit_count("", 3, 100, &v));
}

TEST(misspelt_words_have_a_suggestion)
{
	static const char *const word[] = { "stat", "restore", "optimize", "apply", NULL };

	EXPECT_STREQ("stat", jetwatt_suggest("sat", word));
	EXPECT_STREQ("stat", jetwatt_suggest("satt", word));
	EXPECT_STREQ("restore", jetwatt_suggest("resotre", word));
	EXPECT_STREQ("optimize", jetwatt_suggest("optimise", word));
	EXPECT_STREQ("optimize", jetwatt_suggest("opt", word));
	EXPECT_EQ(NULL, jetwatt_suggest("frobnicate", word));
	EXPECT_EQ(NULL, jetwatt_suggest("", word));
	EXPECT_EQ(1, jetwatt_suggest_distance("satt", "stat"));
	EXPECT_EQ(0, jetwatt_suggest_distance("", ""));
	EXPECT_EQ(4, jetwatt_suggest_distance("", "stat"));
}

TEST_HARNESS_MAIN
