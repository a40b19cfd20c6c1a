// SPDX-License-Identifier: GPL-2.0-only
/* The learner with a limit on the share of the job's time that learning may cost (learn-share). */
#include "learner_plant.h"

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
		ran_s = self->l.spent->ran_s;
		TH_LOG("%g W: %d modes, %.1f %% slower than the best; after two hours %d, %.1f %%, %.2f %% of the time lost",
		       budget_w, tries, 100 * at_first, self->p.tries, 100 * loss(self),
		       100 * self->l.spent->lost_s / ran_s);
		EXPECT_LT(7200, ran_s);
		EXPECT_GE(0.05 * ran_s, self->l.spent->lost_s);
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
		EXPECT_LE(lost_s, self->l.spent->lost_s);
		lost_s = self->l.spent->lost_s;
	}
	EXPECT_LT(1200, self->l.spent->ran_s);
	/* The time lost by learning may exceed the share by the time of two exact readings: the last ones
	 * use up the rest of the share. */
	EXPECT_GE(0.05 * self->l.spent->ran_s + 2 * EXACT_S, lost_s)
		TH_LOG("%g of %g s", lost_s, self->l.spent->ran_s);
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

TEST_HARNESS_MAIN
