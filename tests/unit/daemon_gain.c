// SPDX-License-Identifier: GPL-2.0-only
/* Which of the modes that the model predicts is read next. */
#include "../../user/daemon/learner_gain.c"

#include <stdlib.h>

#include "kselftest_harness.h"

#define S	1000000000ull

FIXTURE(job)
{
	struct jetwattd_learner l;
	const struct jetwatt_row *best;
};

/* Three modes with a budget of 20 W. The first one takes 100 ms and 10 W. */
FIXTURE_SETUP(job)
{
	struct jetwattd_learner *l = &self->l;

	l->known.mode = calloc(3, sizeof(*l->known.mode));
	l->known.row = calloc(3, sizeof(*l->known.row));
	l->known.prediction = calloc(3, sizeof(*l->known.prediction));
	ASSERT_TRUE(l->known.mode && l->known.row && l->known.prediction);
	l->known.nr_modes = 3;
	for (int i = 0; i < 3; i++)
		l->known.mode[i] = (struct jetwatt_mode){ 4, 1200000, 600000000 + 100000000 * i, 2133000000 };
	l->known.row[0] = (struct jetwatt_row){ .mode = l->known.mode[0], .time_ms = 100, .power_w = 10 };
	l->known.nr_rows = 1;
	ASSERT_EQ(0, jetwattd_learner_open(l));
	l->terms = (struct jetwattd_terms){ .limit_w = 20, .safe_w = 5, .share = 1, .now_ns = 1000 * S };
	l->run_ns = 1000 * S;
	l->budget_w = 20;
	l->spent = jetwattd_allowance(l);
	l->at_budget = jetwattd_allowance_at_budget(l);
	l->best_objective = 100;
	for (int i = 0; i < 3; i++)
		l->seen[i] = JETWATT_EXCLUDED;
	self->best = jetwattd_best(l);
	ASSERT_EQ(l->known.row, self->best);
}

FIXTURE_TEARDOWN(job)
{
	jetwattd_learner_close(&self->l);
}

/* The model predicts for mode @i: @ms and @w with these relative errors. */
static void predicted(struct jetwattd_learner *l, size_t i, double ms, double ms_sd, double w, double w_sd)
{
	l->known.prediction[i] = (struct jetwatt_prediction){
		.time_ms = ms, .time_sd = ms_sd, .power_w = w, .power_sd = w_sd,
	};
	l->seen[i] = JETWATT_NEW;
}

/* Return: the mode that is chosen if the job has run for @s seconds. */
static long chosen(struct jetwattd_learner *l, const struct jetwatt_row *best, double s, int known)
{
	l->run_ns = l->terms.now_ns - (uint64_t)(s * S);
	l->again_s = INFINITY;
	return best_by_model(l, best, 0, known);
}

/* Over the budget with a probability of 65 %: alone, this may be tried, but not if other jobs are known. */
TEST_F(job, mode_that_may_be_over_the_budget)
{
	predicted(&self->l, 1, 80, 0.01, 20.39, 0.05);
	EXPECT_EQ(1, chosen(&self->l, self->best, 0, 0));
	EXPECT_EQ(-1, chosen(&self->l, self->best, 0, 1));
	/* It is worth it later. */
	EXPECT_GT(60, self->l.again_s);
	EXPECT_EQ(1, chosen(&self->l, self->best, 60, 1));
}

/* With a probability of 90 %, not even alone. */
TEST_F(job, mode_that_is_probably_over_the_budget)
{
	predicted(&self->l, 1, 50, 0.01, 21.32, 0.05);
	EXPECT_EQ(-1, chosen(&self->l, self->best, 0, 0));
	predicted(&self->l, 1, 50, 0.01, 18, 0.05);
	EXPECT_EQ(1, chosen(&self->l, self->best, 0, 0));
}

/* A mode that is probably slower by 15 % with an error of 5 % is read in a long job only. */
TEST_F(job, long_job_doubts_its_model)
{
	predicted(&self->l, 1, 115, 0.05, 12, 0.05);
	EXPECT_EQ(-1, chosen(&self->l, self->best, 500, 1));
	EXPECT_EQ(1, chosen(&self->l, self->best, 700, 1));
}

/* If other jobs are known, a mode that is surely good precedes one that is uncertain. */
TEST_F(job, sure_gain_comes_first)
{
	predicted(&self->l, 1, 80, 0.02, 12, 0.02);
	predicted(&self->l, 2, 82, 0.3, 12, 0.02);
	EXPECT_EQ(1, chosen(&self->l, self->best, 30, 1));
	EXPECT_EQ(2, chosen(&self->l, self->best, 30, 0));
}

/* A reading that may put the job behind the fastest preset waits until the job is ahead. */
TEST_F(job, no_reading_behind_the_preset)
{
	self->l.first[0] = 0;
	self->l.firsts = 1;
	predicted(&self->l, 1, 95, 0.3, 12, 0.02);
	EXPECT_EQ(-1, chosen(&self->l, self->best, 20, 1));
	EXPECT_FALSE(isinf(self->l.again_s));
	self->l.lead_s = 1;
	EXPECT_EQ(1, chosen(&self->l, self->best, 20, 1));
	/* The first 15 s are free. */
	self->l.lead_s = 0;
	EXPECT_EQ(1, chosen(&self->l, self->best, 10, 1));
}

TEST_HARNESS_MAIN
