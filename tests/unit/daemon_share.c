// SPDX-License-Identifier: GPL-2.0-only
/* The learner with a limit on the share of the job's time that learning may cost (learn-share). */
#include "learner_plant.h"

#include "daemon/learner_inside.h"

/* With a limit on the share of the job's time, the cost of learning is below the limit after two
 * hours, and the learner has found a good mode. */
static void shared(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	for (double budget_w = 16; budget_w < 34; budget_w += 4) {
		double at_first, lost_s, ran_s = 0;
		int tries;

		self->p.budget_w = budget_w;
		self->p.policy.learn_share = 5;
		self->p.policy.learn_s = 0;
		self->p.policy.learn_j = 1e9;
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, prior);
		ASSERT_NE(NULL, best(self)) TH_LOG("%g W", budget_w);
		at_first = loss(self);
		tries = self->p.tries;
		lost_s = self->l.cost.lost_s;
		hold_on(self, 7200);
		ran_s = self->l.spent->all.ran_s;
		TH_LOG("%g W: %d modes, %.1f %% slower than the best; after two hours %d, %.1f %%, %.2f %% of the time lost",
		       budget_w, tries, 100 * at_first, self->p.tries, 100 * loss(self),
		       100 * self->l.spent->all.lost_s / ran_s);
		EXPECT_LT(7200, ran_s);
		EXPECT_GE(0.05 * ran_s, self->l.spent->all.lost_s);
		EXPECT_LE(lost_s, self->l.cost.lost_s);
		EXPECT_GE(budget_w, watts(&self->p, &best(self)->mode));
		EXPECT_GT(0.03, loss(self)) TH_LOG("%g W: %g", budget_w, loss(self));
		/* The learner stops trying modes when the time that a better mode may save is less
		 * than the time that a measurement costs. */
		EXPECT_GT(STEPS / 2, self->p.tries);
	}
	/* The model may misjudge the time that the job saves: it must be 5 % to 200 % of the
	 * expected time. */
	TH_LOG("gain expected %.0f s, realised %.0f s", self->l.cost.gain_s, self->l.cost.saved_s);
	EXPECT_LT(0.05 * self->l.cost.gain_s, self->l.cost.saved_s);
	EXPECT_GT(2 * self->l.cost.gain_s, self->l.cost.saved_s);
}

TEST_F(learner, search_stays_within_its_share)
{
	shared(_metadata, self, &unknown);
}

/* For a job without a key, the learning time used so far is kept from one search to the next.
 * (After a restart of jetwattd, the used learning time of a job without a key is 0.) */
TEST_F(learner, share_of_a_job_without_a_key)
{
	shared(_metadata, self, &(struct jetwattd_prior){ 0 });
}

TEST_F(learner, share_is_kept_when_the_job_changes)
{
	double lost_s = 0;

	self->p.policy.learn_share = 5;
	self->p.policy.learn_s = 0;
	self->p.policy.learn_j = 1e9;
	learn(self, &unknown);
	for (int i = 0; i < 20 && best(self); i++) {
		struct jetwatt_row was = *best(self), is = was;
		struct jetwattd_news news;

		self->p.by *= i % 2 ? 1 / 1.5 : 1.5;
		is.time_ms = time_ms(&self->p, &is.mode);
		jetwattd_learner_relearn(&self->l, &(struct jetwattd_reading){ .m.row = is }, &was);
		while (jetwattd_learner_news(&self->l, &news))
			;
		self->p.tries = 0;
		hold_on(self, 60);
		EXPECT_LE(lost_s, self->l.spent->all.lost_s);
		lost_s = self->l.spent->all.lost_s;
	}
	EXPECT_LT(1200, self->l.spent->all.ran_s);
	/* The time lost by learning may exceed the share by the time of two exact readings: the last ones
	 * use up the rest of the share. */
	EXPECT_GE(0.05 * self->l.spent->all.ran_s + 2 * EXACT_S, lost_s)
		TH_LOG("%g of %g s", lost_s, self->l.spent->all.ran_s);
}

/* An interrupted step ends the search, but the unused part of the time share stays usable. */
TEST_F(learner, share_after_an_interrupted_step)
{
	struct jetwattd_result cut = { .outcome = JETWATTD_INTERRUPTED };
	struct jetwattd_terms t;
	struct jetwattd_step s;

	self->p.policy.learn_share = 5;
	begin(self, &unknown);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(1, step(self));
	t = terms(&self->p);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	ASSERT_EQ(JETWATTD_FOLLOW_STOP, jetwattd_learner_done(&self->l, &t, &cut));
	EXPECT_EQ(0, jetwattd_learner_is_due(&self->l, &t));
	t.now_ns += 60000000000ull;
	EXPECT_EQ(1, jetwattd_learner_is_due(&self->l, &t));
}

/* What learning for one budget has cost does not prevent learning for another one. */
TEST_F(learner, new_budget_has_a_share_of_its_own)
{
	self->p.policy.learn_share = 5;
	self->p.budget_w = 32;
	begin(self, &unknown);
	EXPECT_EQ(0.05 * 120, jetwattd_share_left(&self->l));
	self->l.spent->all.lost_s = self->l.at_budget->lost_s = 8;
	EXPECT_GT(0, jetwattd_share_left(&self->l));
	/* A budget that differs by 6 % is the same. */
	self->p.budget_w = 30;
	begin(self, &unknown);
	EXPECT_GT(0, jetwattd_share_left(&self->l));
	self->p.budget_w = 20;
	begin(self, &unknown);
	EXPECT_EQ(0.05 * 120, jetwattd_share_left(&self->l));
	/* The cost of the present run is limited, too, however long the workload has run before. */
	self->l.spent->all.ran_s = 36000;
	self->l.job.lost_s = 7;
	EXPECT_GT(0, jetwattd_share_left(&self->l));
	EXPECT_EQ(36000 + 20 * (7 + 1), jetwattd_share_when(&self->l, 1));
	self->p.budget_w = 32;
	begin(self, &unknown);
	EXPECT_EQ(0.05 * 120, jetwattd_share_left(&self->l));
}

/* Cost of a step of 2 s in which the cap left candidate 179 after @tried_s seconds. */
static double over_cost(FIXTURE_DATA(learner) *self, double tried_s)
{
	double before_s = self->l.job.lost_s;

	self->l.trying = 179;
	self->l.best_objective = 100;
	self->l.begun_ns = self->l.terms.now_ns - 2000000000;
	jetwattd_allowance_spend(&self->l, JETWATTD_OVER, tried_s);
	return self->l.job.lost_s - before_s;
}

/* Only the time after the cap has stepped down is lost: the mode over the budget was faster. */
TEST_F(learner, cost_of_a_mode_over_the_budget)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row over = { .mode = m[179], .time_ms = 80, .power_w = 30, .time_sd = 0.02, .power_sd = 0.02 },
			   safe = { .mode = m[0], .time_ms = 200, .power_w = 12, .time_sd = 0.01, .power_sd = 0.01 };

	begin(self, &unknown);
	jetwattd_learner_over(&self->l, &over, 0);
	/* No safe mode is known: 1.5 s are lost, except for what 0.5 s in the faster mode have gained. */
	EXPECT_GT(1e-6, fabs(over_cost(self, 0.5) - (1.5 - 0.125)));
	jetwattd_learner_reading(&self->l, &(struct jetwattd_reading){ .m.row = safe });
	/* The safe mode is half as fast as the best one. */
	EXPECT_GT(1e-6, fabs(over_cost(self, 0.5) - (0.75 - 0.125)));
	EXPECT_EQ(0, over_cost(self, 2));
}

TEST_HARNESS_MAIN
