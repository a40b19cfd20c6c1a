// SPDX-License-Identifier: GPL-2.0-only
/* Choice of the next mode to measure: refusals, determinism, unusual boards, impossible budgets. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "kselftest_harness.h"
#include "plan/plan.h"
#include "synth.h"

static struct jetwatt_row *board(long *n, size_t thin)
{
	struct jetwatt_row *row;
	struct synth w;

	synth_make(&w, 3, 0);
	*n = synth_rows(&w, &row, 0, 3);
	for (long i = 0; i < *n / (long)thin; i++)
		row[i] = row[i * thin];
	*n /= thin;
	return row;
}

static struct jetwatt_mode *modes(const struct jetwatt_row *row, long n)
{
	struct jetwatt_mode *m = calloc(n, sizeof(*m));

	for (long i = 0; m && i < n; i++)
		m[i] = row[i].mode;
	return m;
}

/* Measure the modes that the plan chooses, without noise, until the plan stops. Return: number of
 * modes measured. */
static size_t walk(const struct jetwatt_row *row, long n, double budget, size_t most,
		   struct jetwatt_row *seen, int *err)
{
	struct jetwatt_mode *m = modes(row, n);
	struct jetwatt_plan_next p;
	size_t k = 0;

	while (k < most) {
		*err = jetwatt_plan_next(m, n, seen, k, NULL, budget, most, 1, &p);
		if (*err || p.index >= (size_t)n || !p.why)
			break;
		if (strlen(p.why) > JETWATT_PLAN_WHY) {
			*err = -EMSGSIZE;
			break;
		}
		seen[k++] = row[p.index];
	}
	free(m);
	return k;
}

TEST(refuses_invalid_arguments)
{
	struct jetwatt_mode m[2] = { { 4, 1000000, 500000000, 2133000000 },
				     { 8, 1000000, 500000000, 2133000000 } };
	struct jetwatt_row r = { m[0], NAN, 20, 0, 0 };
	struct jetwatt_plan_next p;

	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 0, NULL, 0, NULL, 20, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, NULL, NAN, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, NULL, -3, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, &r, 1, NULL, 20, 20, 1, &p));
	m[1].gpu_hz = 0;
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, NULL, 20, 20, 1, &p));
}

TEST(stops_when_the_limit_or_all_modes_are_used)
{
	struct jetwatt_mode m = { 4, 1000000, 500000000, 2133000000 };
	struct jetwatt_row r = { m, 100, 20, 0, 0 };
	struct jetwatt_plan_next p;

	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, NULL, 0, NULL, 30, 0, 1, &p));
	EXPECT_EQ(0, jetwatt_plan_next(&m, 1, NULL, 0, NULL, 30, 20, 1, &p));
	EXPECT_EQ(0, p.index);
	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, &r, 1, NULL, 30, 20, 1, &p));
	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, &r, 1, NULL, 0, 20, 1, &p));
}

/* Multiply the time of each row by a random factor of 0.9 to 1.1, which no model can predict.
 * The powers are not changed, because the plan would repeat the measurement of modes with an
 * unexpected power. */
static void ragged(struct jetwatt_row *row, long n)
{
	uint64_t s = 7;

	for (long i = 0; i < n; i++)
		row[i].time_ms *= 0.9 + 0.2 * search_uniform(&s);
}

static int all_differ(const struct jetwatt_row *seen, size_t k)
{
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < i; j++)
			if (!memcmp(&seen[i].mode, &seen[j].mode, sizeof(seen[i].mode)))
				return 0;
	return 1;
}

/* Return the quantity by which the plan decides to stop: the root mean square uncertainty of the
 * modes that are not in @seen. */
static double left_open(const struct jetwatt_row *row, long n, const struct jetwatt_row *seen,
			size_t k)
{
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double sum = 0;
	size_t left = 0;

	if (jetwatt_model_fit(&m, seen, k, 1))
		return NAN;
	for (long i = 0; i < n; i++) {
		size_t j = 0;

		while (j < k && memcmp(&seen[j].mode, &row[i].mode, sizeof(row[i].mode)))
			j++;
		if (j < k || jetwatt_model_predict(m, &row[i].mode, 1, &p))
			continue;
		sum += p.time_sd * p.time_sd + p.power_sd * p.power_sd;
		left++;
	}
	jetwatt_model_free(m);
	return left ? sqrt(sum / left) : 0;
}

