// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd: what later jobs of a workload know of modes that the cap left before their time was
 * known. */
#include "learner_rows.h"

/* Begin a job of the workload @key with one row, of candidate 0. */
static void begin_with_one_row(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, const char *key,
			       double limit_w)
{
	struct jetwatt_row rows[] = { row(&self->l.known.mode[0], 100, 12) };
	struct jetwattd_prior prior = { .key = key, .row = rows, .rows = 1 };

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, 1.02 * limit_w, limit_w);
}

/* A mode that the cap left before its time was known is not tried again by later jobs of the workload,
 * unless their limit is above its power. */
TEST_F(learner, later_jobs_know_the_modes_over_the_limit)
{
	struct jetwatt_row left = { .mode = self->l.known.mode[120], .power_w = 22, .power_sd = 0.02 };

	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	jetwattd_learner_over(&self->l, &left, 1);
	begin_with_one_row(_metadata, self, "another workload", LIMIT_W);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 120));
	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	EXPECT_TRUE(jetwattd_is_known(&self->l, 120));
	EXPECT_EQ(1, jetwattd_complete_rows(&self->l));
	EXPECT_TRUE(is_best(self, 0));
	/* The limit changes while the job runs. */
	jetwattd_learner_budget(&self->l, 31, 30);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 120));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	EXPECT_TRUE(jetwattd_is_known(&self->l, 120));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	EXPECT_EQ(2, self->l.known.nr_rows);
	begin_with_one_row(_metadata, self, KEY, 30);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 120));
}

/* The cap has left the mode twice: the later power counts. */
TEST_F(learner, later_jobs_know_the_last_power_of_a_mode)
{
	struct jetwatt_row left = { .mode = self->l.known.mode[120], .power_w = 22, .power_sd = 0.02 };

	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	jetwattd_learner_over(&self->l, &left, 1);
	left.power_w = 30;
	jetwattd_learner_over(&self->l, &left, 1);
	begin_with_one_row(_metadata, self, KEY, 25);
	EXPECT_TRUE(jetwattd_is_known(&self->l, 120));
}

/* What was known of modes over the limit does not outlast a drift; nor is it kept if the caller says so. */
TEST_F(learner, later_jobs_do_not_know_modes_from_before_a_drift)
{
	struct jetwatt_row left = { .mode = self->l.known.mode[120], .power_w = 22, .power_sd = 0.02 }, was;
	struct jetwattd_reading got = { .m.row = row(&self->l.known.mode[0], 200, 13) };

	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	jetwattd_learner_over(&self->l, &left, 0);
	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 120));
	jetwattd_learner_over(&self->l, &left, 1);
	was = self->l.known.row[0];
	EXPECT_TRUE(jetwattd_is_excluded(&self->l, 120));
	EXPECT_TRUE(self->l.above[179]);
	jetwattd_learner_relearn(&self->l, &got, &was);
	/* The changed job may draw less in this mode and in those above it. */
	EXPECT_FALSE(jetwattd_is_excluded(&self->l, 120));
	EXPECT_FALSE(self->l.above[179]);
	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 120));
}

/* The latest rows are kept if there are more than the learner stores. */
TEST_F(learner, later_jobs_know_the_latest_modes_over_the_limit)
{
	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	for (size_t i = 0; i < JETWATTD_UNTIMED + 8; i++)
		for (int twice = 0; twice < 2; twice++) {
			struct jetwatt_row left = { .mode = self->l.known.mode[100 + i], .power_w = 22, .power_sd = 0.02 };

			jetwattd_learner_over(&self->l, &left, 1);
		}
	begin_with_one_row(_metadata, self, KEY, LIMIT_W);
	EXPECT_EQ(1 + JETWATTD_UNTIMED, self->l.known.nr_rows);
	EXPECT_FALSE(jetwattd_is_known(&self->l, 107));
	EXPECT_TRUE(jetwattd_is_known(&self->l, 108));
	EXPECT_TRUE(jetwattd_is_known(&self->l, 100 + JETWATTD_UNTIMED + 7));
}

TEST_HARNESS_MAIN
