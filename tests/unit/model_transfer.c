// SPDX-License-Identifier: GPL-2.0-only
/* Transfer from other workloads of the same board, whose times and powers are combined as a
 * weighted sum: predictions after the first measured modes, and references that must be ignored. */
#include <math.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "model/estimator.h"
#include "plan/plan.h"
#include "synth.h"

#define REFS	3
#define ROWS	60
#define SEEDS	4
/* Number of modes that the tests use, of the thousands that the board has. */
#define MODES	400
#define FEW	2

/* Create the rows of workload @which on a board; workloads differ in the amount of each kind of
 * work. */
static long workload(const struct synth *board, int which, uint64_t seed, struct jetwatt_row **row)
{
	struct synth w = *board;

	for (int k = 0; k < SYNTH_KERNELS; k++) {
		w.flop[k] *= 0.6 + 0.35 * ((k + which) % 4);
		w.bytes[k] *= 0.7 + 0.3 * ((k * 2 + which) % 3);
	}
	return synth_rows(&w, row, 0, seed);
}

/* Copy @most rows, evenly spread over all @n rows, to the front. Return: number of rows copied. */
static size_t thin(struct jetwatt_row *row, long n, long most)
{
	long step = n / most;

	for (long i = 0; i < most; i++)
		row[i] = row[i * step + i * 7 % step];
	return (size_t)most;
}

/* Assign the modes of a reference's rows at random, so that the reference resembles no real
 * workload. */
static void shuffle(struct jetwatt_row *row, size_t n)
{
	uint64_t rng = 17;

	for (size_t i = n; i-- > 1;) {
		size_t j = (size_t)(search_uniform(&rng) * (double)(i + 1));
		struct jetwatt_mode m = row[i].mode;

		row[i].mode = row[j].mode;
		row[j].mode = m;
	}
}

/* struct job - a new workload on a board (@row, @mode) and other workloads of the board as
 * references (@ref) */
struct job {
	struct jetwatt_row *row, *ref[REFS];
	struct jetwatt_mode *mode;
	long n;
	struct jetwatt_estimator by;
};

static int job_open(struct job *j, uint64_t seed, int misled)
{
	struct jetwatt_corpus c[REFS];
	struct synth w;

	*j = (struct job){ .n = 0 };
	synth_make(&w, seed, SYNTH_ORIN);
	j->n = workload(&w, 7, seed, &j->row);
	if (j->n < 0)
		return -1;
	j->n = (long)thin(j->row, j->n, MODES);
	for (int i = 0; i < REFS; i++) {
		long n = workload(&w, i, seed + 1 + (uint64_t)i, &j->ref[i]);

		if (n < 0)
			return -1;
		if (misled)
			shuffle(j->ref[i], (size_t)n);
		c[i] = (struct jetwatt_corpus){ j->ref[i], NULL, thin(j->ref[i], n, ROWS) };
	}
	j->mode = malloc((size_t)j->n * sizeof(*j->mode));
	for (long i = 0; j->mode && i < j->n; i++)
		j->mode[i] = j->row[i].mode;
	return j->mode ? jetwatt_estimator_learn(&j->by, c, REFS, 1) : -1;
}

static void job_close(struct job *j)
{
	jetwatt_estimator_forget(&j->by);
	for (int i = 0; i < REFS; i++)
		free(j->ref[i]);
	free(j->mode);
	free(j->row);
}

/* Add the mean relative errors of a model with @n known rows to *@time and *@power. A constant
 * factor in all predicted times does not count as error. */
static int errors(struct job *j, size_t n, double *time, double *power)
{
	struct jetwatt_prediction *p = malloc((size_t)j->n * sizeof(*p));
	struct jetwatt_row few[FEW + 1];
	struct jetwatt_fitted *f;
	double level = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		few[i] = j->row[(2 * (long)i + 1) * j->n / (2 * FEW) + 3];
	err = p ? jetwatt_estimator_fit(&f, &j->by, few, n, 0, 1) : -1;
	if (err)
		return err;
	err = jetwatt_fitted_predict(f, j->mode, NULL, (size_t)j->n, p);
	for (long i = 0; i < j->n; i++)
		level += log(p[i].time_ms / j->row[i].time_ms) / (double)j->n;
	for (long i = 0; i < j->n; i++) {
		*time += fabs(log(p[i].time_ms / j->row[i].time_ms) - level) / (double)j->n;
		*power += fabs(log(p[i].power_w / j->row[i].power_w)) / (double)j->n;
	}
	jetwatt_fitted_free(f);
	free(p);
	return err;
}