TEST(decisions_are_deterministic)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[40], again[40];
	int err, end;
	size_t k = walk(row, n, 25, 12, seen, &end), l = walk(row, n, 25, 12, again, &err);

	ASSERT_TRUE(k == 12 || (end == 1 && k >= JETWATT_PLAN_MIN_ROWS));
	ASSERT_EQ(k, l);
	EXPECT_EQ(end, err);
	EXPECT_EQ(0, memcmp(seen, again, k * sizeof(*seen)));
	/* On this board, further measurements always promise an improvement, so the plan stops only
	 * at its limit of twelve modes. */
	ragged(row, n);
	k = walk(row, n, 25, 12, seen, &end);
	ASSERT_EQ(12, k);
	ASSERT_EQ(12, walk(row, n, 25, 12, again, &err));
	EXPECT_EQ(0, memcmp(seen, again, k * sizeof(*seen)));
	free(row);
}

/* If the predictions never reach an error of 1 %, every mode is measured, and each only once. */
TEST(no_mode_is_measured_twice)
{
	long n;
	struct jetwatt_row *row = board(&n, 700), seen[64];
	int err;
	size_t k;

	ASSERT_LT(10, n);
	ASSERT_LT(n, 64);
	ragged(row, n);
	k = walk(row, n, 0, 64, seen, &err);
	EXPECT_EQ(n, k);
	EXPECT_EQ(1, err);
	EXPECT_TRUE(all_differ(seen, k));
	free(row);
}

/* On a smooth surface, the search ends when all other modes are predicted well, and not before. */
TEST(ends_when_other_modes_are_predicted_well)
{
	long n;
	struct jetwatt_row *row = board(&n, 101), seen[192];
	double last, before;
	int err;
	size_t k;

	ASSERT_LT(n, 192);
	k = walk(row, n, 0, n, seen, &err);
	ASSERT_LT(10, k);
	ASSERT_LT(k, n);
	EXPECT_EQ(1, err);
	last = left_open(row, n, seen, k);
	before = left_open(row, n, seen, k - 1);
	TH_LOG("%zu of %ld modes: uncertainty %.2f %%, one mode earlier %.2f %%", k, n,
	       100 * last, 100 * before);
	EXPECT_LT(last, JETWATT_PLAN_SD_ENOUGH);
	EXPECT_LE(JETWATT_PLAN_SD_ENOUGH, before);
	free(row);
}

/* Rows of other devices replace the initial design, so the search begins without a row of its own. */
TEST(begins_with_rows_of_other_devices_only)
{
	struct jetwatt_estimator by = { .by = NULL };
	struct jetwatt_plan_next next = { .index = SIZE_MAX };
	long n;
	struct jetwatt_row *row = board(&n, 101);
	struct jetwatt_mode *mode = modes(row, n);

	ASSERT_EQ(0, jetwatt_estimator_add_cross_device(&by, row, (size_t)n, 1));
	EXPECT_EQ(0, jetwatt_plan_next(mode, (size_t)n, NULL, 0, &by, 0, 10, 1, &next));
	EXPECT_GT((size_t)n, next.index);
	jetwatt_estimator_forget(&by);
	free(mode);
	free(row);
}

/* Of all knobs, switching CPU cores on and off takes longest. Of several modes that are equally
 * informative, the plan chooses the nearest, so it switches fewer cores than a random order of the
 * same modes on average. */
TEST(order_of_modes_saves_core_switches)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[64];
	double on_the_way = 0, between = 0;
	size_t k, design = 12;
	int err;

	ragged(row, n);
	k = walk(row, n, 0, 64, seen, &err);
	ASSERT_EQ(64, k);
	for (size_t i = design; i < k; i++) {
		on_the_way += fabs((double)seen[i].mode.cores - seen[i - 1].mode.cores);
		for (size_t j = design; j < k; j++)
			between += fabs((double)seen[i].mode.cores - seen[j].mode.cores) /
				   (k - design - 1);
	}
	TH_LOG("%.0f cores switched on or off; in random order %.0f", on_the_way, between);
	EXPECT_LT(on_the_way, 0.8 * between);
	free(row);
}

/* A reading far below what its neighbours suggest is repeated once, even if no further mode may be
 * measured. */
TEST(outlier_is_measured_again_once)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[40];
	struct jetwatt_mode *m = modes(row, n);
	struct jetwatt_plan_next p;
	size_t k, bad = 0;
	int err;

	k = walk(row, n, 0, 30, seen, &err);
	ASSERT_EQ(30, k);
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k, NULL, 0, k, 1, &p));
	/* Falsify the power of a mode with neighbours: at the edge of the grid, no row would
	 * contradict it. */
	for (size_t i = 0; i < k; i++)
		if (fabs(seen[i].power_w - 25) < fabs(seen[bad].power_w - 25))
			bad = i;
	seen[bad].power_w *= 0.75;
	ASSERT_EQ(0, jetwatt_plan_next(m, n, seen, k, NULL, 0, k, 1, &p));
	EXPECT_EQ(0, memcmp(&m[p.index], &seen[bad].mode, sizeof(*m)));
	EXPECT_EQ(0, strncmp(p.why, "again", 5));
	EXPECT_GE(JETWATT_PLAN_WHY, strlen(p.why));
	seen[k] = row[p.index];
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k + 1, NULL, 0, k, 1, &p));
	free(m);
	free(row);
}

