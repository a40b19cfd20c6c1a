// SPDX-License-Identifier: GPL-2.0-only
/* Refit: rows are added to a fitted model. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/refit.h"
#include "synth.h"

#define FIRST	16
#define ALL	48

static double off(const struct jetwatt_prediction *p, const struct jetwatt_row *row, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(log(p[i].time_ms / row[i].time_ms)) +
		       fabs(log(p[i].power_w / row[i].power_w));
	return sum / n / 2;
}

static int predict(const struct jetwatt_model *m, const struct jetwatt_row *row, size_t n,
		   struct jetwatt_prediction *p)
{
	for (size_t i = 0; i < n; i++) {
		int err = jetwatt_model_predict(m, &row[i].mode, 1, &p[i]);

		if (err)
			return err;
	}
	return 0;
}

TEST(predictions_follow_added_rows)
{
	double first = 0, sum = 0, sum_best = 0;

	for (int seed = 1; seed <= 4; seed++) {
		struct jetwatt_model *base, *more, *whole;
		struct jetwatt_prediction p[ALL];
		struct jetwatt_row *row, seen[ALL], other[ALL];
		double before, after, at, best;
		struct synth w;
		long n;

		synth_make(&w, seed, SYNTH_ORIN);
		n = synth_rows(&w, &row, 0, seed);
		ASSERT_LT(0, n);
		for (int i = 0; i < ALL; i++) {
			seen[i] = row[(i * 7919l + 13) % n];
			other[i] = row[(i * 6007l + 1001) % n];
		}
		free(row);
		ASSERT_EQ(0, jetwatt_fit(&base, seen, FIRST, NULL, 1));
		ASSERT_EQ(0, jetwatt_refit(&more, base, seen, ALL));
		ASSERT_EQ(0, jetwatt_fit(&whole, seen, ALL, NULL, 1));
		ASSERT_EQ(0, predict(base, other, ALL, p));
		before = off(p, other, ALL);
		ASSERT_EQ(0, predict(whole, other, ALL, p));
		best = off(p, other, ALL);
		ASSERT_EQ(0, predict(more, other, ALL, p));
		after = off(p, other, ALL);
		ASSERT_EQ(0, predict(more, seen + FIRST, ALL - FIRST, p));
		at = off(p, seen + FIRST, ALL - FIRST);
		TH_LOG("off by %.2f %%, then %.2f %% (a full fit %.2f %%), at its rows %.2f %%",
		       100 * before, 100 * after, 100 * best, 100 * at);
		EXPECT_LT(at, 0.01);
		first += before;
		sum += after;
		sum_best += best;
		jetwatt_model_free(base);
		jetwatt_model_free(more);
		jetwatt_model_free(whole);
	}
	EXPECT_LT(sum, first);
	EXPECT_LT(sum, 2 * sum_best);
}

TEST(same_added_rows_give_the_same_model)
{
	struct jetwatt_prediction p[ALL], q[ALL];
	struct jetwatt_model *base, *again;
	struct jetwatt_row *row, seen[ALL];
	struct synth w;
	long n;

	synth_make(&w, 9, SYNTH_ORIN);
	n = synth_rows(&w, &row, 0.01, 9);
	ASSERT_LT(0, n);
	for (int i = 0; i < ALL; i++)
		seen[i] = row[(i * 7919l + 13) % n];
	free(row);
	ASSERT_EQ(0, jetwatt_fit(&base, seen, ALL, NULL, 1));
	ASSERT_EQ(0, jetwatt_refit(&again, base, seen, ALL));
	ASSERT_EQ(0, predict(base, seen, ALL, p));
	ASSERT_EQ(0, predict(again, seen, ALL, q));
	for (int i = 0; i < ALL; i++) {
		EXPECT_EQ(1, fabs(log(p[i].time_ms / q[i].time_ms)) < 2e-3);
		EXPECT_EQ(1, fabs(log(p[i].power_w / q[i].power_w)) < 2e-3);
	}
	jetwatt_model_free(base);
	jetwatt_model_free(again);
	EXPECT_EQ(-EINVAL, jetwatt_refit(&again, NULL, seen, 0));
}

TEST_HARNESS_MAIN
