// SPDX-License-Identifier: GPL-2.0-only
/* Detection of outlier rows, compared with the rule that the demo's report uses; and linear
 * regression. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "../demo/optimum.c"
#include "model/outlier.h"
#include "model/linreg.h"
#include "synth.h"

static void compare(struct __test_metadata *_metadata, const struct jetwatt_row *row, long n,
		    long want)
{
	unsigned char *a = malloc(n), *b = malloc(n);
	long count;

	ASSERT_TRUE(a && b);
	count = jetwatt_outlier_mark(row, n, a);
	EXPECT_EQ(optimum_outliers(row, n, b), count);
	EXPECT_EQ(0, memcmp(a, b, n));
	if (want >= 0)
		EXPECT_EQ(want, count);
	free(a);
	free(b);
}

TEST(outliers_agree_with_the_reference_rule)
{
	for (int seed = 1; seed <= 4; seed++) {
		struct jetwatt_row *row;
		struct synth w;
		long n;

		synth_make(&w, seed, 0);
		n = synth_rows(&w, &row, 0.01, seed);
		ASSERT_LT(0, n);
		compare(_metadata, row, n / 7, -1);
		free(row);
	}
}

static int is_below(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return a->cores <= b->cores && a->cpu_khz <= b->cpu_khz && a->gpu_hz <= b->gpu_hz &&
	       a->emc_hz <= b->emc_hz;
}

/* A row at a corner of the grid has no two neighbours in any knob: all estimates of its power are
 * extrapolated. */
TEST(outliers_at_corners_are_found)
{
	struct jetwatt_row *row;
	unsigned char *outlier;
	size_t corner[2] = { 0, 0 };
	struct synth w;
	long n, before;

	synth_make(&w, 2, 0);
	n = synth_rows(&w, &row, 0.01, 2);
	outlier = malloc(n);
	ASSERT_TRUE(n > 0 && outlier);
	for (long i = 1; i < n; i++) {
		corner[0] = is_below(&row[i].mode, &row[corner[0]].mode) ? i : corner[0];
		corner[1] = is_below(&row[corner[1]].mode, &row[i].mode) ? i : corner[1];
	}
	before = jetwatt_outlier_mark(row, n, outlier);
	EXPECT_EQ(0, outlier[corner[0]]);
	EXPECT_EQ(0, outlier[corner[1]]);
	for (int k = 0; k < 2; k++) {
		double was = row[corner[k]].power_w;

		row[corner[k]].power_w = 0.35 * was;
		compare(_metadata, row, n, -1);
		EXPECT_LT(before, jetwatt_outlier_mark(row, n, outlier));
		EXPECT_EQ(1, outlier[corner[k]]);
		row[corner[k]].power_w = was;
	}
	free(outlier);
	free(row);
}

/* A grid of 3 x 3 x 6 x 3 modes whose power rises with each knob, at @sizes minibatch sizes. Return:
 * number of rows. */
static size_t small_grid(struct jetwatt_row *row, int sizes)
{
	size_t n = 0;

	for (int b = 0; b < sizes; b++)
		for (int i = 0; i < 3 * 3 * 6 * 3; i++) {
			int c = 1 + i % 3, u = 1 + i / 3 % 3, g = 1 + i / 9 % 6, e = 1 + i / 54;
			double load = 1 - 0.5 / (1 << 2 * b);

			row[n++] = (struct jetwatt_row){
				.mode = { 4 * c, 600000 * u, 200000000ull * g, 1000000000ull * e },
				.batch = sizes > 1 ? 1 << 2 * b : 0, .time_ms = 100,
				.power_w = 6 + load * (0.5 * c * u + 2 * g + 1.5 * e) };
		}
	return n;
}

static struct jetwatt_row *small_row(struct jetwatt_row *row, size_t n, int c, int u, int g, int e,
				     uint32_t batch)
{
	struct jetwatt_mode m = { 4 * c, 600000 * u, 200000000ull * g, 1000000000ull * e };

	for (size_t i = 0; i < n; i++)
		if (jetwatt_mode_same(&row[i].mode, &m) && row[i].batch == batch)
			return &row[i];
	return NULL;
}

/* Outliers come in runs. Here all rows of an edge of the grid but one are 40 % too low: in the only
 * knob in which a row of the edge has both neighbours, these are too low, too. */
TEST(run_of_outliers_along_an_edge)
{
	struct jetwatt_row row[162];
	unsigned char outlier[162];
	size_t n = small_grid(row, 1);

	ASSERT_EQ(0, jetwatt_outlier_mark(row, n, outlier));
	for (int g = 2; g <= 6; g++)
		small_row(row, n, 3, 3, g, 3, 0)->power_w *= 0.6;
	compare(_metadata, row, n, 5);
	jetwatt_outlier_mark(row, n, outlier);
	for (int g = 1; g <= 6; g++)
		EXPECT_EQ(g > 1, outlier[small_row(row, n, 3, 3, g, 3, 0) - row]);
}