TEST(first_modes_are_predicted)
{
	double time[FEW + 1] = { 0 }, power[FEW + 1] = { 0 }, alone[2] = { 0 };

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct job j, none;

		ASSERT_EQ(0, job_open(&j, 701 + 10 * seed, 0));
		EXPECT_TRUE(jetwatt_estimator_references_cover(&j.by, j.mode, (size_t)j.n));
		for (size_t n = 0; n <= FEW; n += FEW)
			ASSERT_EQ(0, errors(&j, n, &time[n], &power[n]));
		none = j;
		none.by = (struct jetwatt_estimator){ NULL };
		ASSERT_EQ(0, errors(&none, FEW, &alone[0], &alone[1]));
		job_close(&j);
	}
	TH_LOG("time %.1f %% with no row, %.1f %% with %d, alone %.1f %%; power %.1f, %.1f, alone %.1f",
	       100 * time[0] / SEEDS, 100 * time[FEW] / SEEDS, FEW, 100 * alone[0] / SEEDS,
	       100 * power[0] / SEEDS, 100 * power[FEW] / SEEDS, 100 * alone[1] / SEEDS);
	EXPECT_LT(time[0], 0.8 * alone[0]);
	EXPECT_LT(time[FEW], 0.6 * alone[0]);
	EXPECT_LT(power[FEW], 0.7 * alone[1]);
}

/* Run a search of @most modes. Return: by what share the fastest measured mode within @budget is
 * slower than the fastest of all modes within @budget. @worst: raised to the highest measured power, as a
 * share of @budget. */
static double searched(struct job *j, double budget, size_t most, double *worst)
{
	struct jetwatt_row got[16];
	struct jetwatt_plan_next next;
	double best = INFINITY, top = INFINITY;
	size_t n = 0;

	while (n < most && !jetwatt_plan_next(j->mode, (size_t)j->n, got, n, &j->by, budget, most, 1, &next)) {
		got[n++] = j->row[next.index];
		*worst = fmax(*worst, j->row[next.index].power_w / budget);
		if (got[n - 1].power_w <= budget)
			best = fmin(best, got[n - 1].time_ms);
	}
	for (long i = 0; i < j->n; i++)
		if (j->row[i].power_w <= budget)
			top = fmin(top, j->row[i].time_ms);
	return best / top - 1;
}

TEST(search_needs_fewer_modes)
{
	double with = 0, alone = 0, worst = 0, other = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct job j, none;

		ASSERT_EQ(0, job_open(&j, 701 + 10 * seed, 0));
		none = j;
		none.by = (struct jetwatt_estimator){ NULL };
		for (double budget = 16; budget < 45; budget += 9) {
			with += fmin(searched(&j, budget, 4, &worst), 1) / (SEEDS * 4);
			alone += fmin(searched(&none, budget, 6, &other), 1) / (SEEDS * 4);
		}
		job_close(&j);
	}
	TH_LOG("four modes with references: %.1f %% slower than the best, at most %.2f of the budget; six without: %.1f %%, %.2f",
	       100 * with, worst, 100 * alone, other);
	EXPECT_LT(with, alone);
	EXPECT_LT(with, 0.12);
	EXPECT_LT(worst, 1.5);
}

TEST(misleading_references_are_ignored)
{
	struct job j;
	double time = 0, power = 0, alone[2] = { 0 };

	ASSERT_EQ(0, job_open(&j, 701, 1));
	EXPECT_FALSE(jetwatt_estimator_references_cover(&j.by, j.mode, (size_t)j.n));
	ASSERT_EQ(0, errors(&j, FEW, &time, &power));
	jetwatt_estimator_forget(&j.by);
	ASSERT_EQ(0, errors(&j, FEW, &alone[0], &alone[1]));
	EXPECT_EQ(alone[0], time);
	EXPECT_EQ(alone[1], power);
	job_close(&j);
}

/* References of another board, whose knobs have other ranges, must not be used to predict the first
 * mode. */
TEST(references_of_another_board_are_ignored)
{
	struct jetwatt_corpus c;
	struct jetwatt_row *row;
	struct synth w;
	struct job j;
	long n;

	ASSERT_EQ(0, job_open(&j, 701, 0));
	synth_make(&w, 99, SYNTH_NANO);
	n = workload(&w, 5, 99, &row);
	ASSERT_LT(0, n);
	c = (struct jetwatt_corpus){ row, NULL, thin(row, n, ROWS) };
	ASSERT_EQ(0, jetwatt_estimator_learn(&j.by, &c, 1, 1));
	EXPECT_FALSE(jetwatt_estimator_references_cover(&j.by, j.mode, (size_t)j.n));
	EXPECT_TRUE(jetwatt_estimator_references_cover(&j.by, &row[0].mode, 1));
	free(row);
	job_close(&j);
}

TEST_HARNESS_MAIN
