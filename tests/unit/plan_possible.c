// SPDX-License-Identifier: GPL-2.0-only
/* Predictions of only the modes that may be the answer, and the cache of the fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "plan/plan.h"
#include "tune/learned.h"
#include "synth.h"

#define BUDGET_W	25
/* Twelve modes are measured: the first one, and every STEP-th one after it. */
#define STEP		397

FIXTURE(possible) {
	struct jetwatt_tuner l;
	struct jetwatt_row *row;
	struct jetwatt_prediction *all;
	unsigned char *seen;
};

FIXTURE_SETUP(possible)
{
	struct synth w;
	long n;

	synth_make(&w, 5, 0);
	n = synth_rows(&w, &self->row, 0, 5);
	ASSERT_LT(STEP * 12, n);
	memset(&self->l, 0, sizeof(self->l));
	self->l.nr_modes = n;
	self->l.mode = calloc(n, sizeof(*self->l.mode));
	self->all = calloc(n, sizeof(*self->all));
	self->seen = calloc(n, 1);
	ASSERT_TRUE(self->l.mode && self->all && self->seen);
	for (long i = 0; i < n; i++)
		self->l.mode[i] = self->row[i].mode;
	for (size_t i = 0; i < 12; i++)
		ASSERT_EQ(0, jetwatt_tuner_add(&self->l, &self->row[i * STEP]));
	ASSERT_EQ(0, jetwatt_tuner_predict(&self->l));
	memcpy(self->all, self->l.prediction, n * sizeof(*self->all));
}

FIXTURE_TEARDOWN(possible)
{
	jetwatt_tuner_free(&self->l);
	free(self->row);
	free(self->all);
	free(self->seen);
}

/* Predictions equal those of all modes; excluded modes are too slow or draw too much, and keep the
 * prediction that they had. */
TEST_F(possible, excludes_only_hopeless_modes)
{
	size_t n = self->l.nr_modes, excluded = 0;
	double best = INFINITY;

	memset(self->l.prediction, 0, n * sizeof(*self->l.prediction));
	self->seen[3] = JETWATT_EXCLUDED;
	self->seen[0] = JETWATT_MEASURED;
	ASSERT_EQ(0, jetwatt_tuner_predict_possible(&self->l, BUDGET_W, 0, self->seen));
	for (size_t i = 0; i < n; i++)
		if (self->all[i].power_w <= BUDGET_W)
			best = fmin(best, self->all[i].time_ms);
	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_prediction *p = &self->l.prediction[i], *was = &self->all[i];

		if (self->seen[i] != JETWATT_EXCLUDED) {
			ASSERT_GT(1e-9, fabs(p->time_ms / was->time_ms - 1));
			ASSERT_GT(1e-9, fabs(p->power_w / was->power_w - 1));
			continue;
		}
		excluded++;
		ASSERT_EQ(0, p->time_ms);
		if (i != 3)
			ASSERT_TRUE(was->time_ms > 1.2 * best || was->power_w > 1.2 * BUDGET_W);
	}
	EXPECT_EQ(JETWATT_MEASURED, self->seen[0]);
	EXPECT_LT(n / 4, excluded);
	EXPECT_GT(n, excluded);
}

/* With a time to beat, modes slower than a multiple of that time are excluded too. */
TEST_F(possible, excludes_modes_slower_than_the_time_to_beat)
{
	size_t n = self->l.nr_modes, left = 0, fewer = 0;
	double best = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (self->all[i].power_w <= BUDGET_W)
			best = fmin(best, self->all[i].time_ms);
	ASSERT_EQ(0, jetwatt_tuner_predict_possible(&self->l, BUDGET_W, 0, self->seen));
	for (size_t i = 0; i < n; i++)
		left += !self->seen[i];
	memset(self->seen, 0, n);
	ASSERT_EQ(0, jetwatt_tuner_predict_possible(&self->l, BUDGET_W, best * 0.7, self->seen));
	for (size_t i = 0; i < n; i++) {
		fewer += !self->seen[i];
		EXPECT_TRUE(self->seen[i] || self->all[i].time_ms < 1.3 * best);
	}
	EXPECT_GT(left, fewer);
}

/* The model is fitted again only if the rows or the prior have changed. */
TEST_F(possible, fits_again_only_after_a_change)
{
	struct jetwatt_fitted *was = self->l.model;

	ASSERT_EQ(0, jetwatt_tuner_fit(&self->l));
	EXPECT_EQ(was, self->l.model);
	self->l.row[4].power_w *= 1.1;
	ASSERT_EQ(0, jetwatt_tuner_predict(&self->l));
	EXPECT_LT(1e-4, fabs(self->l.prediction[4 * STEP].power_w / self->all[4 * STEP].power_w - 1));
	self->l.row[4].power_w /= 1.1;
	ASSERT_EQ(0, jetwatt_tuner_predict(&self->l));
	EXPECT_GT(1e-9, fabs(self->l.prediction[4 * STEP].power_w / self->all[4 * STEP].power_w - 1));
	self->l.nr_rows--;
	ASSERT_EQ(0, jetwatt_tuner_predict(&self->l));
	EXPECT_LT(1e-9, fabs(self->l.prediction[11 * STEP].power_w / self->all[11 * STEP].power_w - 1));
	jetwatt_tuner_forget_prior(&self->l);
	EXPECT_EQ(NULL, self->l.model);
	ASSERT_EQ(0, jetwatt_tuner_fit(&self->l));
	EXPECT_NE(NULL, self->l.model);
}

TEST_HARNESS_MAIN