/* At one minibatch size, the power is 40 % too low at the highest number of cores and EMC level,
 * for every CPU clock and the upper half of the GPU clocks. The other sizes show it. */
TEST(outliers_at_one_minibatch_size)
{
	struct jetwatt_row row[4 * 162];
	unsigned char outlier[4 * 162];
	size_t n = small_grid(row, 4), at;

	ASSERT_EQ(0, jetwatt_outlier_mark(row, n, outlier));
	for (int u = 1; u <= 3; u++)
		for (int g = 4; g <= 6; g++)
			small_row(row, n, 3, u, g, 3, 16)->power_w *= 0.6;
	at = small_row(row, n, 3, 3, 6, 3, 16) - row;
	jetwatt_outlier_mark(row, n, outlier);
	EXPECT_EQ(1, outlier[at]);
	/* Without the other sizes, half of the estimates are too low. */
	for (size_t i = 0; i < n; i++)
		if (row[i].batch != 16)
			row[i] = row[at];
	jetwatt_outlier_mark(row, n, outlier);
	EXPECT_EQ(0, outlier[at]);
}

TEST(outliers_of_measured_boards_are_found)
{
	static const struct { const char *name; long outlier; } known[] = {
		{ "orin-agx-resnet18-train", 67 }, { "orin-agx-mobilenetv3-train", 30 },
		{ "orin-agx-lstm-train", 3 }, { "orin-nano-resnet18-train", 6 },
	};
	const char *dir = getenv("JETWATT_SHARED_DATA");
	char path[512];

	if (!dir || !*dir)
		SKIP(return, "no measured boards");
	for (int i = 0; i < 4; i++) {
		struct jetwatt_row *row = NULL;
		long n;

		snprintf(path, sizeof(path), "%s/%s.csv", dir, known[i].name);
		n = search_read(path, &row);
		if (n < 0)
			SKIP(return, "no measured boards");
		compare(_metadata, row, n, known[i].outlier);
		free(row);
	}
}

/* If time and energy per minibatch are linear in the knobs, linear regression predicts time and
 * power. */
TEST(linear_regression_fits_a_plane_exactly)
{
	struct jetwatt_row row[16];
	struct jetwatt_mode most = { 16, 2000000, 1000000000, 3000000000 };
	struct jetwatt_prediction p;
	struct jetwatt_linreg l;

	for (int i = 0; i < 16; i++) {
		struct jetwatt_row *r = &row[i];

		r->mode = (struct jetwatt_mode){ 1 + i, 500000 + 100000 * (i * 7 % 16),
						 100000000 + 50000000 * (i * 5 % 16),
						 200000000 + 170000000ull * (i * 11 % 16) };
		r->time_ms = 400 - 5.0 * r->mode.cores - 4e-5 * r->mode.cpu_khz -
			     1e-7 * r->mode.gpu_hz - 2e-8 * r->mode.emc_hz;
		r->power_w = (5000 + 100.0 * r->mode.cores + 2e-6 * r->mode.gpu_hz) / r->time_ms;
	}
	ASSERT_EQ(0, jetwatt_linreg_fit(&l, row, 12, &most));
	for (int i = 12; i < 16; i++) {
		jetwatt_linreg_predict(&l, &row[i].mode, 1, &p);
		EXPECT_LT(fabs(p.time_ms / row[i].time_ms - 1), 1e-3);
		EXPECT_LT(fabs(p.power_w / row[i].power_w - 1), 1e-3);
	}
}

TEST(linear_regression_measures_the_modes_of_the_paper)
{
	static const struct jetwatt_mode mode[] = {
		{ 8, 2265600, 1377000000, 2133000000 }, { 8, 2265600, 1377000000, 1600000000 },
		{ 8, 2265600, 1377000000, 1331200000 }, { 2, 2100000, 900000000, 1600000000 },
		{ 8, 2100000, 900000000, 1600000000 }, { 2, 1190400, 520000000, 665600000 },
	};
	size_t at[JETWATT_LINREG_MODES];

	ASSERT_EQ(4, jetwatt_linreg_modes(mode, 6, at));
	EXPECT_EQ(4, at[0]);
	EXPECT_EQ(3, at[1]);
	EXPECT_EQ(2, at[2]);
	EXPECT_EQ(1, at[3]);
	EXPECT_EQ(1, jetwatt_linreg_modes(mode, 1, at));
}

TEST_HARNESS_MAIN
