// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd: the modes that it measures and the mode that it finds. */
#include "learner_plant.h"

#include "daemon/learner_inside.h"

TEST_F(learner, finds_a_fast_mode_within_the_budget)
{
	for (double budget_w = 16; budget_w < 34; budget_w += 4) {
		self->p.budget_w = budget_w;
		learn(self, &unknown);
		ASSERT_NE(NULL, best(self));
		EXPECT_GE(budget_w, watts(&self->p, &best(self)->mode));
		EXPECT_GT(0.1, loss(self)) TH_LOG("%g W: %g", budget_w, loss(self));
		/* Each tried mode is stored, except those in which the cap stepped down. */
		EXPECT_EQ(self->p.tries - self->p.overs, self->p.stored);
		EXPECT_GE(MOST + 4, self->p.tries);
		EXPECT_EQ(0, self->p.drifts);
	}
}

TEST_F(learner, is_deterministic)
{
	struct plant first;

	learn(self, &unknown);
	first = self->p;
	self->p.state = 1;
	self->l.allowance[0] = (struct jetwattd_allowance){ 0 };
	learn(self, &unknown);
	ASSERT_EQ(first.tries, self->p.tries);
	EXPECT_EQ(0, memcmp(first.tried, self->p.tried, (size_t)first.tries * sizeof(*first.tried)));
}

TEST_F(learner, finds_a_mode_for_a_tight_budget)
{
	/* The budget is so low that only one mode and its neighbours are within it. */
	self->p.budget_w = 1.08 * watts(&self->p, &self->l.known.mode[0]) / 0.98;
	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	EXPECT_GE(self->p.budget_w, watts(&self->p, &best(self)->mode));
	/* No mode is within the budget: the search ends without a mode. */
	self->p.budget_w = 0.9 * watts(&self->p, &self->l.known.mode[0]);
	learn(self, &unknown);
	EXPECT_EQ(NULL, best(self));
	EXPECT_EQ(0, self->p.stored);
	EXPECT_GT(STEPS, self->p.tries);
	/* After a mode was over the budget, no mode with equal or higher levels of all knobs is
	 * tried. */
	for (int i = 0; i < self->p.tries; i++)
		for (int k = 0; k < i; k++)
			EXPECT_FALSE(jetwattd_dominates(&self->p.tried[i], &self->p.tried[k]));
}

TEST_F(learner, refused_modes_are_excluded)
{
	self->p.refuse = 0.3;
	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	EXPECT_LT(0, self->p.refusals);
	EXPECT_GT(0.15, loss(self)) TH_LOG("%g", loss(self));
	for (int i = 0; i < self->p.tries; i++)
		for (int k = 0; k < i; k++)
			EXPECT_FALSE(refuses(&self->p, &self->p.tried[k]) &&
				     jetwatt_mode_same(&self->p.tried[i], &self->p.tried[k]));
	/* If a knob refuses the chosen mode after the search, this mode is not chosen again until
	 * the budget is set again. */
	{
		struct jetwatt_mode was = best(self)->mode;

		jetwattd_learner_refused(&self->l, &was, JETWATTD_REFUSED);
		EXPECT_FALSE(best(self) && jetwatt_mode_same(&was, &best(self)->mode));
		jetwattd_learner_budget(&self->l, self->p.budget_w, terms(&self->p).limit_w);
		EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
	}
}

/* A mode that was refused because of heat, or that exceeded the budget possibly because of another
 * process, is tried once more. After a second failure, the mode is excluded. */
TEST_F(learner, refused_mode_is_retried_once)
{
	struct jetwatt_mode was;

	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	was = best(self)->mode;
	jetwattd_learner_refused(&self->l, &was, JETWATTD_HOT);
	EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
	jetwattd_learner_over(&self->l, &(struct jetwatt_row){ .mode = was }, 0);
	EXPECT_FALSE(best(self) && jetwatt_mode_same(&was, &best(self)->mode));
}

TEST_F(learner, allowance_limits_the_search)
{
	uint64_t begun = self->p.now_ns;

	self->p.policy.learn_s = 4 * QUICK_S;
	learn(self, &unknown);
	/* The search ends with the step that uses up the time allowed for learning (learn_s). */
	EXPECT_EQ(4 * QUICK_S, (self->p.now_ns - begun) * 1e-9);
	EXPECT_EQ(4, self->p.tries);
	ASSERT_NE(NULL, best(self));
	/* The time allowed for learning stays used up when the job starts again; the learner then
	 * uses the known rows. */
	{
		struct jetwatt_row row = *best(self);
		struct jetwattd_prior again = { .key = KEY, .row = &row, .rows = 1 };

		learn(self, &again);
		EXPECT_EQ(0, self->p.tries);
		/* A new power budget does not renew the time allowed for learning; another workload
		 * has its own time. */
		self->p.budget_w += 4;
		learn(self, &again);
		EXPECT_EQ(0, self->p.tries);
		again.key = "fedcba9876543210";
		learn(self, &again);
		EXPECT_EQ(4, self->p.tries);
	}
	/* The search also ends when it has used up the energy allowed for learning (learn_j). */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.policy.learn_s = 200;
	self->p.policy.learn_j = 60;
	learn(self, &unknown);
	EXPECT_LT(0, self->p.tries);
	EXPECT_GT(8, self->p.tries);
}

