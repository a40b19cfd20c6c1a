// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd: readings of the mode that is held. */
#include "learner_rows.h"

/* Readings of a held mode scatter evenly about a power just below the limit. The mode stays the best one: not only
 * the readings above its mean become rows, and their number is limited. */
TEST_F(learner, readings_of_a_held_mode_do_not_raise_its_mean)
{
	const struct jetwatt_mode *m = &self->l.known.mode[100];
	struct jetwatt_row rows[] = { row(&self->l.known.mode[0], 100, 12), row(m, 70, 0.996 * LIMIT_W) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };
	double swing = (BUDGET_W / LIMIT_W - 1) / 1.5, sum = 0;

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	for (int i = 0; i < 400; i++) {
		struct jetwattd_reading got = { .m.row = row(m, 70, (0.996 + (i * 7 % 11 - 5) * 0.001) * LIMIT_W) };

		if (!jetwattd_wants_power(&self->l, &got.m.row, swing))
			continue;
		ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
		EXPECT_TRUE(is_best(self, 100));
	}
	EXPECT_LE(4, self->l.known.nr_rows);
	EXPECT_GE(14, self->l.known.nr_rows);
	for (size_t i = 1; i < self->l.known.nr_rows; i++)
		sum += self->l.known.row[i].power_w / (self->l.known.nr_rows - 1);
	EXPECT_GT(0.003 * LIMIT_W, fabs(sum - 0.996 * LIMIT_W));
}

/* The quick reading of a held mode was too low: its further readings become rows, and the mode is left. */
TEST_F(learner, held_mode_that_was_read_too_low_is_left)
{
	const struct jetwatt_mode *m = &self->l.known.mode[100];
	struct jetwatt_row rows[] = { row(&self->l.known.mode[0], 100, 12), row(m, 70, 0.985 * LIMIT_W) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };
	struct jetwattd_reading got = { .m.row = row(m, 70, 1.01 * LIMIT_W) };

	rows[1].power_sd = 0.007;
	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	ASSERT_TRUE(is_best(self, 100));
	for (int i = 0; i < 3 && is_best(self, 100); i++) {
		ASSERT_EQ(1, jetwattd_wants_power(&self->l, &got.m.row, 0.003));
		ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
	}
	EXPECT_TRUE(is_best(self, 0));
	/* Far below the budget, the power need not be exact. */
	got.m.row = row(&self->l.known.mode[0], 100, 12);
	EXPECT_EQ(0, jetwattd_wants_power(&self->l, &got.m.row, 0.003));
}

/* The time of a held mode was read too short: a more exact reading becomes a row, one that is not does not. */
TEST_F(learner, more_exact_time_of_a_held_mode_counts)
{
	const struct jetwatt_mode *m = &self->l.known.mode[100];
	struct jetwatt_row rows[] = { row(&self->l.known.mode[0], 100, 12), row(m, 97, 12) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };
	struct jetwattd_reading got = { .m.row = row(m, 103, 12) };

	rows[1].time_sd = 0.02;
	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	ASSERT_TRUE(is_best(self, 100));
	got.m.row.time_sd = 0.019;
	EXPECT_EQ(0, jetwattd_wants_time(&self->l, &got.m.row));
	got.m.row.time_sd = 0.005;
	ASSERT_EQ(1, jetwattd_wants_time(&self->l, &got.m.row));
	ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
	EXPECT_TRUE(is_best(self, 0));
	got.m.row.time_sd = 0.001;
	EXPECT_EQ(1, jetwattd_wants_time(&self->l, &got.m.row));
	rows[0].time_sd = 0.001;
	EXPECT_EQ(0, jetwattd_wants_time(&self->l, &rows[0]));
}

/* Begin a job with @rows rows, then add those of two further readings of a held mode, and measure another mode.
 * Return: 1 if the first row is to be checked. */
static int checks_first_row(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, size_t rows)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row known[JETWATTD_SURE];
	struct jetwattd_prior prior = { .key = KEY, .row = known, .rows = rows };
	struct jetwattd_result result = { .outcome = JETWATTD_MEASURED, .here = 1 };
	struct jetwattd_terms t = at(0);
	struct jetwattd_reading got = { 0 };

	for (size_t i = 0; i < rows; i++)
		known[i] = row(&m[i], 100, 12);
	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	for (size_t i = 0; i < 3; i++) {
		got.m.row = row(&m[i < 2 ? 0 : 40], 100, 12);
		ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
	}
	self->l.trying = 40;
	return jetwattd_learner_done(&self->l, &t, &result) == JETWATTD_FOLLOW_CHECK;
}

/* Readings of a held mode do not skip the check of the first row, which finds a change of the job. */
TEST_F(learner, first_row_is_checked_although_the_held_mode_was_read)
{
	EXPECT_EQ(1, checks_first_row(_metadata, self, JETWATTD_SURE - 2));
	EXPECT_EQ(0, checks_first_row(_metadata, self, JETWATTD_SURE - 4));
	/* A job that is known well is not checked. */
	EXPECT_EQ(0, checks_first_row(_metadata, self, JETWATTD_SURE));
}

TEST_HARNESS_MAIN
