// SPDX-License-Identifier: GPL-2.0-only
/* One decision at a time: refusals, determinism, odd boards, hopeless budgets. */
#include <math.h>

#include "kselftest_harness.h"
#include "plan/plan.h"
#include "world.h"

static struct jetwatt_row *board(long *n, size_t thin)
{
	struct jetwatt_row *row;
	struct world w;

	world_make(&w, 3, 0);
	*n = world_rows(&w, &row, 0, 3);
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

/* Measures without noise until told to stop. Return: modes measured. */
static size_t walk(const struct jetwatt_row *row, long n, double budget, size_t most,
		   struct jetwatt_row *seen, int *err)
{
	struct jetwatt_mode *m = modes(row, n);
	struct jetwatt_plan_next p;
	size_t k = 0;

	while (k < most) {
		*err = jetwatt_plan_next(m, n, seen, k, budget, most, 1, &p);
		if (*err || p.index >= (size_t)n || !p.why)
			break;
		seen[k++] = row[p.index];
	}
	free(m);
	return k;
}

TEST(refuses_nonsense)
{
	struct jetwatt_mode m[2] = { { 4, 1000000, 500000000, 2133000000 },
				     { 8, 1000000, 500000000, 2133000000 } };
	struct jetwatt_row r = { m[0], NAN, 20, 0, 0 };
	struct jetwatt_plan_next p;

	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 0, NULL, 0, 20, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, NAN, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, -3, 20, 1, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, &r, 1, 20, 20, 1, &p));
	m[1].gpu_hz = 0;
	EXPECT_EQ(-EINVAL, jetwatt_plan_next(m, 2, NULL, 0, 20, 20, 1, &p));
}

TEST(stops_when_all_is_spent_or_seen)
{
	struct jetwatt_mode m = { 4, 1000000, 500000000, 2133000000 };
	struct jetwatt_row r = { m, 100, 20, 0, 0 };
	struct jetwatt_plan_next p;

	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, NULL, 0, 30, 0, 1, &p));
	EXPECT_EQ(0, jetwatt_plan_next(&m, 1, NULL, 0, 30, 20, 1, &p));
	EXPECT_EQ(0, p.index);
	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, &r, 1, 30, 20, 1, &p));
	EXPECT_EQ(1, jetwatt_plan_next(&m, 1, &r, 1, 0, 20, 1, &p));
}

TEST(same_question_same_answer)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[40], again[40];
	int err;
	size_t k = walk(row, n, 25, 12, seen, &err), l = walk(row, n, 25, 12, again, &err);

	ASSERT_LE(10, k);
	ASSERT_EQ(k, l);
	EXPECT_EQ(0, memcmp(seen, again, k * sizeof(*seen)));
	free(row);
}

TEST(never_the_same_mode_twice)
{
	long n;
	struct jetwatt_row *row = board(&n, 700), seen[64];
	int err;
	size_t k = walk(row, n, 0, 64, seen, &err);

	ASSERT_LT(10, n);
	ASSERT_LT(n, 64);
	/* It ends: all are measured, or what is left is known well enough. */
	EXPECT_LT(10, k);
	EXPECT_LE(k, n);
	EXPECT_EQ(1, err);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < i; j++)
			EXPECT_NE(0, memcmp(&seen[i].mode, &seen[j].mode, sizeof(seen[i].mode)));
	free(row);
}

/* A reading far below all others is asked for again, once, even where no further
 * mode may be measured; then the plan goes on. */
TEST(a_disturbed_reading_is_seen_again)
{
	long n;
	struct jetwatt_row *row = board(&n, 29), seen[40];
	struct jetwatt_mode *m = modes(row, n);
	struct jetwatt_plan_next p;
	size_t k, bad = 0;
	int err;

	k = walk(row, n, 0, 30, seen, &err);
	ASSERT_EQ(30, k);
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k, 0, k, 1, &p));
	/* One that has neighbours: at the edge nothing speaks against it. */
	for (size_t i = 0; i < k; i++)
		if (fabs(seen[i].power_w - 25) < fabs(seen[bad].power_w - 25))
			bad = i;
	seen[bad].power_w *= 0.75;
	ASSERT_EQ(0, jetwatt_plan_next(m, n, seen, k, 0, k, 1, &p));
	EXPECT_EQ(0, memcmp(&m[p.index], &seen[bad].mode, sizeof(*m)));
	EXPECT_EQ(0, strncmp(p.why, "again", 5));
	seen[k] = row[p.index];
	EXPECT_EQ(1, jetwatt_plan_next(m, n, seen, k + 1, 0, k, 1, &p));
	free(m);
	free(row);
}

/* No mode draws as little as 3 W: the search must find that out with few
 * modes, and the last it asks for is close to the least there is. */
TEST(hopeless_budget_ends_early_with_the_closest)
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

/* Where every mode is under the budget the fastest one is the answer. */
TEST(generous_budget_finds_the_fastest)
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

/* Far over the budget teaches little and may trip a small supply. */
TEST(is_careful)
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

TEST(one_step_per_knob)
{
	struct jetwatt_row seen[20];
	struct jetwatt_row row[13];
	int err;
	size_t k;

	/* A board that only has its GPU clock to turn. */
	for (int i = 0; i < 13; i++) {
		struct world w;

		world_make(&w, 5, 0);
		row[i] = world_row(&w, 8, 1.5, 0.1 * (i + 1), 2.133, 0.8);
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
