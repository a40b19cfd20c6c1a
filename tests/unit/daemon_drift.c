// SPDX-License-Identifier: GPL-2.0-only
/* Drift: the job changes while the learner measures modes, or while jetwattd holds the best
 * mode. */
#include "learner_plant.h"
#include "plan/drift.h"

/* Return: 1 if the time in the row is that of the job now, or was not measured. */
static int is_current(const FIXTURE_DATA(learner) *self, const struct jetwatt_row *row)
{
	return row->time_sd >= JETWATT_ROW_NO_TIME ||
	       fabs(log(row->time_ms / time_ms(&self->p, &row->mode))) < 0.05;
}

/* The job changes during the search: the learner drops older readings and still finds a good
 * mode. */
TEST_F(learner, drift_while_learning_restarts_the_search)
{
	static const double then[] = { 0.4, 0.6, 1.7, 2.5 };

	for (size_t k = 0; k < sizeof(then) / sizeof(then[0]); k++) {
		int was = self->p.drifts;

		self->p.change_ns = self->p.now_ns + 8000000000ull;
		self->p.then = then[k];
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, &unknown);
		EXPECT_LT(was, self->p.drifts) TH_LOG("%g", then[k]);
		EXPECT_LT(0, self->p.checks) TH_LOG("%g", then[k]);
		ASSERT_NE(NULL, best(self));
		EXPECT_GT(0.1, loss(self)) TH_LOG("%g: %g", then[k], loss(self));
		for (size_t i = 0; i < self->l.known.nr_rows; i++) {
			const struct jetwatt_row *row = &self->l.known.row[i];

			EXPECT_TRUE(is_current(self, row)) TH_LOG("%g: row %zu", then[k], i);
		}
		EXPECT_STREQ(KEY, self->l.spent->key);
	}
}

/* If a search has fewer readings than the model needs, the learner checks for drift by measuring
 * the first mode again before the search ends. */
TEST_F(learner, drift_is_detected_before_a_short_search_ends)
{
	for (double then = 0.5; then < 3; then *= 4) {
		int was = self->p.drifts;

		self->p.policy.most = 6;
		self->p.then = then;
		self->p.change_ns = self->p.now_ns + (uint64_t)(2 * QUICK_S * 1e9) - 1;
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, &unknown);
		EXPECT_LT(was, self->p.drifts) TH_LOG("%g", then);
		EXPECT_EQ(0, step(self));
		for (size_t i = 0; i < self->l.known.nr_rows; i++)
			EXPECT_TRUE(is_current(self, &self->l.known.row[i])) TH_LOG("%g", then);
	}
	/* If the job does not change, the drift check costs one more reading and has no other
	 * effect. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.change_ns = 0;
	self->p.drifts = 0;
	learn(self, &unknown);
	EXPECT_EQ(1, self->p.checks);
	EXPECT_EQ(0, self->p.drifts);
}

/* A new budget interrupts the drift check at the end of the search: the check is repeated when
 * the search is resumed. */
TEST_F(learner, interrupted_check_is_repeated)
{
	struct jetwattd_terms t;
	struct jetwattd_step s;
	int n = 0;

	self->p.policy.most = 6;
	begin(self, &unknown);
	/* Run until the learner requests a check; requesting the next mode twice must do no
	 * harm. */
	do {
		t = terms(&self->p);
		ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	} while (s.kind != JETWATTD_CHECK && step(self) > 0);
	ASSERT_EQ(JETWATTD_CHECK, s.kind);
	EXPECT_LE(6, self->p.tries);
	self->p.by = 0.5;
	/* The check is interrupted: the learner gets no result and is resumed. */
	jetwattd_learner_resume(&self->l, &t);
	while (n++ < STEPS && step(self) > 0)
		;
	EXPECT_EQ(1, self->p.drifts);
}

/* The learner restarts the search as soon as the loop reports that the job in the held mode has
 * drifted. */