/* One reading within the budget that contradicts all others is not accepted before it has been
 * repeated. */
TEST(surprisingly_good_mode_is_measured_twice)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[40];
	struct jetwatt_mode *m = modes(row, n);
	struct jetwatt_plan_next p;
	double budget = 25;
	size_t k, bad = 0;
	int err;

	k = walk(row, n, 0, 30, seen, &err);
	/* Take a mode whose power is a quarter above the budget, and let its row say 0.99 of the
	 * budget. */
	for (size_t i = 0; i < k; i++)
		if (fabs(seen[i].power_w - 1.25 * budget) < fabs(seen[bad].power_w - 1.25 * budget))
			bad = i;
	ASSERT_LT(1.1 * budget, seen[bad].power_w);
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k, NULL, budget, k, 1, &p));
	seen[bad].power_w = 0.99 * budget;
	ASSERT_EQ(0, jetwatt_plan_next(m, n, seen, k, NULL, budget, k, 1, &p));
	EXPECT_EQ(0, memcmp(&m[p.index], &seen[bad].mode, sizeof(*m)));
	EXPECT_EQ(0, strncmp(p.why, "again", 5));
	EXPECT_GE(JETWATT_PLAN_WHY, strlen(p.why));
	seen[k] = row[p.index];
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k + 1, NULL, budget, k, 1, &p));
	free(m);
	free(row);
}

/* No mode of the board draws as little as the budget of 3 W: the search detects this after few
 * modes, of which one draws at most 5 % more than the lowest power. */
TEST(impossible_budget_ends_early_with_the_lowest_power)
{
	long n;
	struct jetwatt_row *row = board(&n, 13), seen[20];
	double least = INFINITY, drawn = INFINITY;
	int err;
	size_t k = walk(row, n, 3, 20, seen, &err);

	EXPECT_EQ(1, err);
	EXPECT_LT(k, 16);
	for (long i = 0; i < n; i++)
		least = fmin(least, row[i].power_w);
	for (size_t i = 0; i < k; i++)
		drawn = fmin(drawn, seen[i].power_w);
	EXPECT_LT(drawn, 1.05 * least);
	free(row);
}

/* If every mode is within the budget, the search finds a mode at most 1 % slower than the
 * fastest one. */
TEST(generous_budget_finds_the_fastest_mode)
{
	long n;
	struct jetwatt_row *row = board(&n, 13), seen[20];
	double fastest = INFINITY, found = INFINITY;
	int err;
	size_t k = walk(row, n, 500, 20, seen, &err);

	for (long i = 0; i < n; i++)
		fastest = fmin(fastest, row[i].time_ms);
	for (size_t i = 0; i < k; i++)
		found = fmin(found, seen[i].time_ms);
	EXPECT_LT(found, 1.01 * fastest);
	free(row);
}

/* The search avoids modes far over the budget: their readings are of little use, and such a mode
 * may overload a small power supply. */
TEST(modes_far_over_the_budget_are_avoided)
{
	long n;
	struct jetwatt_row *row = board(&n, 7), seen[20];
	size_t k, over = 0;
	int err;

	k = walk(row, n, 16, 20, seen, &err);
	ASSERT_LT(4, k);
	for (size_t i = 0; i < k; i++) {
		EXPECT_LT(seen[i].power_w, 2.5 * 16);
		over += seen[i].power_w > 1.2 * 16;
	}
	EXPECT_LE(over, 5);
	free(row);
}

TEST(knobs_with_a_single_level)
{
	struct jetwatt_row seen[20];
	struct jetwatt_row row[13];
	int err;
	size_t k;

	/* The GPU clock is the only knob of this board. */
	for (int i = 0; i < 13; i++) {
		struct synth w;

		synth_make(&w, 5, 0);
		row[i] = synth_row(&w, 8, 1.5, 0.1 * (i + 1), 2.133, 0.8);
		row[i].mode = (struct jetwatt_mode){ 8, 1500000, (i + 1) * 100000000ull,
						     2133000000 };
	}
	k = walk(row, 13, row[7].power_w * 1.03, 20, seen, &err);
	EXPECT_EQ(1, err);
	for (size_t i = 0; i < k; i++)
		err |= seen[i].mode.gpu_hz == row[7].mode.gpu_hz ? 2 : 0;
	EXPECT_EQ(3, err);
}

TEST_HARNESS_MAIN
