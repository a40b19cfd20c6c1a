// SPDX-License-Identifier: GPL-2.0-only
/* The last drift among the rows of a workload. */
#include "kselftest_harness.h"
#include "plan/drift.h"

static struct jetwatt_row row(uint64_t gpu_hz, double time_ms, double sd, uint32_t batch)
{
	return (struct jetwatt_row){ .mode = { .cores = 4, .cpu_khz = 1500000, .gpu_hz = gpu_hz, .emc_hz = 2133000000 },
				     .time_ms = time_ms, .power_w = 20, .time_sd = sd, .power_sd = sd, .batch = batch };
}

#define A	500000000
#define B	900000000
#define SD	0.005

TEST(rows_since_the_last_drift)
{
	const struct jetwatt_row rows[] = {
		row(A, 100, SD, 0), row(B, 60, SD, 0),		/* as the job was */
		row(A, 150, SD, 0), row(B, 90, SD, 0),		/* drift */
		row(A, 151, SD, 0), row(B, 45, SD, 0), row(A, 75, SD, 0),	/* drift */
	};
	size_t earlier = 9;

	EXPECT_EQ(5, jetwatt_rows_find_drift(rows, 7, &earlier));
	EXPECT_EQ(2, earlier);
	EXPECT_EQ(2, jetwatt_rows_find_drift(rows, 5, &earlier));
	EXPECT_EQ(0, earlier);
	/* A single row that differs may be a wrong reading. */
	EXPECT_EQ(0, jetwatt_rows_find_drift(rows, 3, NULL));
	EXPECT_EQ(0, jetwatt_rows_find_drift(rows, 0, NULL));
}

/* Rows with different minibatch sizes differ without a drift. */
TEST(rows_of_other_minibatch_sizes_are_not_compared)
{
	const struct jetwatt_row rows[] = {
		row(A, 100, SD, 16), row(B, 60, SD, 16), row(A, 190, SD, 32), row(B, 110, SD, 32),
		row(A, 370, SD, 64), row(B, 210, SD, 64),
	};

	EXPECT_EQ(0, jetwatt_rows_find_drift(rows, 6, NULL));
	EXPECT_EQ(2, jetwatt_rows_last_like(rows, 0, 6, &rows[2]));
	EXPECT_EQ(-1, jetwatt_rows_last_like(rows, 0, 2, &rows[2]));
}

/* Imported rows often have no errors. They differ by more than the errors that are known. */
TEST(rows_without_errors_may_scatter)
{
	struct jetwatt_row rows[] = { row(A, 100, 0, 0), row(B, 60, 0, 0), row(A, 107, 0, 0), row(B, 63.5, 0, 0) };

	EXPECT_EQ(0, jetwatt_rows_find_drift(rows, 4, NULL));
	for (int i = 0; i < 4; i++)
		rows[i].time_sd = SD;
	EXPECT_EQ(2, jetwatt_rows_find_drift(rows, 4, NULL));
	for (int i = 0; i < 4; i++)
		rows[i].time_sd = 0;
	rows[2].time_ms = 140;
	rows[3].time_ms = 84;
	EXPECT_EQ(2, jetwatt_rows_find_drift(rows, 4, NULL));
}

TEST(rows_without_a_time_are_ignored)
{
	struct jetwatt_row rows[] = { row(A, 100, SD, 0), row(B, 60, SD, 0), row(A, 150, JETWATT_ROW_NO_TIME, 0),
				      row(B, 90, JETWATT_ROW_NO_TIME, 0) };

	EXPECT_EQ(0, jetwatt_rows_find_drift(rows, 4, NULL));
	EXPECT_EQ(0, jetwatt_rows_last_like(rows, 0, 4, &rows[0]));
}

TEST_HARNESS_MAIN
