// SPDX-License-Identifier: GPL-2.0-only
/* The search for the best mode, which chooses and measures modes in turn, on simulated boards and
 * on rows of real boards. */
#include <math.h>

#include "kselftest_harness.h"
#include "../demo/optimum.c"
#include "synth.h"

#define MOST	20

struct tally {
	size_t runs, late, over, unsolved, modes;
	double sum, worst;
};

static int add(struct tally *t, const struct jetwatt_row *row, size_t n,
	       const unsigned char *outlier, double budget, double noise, uint64_t seed)
{
	static const int at[] = { MOST };
	struct search_stats st = { 0 };
	long answer, best = optimum_find(row, n, outlier, 0.98 * budget);
	double e;
	int err;

	if (best < 0)
		return 0;
	err = search_run(row, n, NULL, budget, MOST, noise, seed, at, 1, &answer, &st);
	if (err)
		return err;
	t->runs++;
	t->modes += st.modes;
	if (answer < 0) {
		t->unsolved++;
		return 0;
	}
	e = fmax(row[answer].time_ms / row[best].time_ms - 1, 0);
	t->sum += e;
	t->worst = fmax(t->worst, e);
	t->late += e > 0.05;
	t->over += row[answer].power_w > 1.02 * budget;
	return 0;
}

/* Create a simulated board and store every @thin-th row in @row. Fewer rows shorten the test to
 * seconds, also with sanitizers. */
static long thin_world(uint64_t seed, int xavier, double dirt, size_t thin,
		       struct jetwatt_row **row)
{
	struct synth w;
	long n;

	synth_make(&w, seed, xavier);
	n = synth_rows(&w, row, dirt, seed);
	for (long i = 0; i < n / (long)thin; i++)
		(*row)[i] = (*row)[i * thin];
	return n < 0 ? n : n / (long)thin;
}

/* Return the budget at the share @part of the board's power range. */
static double budget_of(const struct jetwatt_row *row, size_t n, double part)
{
	double lo = INFINITY, hi = 0;

	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, row[i].power_w);
		hi = fmax(hi, row[i].power_w);
	}
	return lo * pow(hi / lo, part);
}

/* Each test has only a few boards, because it has a time limit, also on a busy machine. */
FIXTURE(boards)
{
	struct tally t;
};

FIXTURE_VARIANT(boards)
{
	int first;
	double dirt;
};

FIXTURE_VARIANT_ADD(boards, first) { .first = 1 };
FIXTURE_VARIANT_ADD(boards, second) { .first = 5 };
FIXTURE_VARIANT_ADD(boards, third) { .first = 9 };
FIXTURE_VARIANT_ADD(boards, fourth) { .first = 13 };
FIXTURE_VARIANT_ADD(boards, first_dirty) { .first = 101, .dirt = 0.01 };
FIXTURE_VARIANT_ADD(boards, second_dirty) { .first = 105, .dirt = 0.01 };
FIXTURE_VARIANT_ADD(boards, third_dirty) { .first = 109, .dirt = 0.01 };

FIXTURE_SETUP(boards)
{
	self->t = (struct tally){ 0 };
}

FIXTURE_TEARDOWN(boards)
{
}

/* Mark the true outliers by comparison with the board without outliers, because a thinned grid
 * has too few neighbours to detect them. */
static void mark_outliers(const struct synth *w, const struct jetwatt_row *row, long n,
			  unsigned char *outlier)
{
	for (long i = 0; i < n; i++) {
		const struct jetwatt_mode *m = &row[i].mode;
		double eff = 1;

		for (int e = 0; e < w->emcs; e++)
			if (synth_emc(w, e) * 1e9 + 0.5 >= m->emc_hz) {
				eff = w->emc_eff[e];
				break;
			}
		outlier[i] = row[i].power_w < 0.93 * synth_row(w, m->cores, m->cpu_khz / 1e6,
							     m->gpu_hz / 1e9, m->emc_hz / 1e9,
							     eff).power_w;
	}
}

