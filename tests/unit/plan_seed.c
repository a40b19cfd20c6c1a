// SPDX-License-Identifier: GPL-2.0-only
/* The first job of a board: after the same number of measured modes, the search has found a faster mode
 * with the calibration kernels of jetwatt profile --seed-board in the database than without them, and
 * without them a faster one with particles (model/particles.h). */
#include "kselftest_harness.h"
#include "synth.h"

#define KERNELS	4
#define MODES	12	/* measured modes of a kernel */
#define NOISE	0.01
/* Every THINth mode is used, or every THIN_FEW-th: a test has a time limit, also on a busy machine. */
#define THIN		23
#define THIN_FEW	6

/* Work of the calibration kernels, in the units of struct synth: ms at 1 GHz, and at the full
 * memory bandwidth. */
static void make_kernel(struct synth *w, int kernel)
{
	static const struct { double flop, bytes, launch; } work[KERNELS] = {
		{ 20, 1, 0.1 }, { 0.5, 20, 0.1 }, { 13, 9, 0.2 }, { 5, 1, 20 },
	};

	memset(w->flop, 0, sizeof(w->flop));
	memset(w->bytes, 0, sizeof(w->bytes));
	memset(w->launch, 0, sizeof(w->launch));
	w->flop[0] = work[kernel].flop;
	w->bytes[0] = work[kernel].bytes;
	w->launch[0] = work[kernel].launch;
	w->workers = 0;
	w->item_cycles = w->item_bytes = 0;
	w->fixed = w->serial = 0.2;
}

/* Store every @thin-th mode of the board in @row. Return: number of modes. */
static size_t rows_of(const struct synth *w, struct jetwatt_row **row, int thin)
{
	long n = synth_rows(w, row, 0, 1) / thin;

	for (long i = 0; i < n; i++)
		(*row)[i] = (*row)[thin * i];
	return n > 0 ? (size_t)n : 0;
}

static struct jetwatt_mode *modes_of(const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_mode *mode = calloc(n, sizeof(*mode));

	for (size_t i = 0; mode && i < n; i++)
		mode[i] = row[i].mode;
	return mode;
}

/* Measure a kernel in the modes that the plan chooses. Return: number of rows in @out, which has
 * space for 2 * MODES. */
static size_t profile(const struct synth *board, int kernel, struct jetwatt_row *out)
{
	struct synth w = *board;
	struct jetwatt_plan_next next;
	struct jetwatt_mode *mode;
	struct jetwatt_row *row;
	uint64_t rng = 5;
	size_t n, k = 0;

	make_kernel(&w, kernel);
	n = rows_of(&w, &row, THIN);
	mode = modes_of(row, n);
	while (mode && k < 2 * MODES &&
	       !jetwatt_plan_next(mode, n, out, k, NULL, 0, MODES, 1, &next))
		out[k++] = search_measure(&row[next.index], NOISE, &rng);
	free(mode);
	free(row);
	return k;
}

/* Excess in time over the optimum, summed over budgets, after 4 and after 8 modes. */
static int add_excess(const struct jetwatt_row *row, size_t n, const struct jetwatt_estimator *by,
		      double sum[2])
{
	static const int at[] = { 4, 8 };
	double lo = INFINITY, hi = 0;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, row[i].power_w);
		hi = fmax(hi, row[i].power_w);
	}
	for (int b = 1; b < 4 && !err; b++) {
		double budget = lo * pow(hi / lo, b / 4.0), best = INFINITY;
		struct search_stats st = { 0 };
		long answer[2];

		for (size_t i = 0; i < n; i++)
			if (row[i].power_w <= 0.98 * budget)
				best = fmin(best, row[i].time_ms);
		err = search_run(row, n, by, budget, 8, NOISE, 1, at, 2, answer, &st);
		/* A search without an answer counts as half the speed. */
		for (int k = 0; k < 2 && !err; k++)
			sum[k] += answer[k] < 0 ? 1 : fmax(row[answer[k]].time_ms / best - 1, 0);
	}
	return err;
}

TEST(kernels_shorten_the_search_for_the_first_job)
{
	double without[2] = { 0 }, with[2] = { 0 };
	int runs = 0;

	for (int kind = SYNTH_ORIN; kind <= SYNTH_NANO; kind++)
		for (int seed = 1; seed <= 2; seed++) {
			struct jetwatt_row kernel[KERNELS][2 * MODES], *row;
			struct jetwatt_corpus c[KERNELS];
			struct jetwatt_estimator by = { 0 };
			struct synth w;
			size_t n;

			synth_make(&w, (uint64_t)seed, kind);
			n = rows_of(&w, &row, THIN);
			ASSERT_LT(0, n);
			for (int k = 0; k < KERNELS; k++)
				c[k] = (struct jetwatt_corpus){ kernel[k], NULL, profile(&w, k, kernel[k]) };
			ASSERT_EQ(0, jetwatt_estimator_learn(&by, c, KERNELS, 1));
			ASSERT_EQ(0, add_excess(row, n, NULL, without));
			ASSERT_EQ(0, add_excess(row, n, &by, with));
			jetwatt_estimator_forget(&by);
			free(row);
			runs += 3;
		}
	TH_LOG("%d searches; excess in time after 4 modes: %.2f %%, without kernels %.2f %%; after 8 modes: %.2f %%, without %.2f %%",
	       runs, 100 * with[0] / runs, 100 * without[0] / runs, 100 * with[1] / runs, 100 * without[1] / runs);
	EXPECT_LT(with[0], 0.5 * without[0]);
	EXPECT_LT(with[1], without[1]);
}

TEST(particles_shorten_the_search_for_the_first_job)
{
	static const struct jetwatt_estimator by = { .particles = 1 };
	double without[2] = { 0 }, with[2] = { 0 };
	int runs = 0;

	for (int kind = SYNTH_ORIN; kind <= SYNTH_NANO; kind++)
		for (int seed = 1; seed <= 5; seed++) {
			struct jetwatt_row *row;
			struct synth w;
			size_t n;

			synth_make(&w, (uint64_t)seed, kind);
			n = rows_of(&w, &row, THIN_FEW);
			ASSERT_LT(0, n);
			ASSERT_EQ(0, add_excess(row, n, NULL, without));
			ASSERT_EQ(0, add_excess(row, n, &by, with));
			free(row);
			runs += 3;
		}
	TH_LOG("%d searches; excess in time after 4 modes: %.2f %%, without particles %.2f %%; after 8 modes: %.2f %%, without %.2f %%",
	       runs, 100 * with[0] / runs, 100 * without[0] / runs, 100 * with[1] / runs, 100 * without[1] / runs);
	EXPECT_LT(with[0], 0.7 * without[0]);
	EXPECT_LT(with[1], without[1]);
}

TEST_HARNESS_MAIN