/* If the chosen mode cannot be held, a further search is due at once. */
TEST_F(learner, search_is_due_when_the_mode_cannot_be_held)
{
	struct jetwattd_terms t;
	struct jetwatt_row over;
	int tries;

	learn(self, &unknown);
	tries = self->p.tries;
	t = terms(&self->p);
	EXPECT_EQ(0, jetwattd_learner_is_due(&self->l, &t));
	over = *best(self);
	over.power_w = 1.02 * self->p.budget_w;
	over.power_sd = 0.005;
	jetwattd_learner_over(&self->l, &over, 0);
	ASSERT_EQ(1, jetwattd_learner_is_due(&self->l, &t));
	jetwattd_learner_resume(&self->l, &t);
	while (step(self) > 0 && self->p.tries < STEPS)
		;
	EXPECT_LE(tries, self->p.tries);
	t = terms(&self->p);
	EXPECT_EQ(0, jetwattd_learner_is_due(&self->l, &t));
}

/* No more modes are measured than the policy allows, except to find one within the budget. */
TEST_F(learner, number_of_modes_is_limited)
{
	self->p.policy.most = 6;
	for (int i = 0; i < 3; i++) {
		size_t complete = 0;

		learn(self, &unknown);
		ASSERT_NE(NULL, best(self));
		for (size_t k = 0; k < self->l.known.nr_rows; k++)
			complete += self->l.known.row[k].time_sd < JETWATT_ROW_NO_TIME;
		EXPECT_EQ(6, complete);
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		self->p.budget_w *= 1.2;
	}
	self->p.policy.most = 1;
	self->p.budget_w = 1.08 * watts(&self->p, &self->l.known.mode[0]) / 0.98;
	learn(self, &unknown);
	EXPECT_LT(1, self->p.tries);
	EXPECT_NE(NULL, best(self));
}

/* With rows of the same workload from another device, the learner needs to measure at most six
 * modes. Modes whose rows were measured on this device are not measured again. */
TEST_F(learner, known_workload_needs_few_measurements)
{
	struct jetwatt_row row[40];
	struct jetwattd_prior prior = { .key = KEY, .cross_device = row, .nr_cross_device = 40 };
	int tries;

	for (int i = 0; i < 40; i++) {
		const struct jetwatt_mode *m = &self->l.known.mode[i * 37 % MODES];

		row[i] = (struct jetwatt_row){ .mode = *m, .time_ms = time_ms(&self->p, m),
					       .power_w = watts(&self->p, m), .time_sd = NOISE, .power_sd = NOISE };
	}
	learn(self, &prior);
	tries = self->p.tries;
	EXPECT_GE(6, tries);
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	for (int i = 0; i < 40; i++)
		row[i].time_ms *= noise(&self->p);
	prior = (struct jetwattd_prior){ .key = KEY, .row = row, .rows = 40 };
	learn(self, &prior);
	/* The best of the known modes is held first. */
	EXPECT_EQ(0, self->p.tries);
	hold_on(self, 60);
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
	EXPECT_EQ(0, self->p.drifts);
}

/* A job that was learned for another budget is measured at once, because a far better mode is expected. */
TEST_F(learner, known_job_with_a_new_budget_is_not_held_first)
{
	struct jetwatt_row row[STEPS];
	struct jetwattd_prior prior = { .key = KEY, .row = row };
	int runs[2];

	self->p.budget_w = 16;
	learn(self, &unknown);
	hold_on(self, 600);
	prior.rows = self->l.known.nr_rows;
	ASSERT_LE(JETWATTD_SURE, jetwattd_complete_rows(&self->l));
	memcpy(row, self->l.known.row, prior.rows * sizeof(*row));
	for (int i = 0; i < 2; i++) {
		self->p.budget_w = i ? 34 : 16;
		learn(self, &prior);
		runs[i] = self->p.tries;
	}
	EXPECT_EQ(0, runs[0]);
	EXPECT_LT(0, runs[1]);
}

/* With rows of other workloads as prior, the learner finds a good mode within five tries, of which on
 * average at most one exceeds the budget. */