TEST_F(boards, best_mode_after_twenty_readings)
{
	struct tally *t = &self->t;
	int dirt = variant->dirt > 0;

	for (int seed = variant->first; seed < variant->first + 4; seed++) {
		struct jetwatt_row *row;
		long n = thin_world(seed, seed % 4 == 0, variant->dirt, 11, &row);
		unsigned char *outlier;
		struct synth w;

		ASSERT_LT(0, n);
		outlier = calloc(n, 1);
		ASSERT_NE(NULL, outlier);
		synth_make(&w, seed, seed % 4 == 0);
		if (dirt)
			mark_outliers(&w, row, n, outlier);
		for (int third = 1; third <= 2; third++)
			ASSERT_EQ(0, add(t, row, n, outlier, budget_of(row, n, third / 3.0),
					 dirt ? 0.003 : 0.01, seed));
		free(outlier);
		free(row);
	}
	TH_LOG("%zu runs, %.1f modes each: mean excess time %.2f %%, worst %.2f %%, over 5 %%: %zu",
	       t->runs, (double)t->modes / t->runs, 100 * t->sum / t->runs, 100 * t->worst,
	       t->late);
	EXPECT_EQ(8, t->runs);
	EXPECT_EQ(0, t->unsolved);
	EXPECT_EQ(0, t->over);
	EXPECT_LE(t->late, dirt);
	EXPECT_LT(t->sum / t->runs, dirt ? 0.025 : 0.01);
}

FIXTURE(measured)
{
	struct tally t;
};

FIXTURE_VARIANT(measured)
{
	const char *file;
};

FIXTURE_VARIANT_ADD(measured, resnet18) { .file = "orin-agx-resnet18-train.csv" };
FIXTURE_VARIANT_ADD(measured, mobilenetv3) { .file = "orin-agx-mobilenetv3-train.csv" };
FIXTURE_VARIANT_ADD(measured, lstm) { .file = "orin-agx-lstm-train.csv" };

FIXTURE_SETUP(measured)
{
	self->t = (struct tally){ 0 };
}

FIXTURE_TEARDOWN(measured)
{
}

TEST_F(measured, best_mode_after_twenty_readings)
{
	const char *dir = getenv("JETWATT_SHARED_DATA");
	struct jetwatt_row *row = NULL;
	struct tally *t = &self->t;
	unsigned char *outlier;
	char path[512];
	long n;

	if (!dir || access(dir, R_OK))
		SKIP(return, "JETWATT_SHARED_DATA names no readable directory");
	snprintf(path, sizeof(path), "%s/%s", dir, variant->file);
	n = search_read(path, &row);
	ASSERT_LT(0, n);
	outlier = calloc(n, 1);
	ASSERT_NE(NULL, outlier);
	ASSERT_LE(0, optimum_outliers(row, n, outlier));
	/* Of large files, only every fifth row is used. The rows are sorted by knob, and no knob
	 * has a number of levels that is divisible by five, so every level of every knob is still
	 * used. */
	for (long i = 0; n > 1000 && i < n / 5; i++) {
		row[i] = row[5 * i];
		outlier[i] = outlier[5 * i];
	}
	n = n > 1000 ? n / 5 : n;
	for (double b = 20; b <= 40; b += 5)
		for (int seed = 1; seed <= 2; seed++)
			ASSERT_EQ(0, add(t, row, n, outlier, b, seed == 1 ? 0.003 : 0.01, seed));
	TH_LOG("%s: %zu runs, %.1f modes each: mean excess %.2f %%, worst %.2f %%", variant->file,
	       t->runs, (double)t->modes / t->runs, 100 * t->sum / t->runs, 100 * t->worst);
	EXPECT_EQ(10, t->runs);
	EXPECT_EQ(0, t->unsolved);
	EXPECT_EQ(0, t->over);
	EXPECT_EQ(0, t->late);
	EXPECT_LT(t->sum / t->runs, 0.02);
	free(outlier);
	free(row);
}

TEST_HARNESS_MAIN