TEST_F(learner, drift_while_holding_restarts_the_search)
{
	struct jetwatt_row was, is;
	struct jetwattd_news news;

	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	was = is = *best(self);
	is.time_ms *= 1.02;
	EXPECT_FALSE(jetwatt_rows_differ(&is, &was));
	is.time_ms = 1.5 * was.time_ms;
	ASSERT_TRUE(jetwatt_rows_differ(&is, &was));
	jetwattd_learner_relearn(&self->l, &(struct jetwattd_reading){ .m.row = is }, &was);
	ASSERT_EQ(1, jetwattd_learner_news(&self->l, &news));
	EXPECT_EQ(JETWATTD_DRIFTED, news.what);
	EXPECT_EQ(is.time_ms, news.is.time_ms);
	ASSERT_EQ(1, jetwattd_learner_news(&self->l, &news));
	EXPECT_EQ(JETWATTD_STORE, news.what);
	EXPECT_EQ(is.time_ms, news.reading.m.row.time_ms);
	EXPECT_EQ(0, jetwattd_learner_news(&self->l, &news));
	EXPECT_EQ(1, self->l.known.nr_rows);
}

/* The readings from before a drift, scaled, predict the best mode: at most eight further
 * readings are needed to find it. */
TEST_F(learner, few_readings_suffice_after_a_drift)
{
	for (double budget = 18; budget < 30; budget += 3) {
		for (double then = 0.5; then < 3; then *= 4) {
			struct jetwattd_terms t;
			struct jetwatt_row was, is;
			int n = 0;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.by = 1;
			self->p.policy.most = 8;
			self->p.budget_w = budget;
			learn(self, &unknown);
			ASSERT_NE(NULL, best(self));
			was = is = *best(self);
			self->p.by = then;
			is.time_ms *= then;
			jetwattd_learner_relearn(&self->l, &(struct jetwattd_reading){ .m.row = is }, &was);
			self->p.tries = 0;
			self->p.policy.most = MOST;
			t = terms(&self->p);
			jetwattd_learner_resume(&self->l, &t);
			while (n++ < STEPS && step(self) > 0)
				;
			EXPECT_GE(8, self->p.tries) TH_LOG("%g W, times %g: %d", budget, then, self->p.tries);
			EXPECT_GT(0.1, loss(self)) TH_LOG("%g W, times %g: %g", budget, then, loss(self));
		}
	}
}

/* Rows of other workloads are the prior, and the job changes after two to six readings: the
 * learner detects the drift instead of explaining the changed times by the knobs. */
TEST_F(learner, drift_is_detected_with_other_workloads_as_prior)
{
	static const double then[] = { 0.5, 0.65, 1.6, 2 };
	struct jetwatt_row row[3][OTHER_ROWS];
	struct jetwatt_corpus other[3];
	struct jetwattd_prior prior = { .key = KEY, .other = other, .others = 3 };
	double longest = 0, sum = 0;
	int n = 0;

	others(self, row, other);
	for (size_t k = 0; k < sizeof(then) / sizeof(then[0]); k++) {
		for (int after = 2; after <= 6; after++) {
			double told_s = INFINITY;
			int drifts = self->p.drifts, steps = 0, result = 1;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.tries = self->p.checks = self->p.overs = 0;
			self->p.then = then[k];
			self->p.change_ns = self->p.now_ns + (uint64_t)(after * QUICK_S * 1e9) - 1;
			begin(self, &prior);
			while (steps++ < STEPS && result > 0) {
				double lost_s = self->l.spent->all.lost_s;

				result = step(self);
				if (self->p.drifts == drifts || told_s < INFINITY)
					continue;
				told_s = (self->p.now_ns - self->p.change_ns) * 1e-9;
				/* No best mode of the changed job is known yet, so no lost time is
				 * counted. */
				EXPECT_EQ(lost_s, self->l.spent->all.lost_s);
			}
			EXPECT_GT(30, told_s) TH_LOG("times %g after %d: %g s, %d readings", then[k], after, told_s, self->p.tries);
			/* The readings before the drift have used up part of the job's time share
			 * for learning. */
			EXPECT_GT(0.15, loss(self)) TH_LOG("times %g after %d: %g at first", then[k], after, loss(self));
			hold_on(self, 300);
			EXPECT_GT(0.1, loss(self)) TH_LOG("times %g after %d: %g", then[k], after, loss(self));
			longest = fmax(longest, fmin(told_s, 99));
			sum += fmin(told_s, 99);
			n++;
		}
	}
	TH_LOG("told after %.1f s, at most %.1f s", sum / n, longest);
	EXPECT_GT(12, longest);
	EXPECT_GT(6, sum / n);
}

TEST_HARNESS_MAIN