TEST_F(learner, other_workloads_save_measurements)
{
	struct jetwatt_row row[3][OTHER_ROWS];
	struct jetwatt_corpus other[3];
	struct jetwattd_prior prior = { .key = KEY, .other = other, .others = 3 };
	double least = watts(&self->p, &self->l.known.mode[0]), few = 0, few_alone = 0;
	int overs = 0, alone = 0, budgets = 0;

	others(self, row, other);
	for (double budget = 1.25 * least; budget < 3 * least; budget *= 1.3) {
		self->p.budget_w = budget;
		for (int with = 1; with >= 0; with--) {
			int n = 0;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.tries = self->p.overs = 0;
			begin(self, with ? &prior : &unknown);
			EXPECT_EQ(with, self->l.known.by.prior != NULL);
			while (self->p.tries < 5 && n++ < STEPS && step(self) > 0)
				;
			*(with ? &few : &few_alone) += fmin(loss(self), 2);
			*(with ? &overs : &alone) += self->p.overs;
			while (n++ < STEPS && step(self) > 0)
				;
			EXPECT_GT(0.1, loss(self)) TH_LOG("%g W: %g", budget, loss(self));
		}
		budgets++;
	}
	TH_LOG("after five modes %.1f %% slower than the best, %d over; alone %.1f %%, %d",
	       100 * few / budgets, overs, 100 * few_alone / budgets, alone);
	EXPECT_GT(0.08, few / budgets);
	EXPECT_LT(2 * few, few_alone);
	EXPECT_GE(budgets, overs);
}

/* The first preset tried is the highest one whose nominal power (first_w) is within the budget.
 * If its measured power is over the budget, the next lower preset follows; if it leaves
 * headroom, the next higher. */
TEST_F(learner, presets_are_measured_first)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	const struct jetwatt_mode first[] = { m[0], m[85], m[MODES - 1] };
	const double w = watts(&self->p, &m[85]);
	struct jetwattd_prior prior = { .key = KEY, .first = first, .firsts = 3,
					.first_w = (const double[]){ 0.5 * w, w, 5 * w } };

	self->p.policy.learn_share = 5;
	self->p.budget_w = 1.05 * w;
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	/* The third preset's nominal power is five times the power of the second, and the second
	 * nearly uses up the budget, so the third is not tried. */
	for (int i = 0; i < self->p.tries; i++)
		EXPECT_FALSE(jetwatt_mode_same(&first[2], &self->p.tried[i]));
	/* The second preset is over the budget, although its nominal power is within it. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.budget_w = 0.95 * w;
	prior.first_w = (const double[]){ 0.2 * w, 0.5 * w, 5 * w };
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	EXPECT_TRUE(jetwatt_mode_same(&first[0], &self->p.tried[1]));
	/* The measured power of the second preset leaves headroom in the budget, so the third
	 * preset is tried next. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.budget_w = 2 * w;
	prior.first_w = (const double[]){ 0.5 * w, 1.8 * w, 4 * w };
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	EXPECT_TRUE(jetwatt_mode_same(&first[2], &self->p.tried[1]));
	/* A preset that is not a mode of the board is skipped. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	prior.first = (const struct jetwatt_mode[]){ m[0], { .cores = 1, .cpu_khz = 1, .gpu_hz = 1, .emc_hz = 1 }, m[85] };
	prior.first_w = (const double[]){ 0.5 * w, 1.9 * w, 1.8 * w };
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&m[85], &self->p.tried[0]));
}

/* A mode that is too slow for a server excludes the slower modes too, until the exclusions are
 * forgotten. */
TEST_F(learner, mode_too_slow_for_a_server_excludes_slower_modes)
{
	struct jetwatt_mode was;

	learn(self, &unknown);
	was = best(self)->mode;
	ASSERT_EQ(1, jetwattd_learner_deadline_miss(&self->l, &was, 20));
	EXPECT_EQ(0, jetwattd_learner_deadline_miss(&self->l, &was, 20));
	EXPECT_FALSE(jetwattd_dominates(&was, &best(self)->mode));
	jetwattd_learner_forget_misses(&self->l);
	EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
}

/* If a command or the end of the job interrupts a step of the search, the search can be resumed. */
TEST_F(learner, interrupted_step_can_be_resumed)
{
	struct jetwattd_result cut = { .outcome = JETWATTD_INTERRUPTED };
	struct jetwattd_terms t = terms(&self->p);
	struct jetwattd_step s;

	begin(self, &unknown);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	EXPECT_EQ(JETWATTD_FOLLOW_STOP, jetwattd_learner_done(&self->l, &t, &cut));
	jetwattd_learner_resume(&self->l, &t);
	while (step(self) > 0 && self->p.tries < STEPS)
		;
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
}

TEST_HARNESS_MAIN
