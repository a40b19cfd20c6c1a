// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd: decisions that rest on measured rows, such as those of modes near the
 * limit, modes over the budget, and presets. In most tests, the test itself gives the readings. */
#include "learner_rows.h"

/* The cap steps down from candidate @i, which draws @w watts; its time is unknown. */
static void over(FIXTURE_DATA(learner) *self, size_t i, double w)
{
	struct jetwatt_row row = { .mode = self->l.known.mode[i], .power_w = w, .power_sd = 0.02 };

	jetwattd_learner_over(&self->l, &row, 0);
}

/*
 * Begin a job with two rows: candidate 0, far within the limit, and candidate 100, which is @faster
 * times as fast and draws @w watts. Measure modes near the limit again for a while; the readings of
 * candidate 100 scatter about @w. Return: number of readings of candidate 100.
 */
static int read_again(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, double faster, double w)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[0], 100, 12), row(&m[100], 100 / faster, w) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;
	int n = 0;

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	for (int i = 0; i < 40; i++) {
		struct jetwattd_reading got = { .m.dwell_s = EXACT_S };
		struct jetwattd_result result = { .outcome = JETWATTD_MEASURED, .here = 1 };

		t = at(600 + i * EXACT_S);
		if (!jetwattd_learner_next(&self->l, &t, &s) || s.kind != JETWATTD_TRY_EXACT)
			break;
		ASSERT_TRUE(jetwatt_mode_same(&m[100], &s.mode));
		got.m.row = row(&s.mode, 100 / faster, w * (1 + (i % 2 ? SD : -SD) / 2));
		ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
		jetwattd_learner_done(&self->l, &t, &result);
		n++;
	}
	return n;
}

/* One reading cannot tell whether a mode 0.3 % below the limit is within it; several together can. */
TEST_F(learner, readings_of_a_mode_near_the_limit_add_up)
{
	EXPECT_LT(0, read_again(_metadata, self, 1.5, 0.997 * LIMIT_W));
	EXPECT_TRUE(is_best(self, 100));
	/* A mode that is above the limit is not chosen, and after two readings other modes come first. */
	EXPECT_EQ(1, read_again(_metadata, self, 1.5, 1.003 * LIMIT_W));
	EXPECT_TRUE(is_best(self, 0));
	/* A mode that is hardly faster is not worth further readings. */
	EXPECT_EQ(0, read_again(_metadata, self, 1.0005, 0.997 * LIMIT_W));
	EXPECT_TRUE(is_best(self, 0));
}

/* Readings of a mode below the limit by less than their error, or that contradict each other, do not show that
 * it is within the limit. */
TEST_F(learner, uncertain_readings_below_the_limit_do_not_suffice)
{
	static const struct {
		double w[2], sd;
		int within;
	} t[] = {
		{ { 0.999, 0.999 }, SD, 0 }, { { 0.995, 0.995 }, SD, 1 }, { { 0.95, 1.03 }, SD, 0 },
		{ { 0.997, 0 }, 1e-4, 0 }, { { 0.994, 0 }, 1e-4, 1 },
	};
	const struct jetwatt_mode *m = self->l.known.mode;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct jetwatt_row rows[] = { row(&m[0], 100, 12), row(&m[100], 50, t[i].w[0] * LIMIT_W),
					      row(&m[100], 50, t[i].w[1] * LIMIT_W) };
		struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = t[i].w[1] > 0 ? 3 : 2 };

		rows[1].power_sd = rows[2].power_sd = t[i].sd;
		ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
		jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
		EXPECT_TRUE(is_best(self, t[i].within ? 100 : 0)) TH_LOG("case %zu", i);
	}
}

/* A preset is not measured first if a mode that is lower in all knobs is over the budget, or if the best mode
 * is at least as high in all knobs. With little room below the limit, no knob is raised without predictions,
 * nor to a mode above one over the budget. */
TEST_F(learner, modes_that_cannot_help_are_not_tried)
{
	struct jetwattd_learner *l = &self->l;
	const struct jetwatt_mode *m = l->known.mode;
	const struct jetwatt_mode presets[] = { m[100] };
	const double named_w[] = { 15 };
	struct jetwatt_row rows[] = { row(&m[0], 100, 10) }, high = row(&m[179], 90, 19.9), low = row(&m[0], 100, 10);
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 1, .first = presets, .first_w = named_w,
					.firsts = 1 };
	struct jetwattd_terms t = at(0);
	long up;

	ASSERT_EQ(0, jetwattd_learner_begin(l, &prior));
	jetwattd_learner_budget(l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(l, &t);
	EXPECT_EQ(100, jetwattd_next_preset(l, &rows[0], 0));
	EXPECT_EQ(-1, jetwattd_next_preset(l, &high, 0));
	up = jetwattd_raise_one_knob(l, &low);
	ASSERT_LT(0, up);
	over(self, (size_t)up, 22);
	EXPECT_NE(up, jetwattd_raise_one_knob(l, &low));
	l->above[100] = 1;
	EXPECT_EQ(-1, jetwattd_next_preset(l, &rows[0], 0));
	EXPECT_EQ(100, jetwattd_next_preset(l, &rows[0], 1));
	low.power_w = 19.9;
	EXPECT_EQ(-1, jetwattd_raise_one_knob(l, &low));
	low.power_w = 10;
	memset(l->above, 1, l->known.nr_modes);
	EXPECT_EQ(-1, jetwattd_raise_one_knob(l, &low));
}

/* The first cap event in a mode may be due to power from before the switch: the level of tried modes stays. The
 * second one lowers it. A mode that was too hot does not end the search. */
TEST_F(learner, first_cap_event_of_a_mode_does_not_lower_the_level)
{
	struct jetwattd_learner *l = &self->l;
	struct jetwatt_row rows[] = { row(&l->known.mode[0], 100, 12) }, left = { .power_w = 0 };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 1 };
	struct jetwattd_result over = { .outcome = JETWATTD_OVER, .tried_s = 2 }, hot = { .outcome = JETWATTD_HOT };
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;
	double level;

	ASSERT_EQ(0, jetwattd_learner_begin(l, &prior));
	jetwattd_learner_budget(l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(l, &t);
	level = l->level;
	ASSERT_EQ(1, jetwattd_learner_next(l, &t, &s));
	left.mode = s.mode;
	t = at(4);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(level, l->level);
		jetwattd_learner_over(l, &left, 0);
		EXPECT_EQ(JETWATTD_FOLLOW_PLAN, jetwattd_learner_done(l, &t, &over));
	}
	EXPECT_GT(0.8 * level, l->level);
	EXPECT_EQ(JETWATTD_FOLLOW_PLAN, jetwattd_learner_done(l, &t, &hot));
	/* The time lost so far counts for the workload, for the budget and for the job. */
	EXPECT_LT(0, l->spent->all.lost_s);
	EXPECT_EQ(l->spent->all.lost_s, l->at_budget->lost_s);
	EXPECT_EQ(l->spent->all.lost_s, l->job.lost_s);
}

/* The next job owes nothing for what the learning of the one before has cost. */
TEST_F(learner, job_begins_without_the_lag_of_the_one_before)
{
	struct jetwatt_row rows[] = { row(&self->l.known.mode[0], 100, 12) };
	struct jetwattd_prior prior = { .key = "another workload", .row = rows, .rows = 1 };

	self->l.lead_s = -10;
	self->l.job.lost_s = 10;
	self->l.warm_run_s = 10;
	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	EXPECT_EQ(0, self->l.lead_s);
	EXPECT_EQ(0, self->l.job.lost_s);
	EXPECT_GT(0, self->l.warm_run_s);
}

/* A mode that was measured to be within the limit stays usable, although a mode that is lower in
 * all knobs was over the budget. */
TEST_F(learner, mode_above_one_over_the_budget_may_be_chosen)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[0], 100, 12), row(&m[179], 40, 18) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };

	ASSERT_TRUE(jetwattd_dominates(&m[179], &m[100]));
	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	over(self, 100, 22);
	EXPECT_TRUE(is_best(self, 179));
	/* The mode that was over the budget is excluded until the budget changes. */
	EXPECT_TRUE(jetwatt_mode_same(&m[0], &jetwattd_learner_best_under(&self->l, 30, &m[179])->mode));
}

/* A mode over the budget whose time is known tells the model as much as any other. */
TEST_F(learner, time_of_a_mode_over_the_budget_is_kept)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[0], 100, 12) }, left = row(&m[100], 70, 22);
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 1 };

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	over(self, 120, 22);
	EXPECT_EQ(1, jetwattd_complete_rows(&self->l));
	jetwattd_learner_over(&self->l, &left, 0);
	EXPECT_EQ(2, jetwattd_complete_rows(&self->l));
	EXPECT_EQ(70, jetwatt_tuner_row(&self->l.known, &m[100])->time_ms);
	EXPECT_TRUE(is_best(self, 0));
}

/* A drift is checked in a mode that is within the budget, although the first row is of one that is not. */
TEST_F(learner, drift_is_not_checked_in_a_mode_over_the_budget)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[179], 40, 30), row(&m[0], 100, 12) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2 };
	struct jetwattd_terms t = at(0);

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	ASSERT_EQ(1, jetwattd_drift_check_first(&self->l));
	EXPECT_TRUE(jetwatt_mode_same(&m[0], &self->l.check.mode));
}

/* A preset whose name states more than the limit may draw less: it is measured after some seconds,
 * also if a mode that is lower in all knobs was over the budget. A preset whose name states more
 * than twice the limit is left to the predictions. */
TEST_F(learner, every_preset_that_may_be_within_the_limit_is_measured)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	const struct jetwatt_mode presets[] = { m[0], m[179], m[178] };
	const double named_w[] = { 15, 30, 50 };
	struct jetwatt_row first = row(&m[0], 100, 19);
	struct jetwattd_prior prior = { .key = KEY, .row = &first, .rows = 1, .first = presets, .first_w = named_w,
					.firsts = 3 };
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	over(self, 100, 22);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	EXPECT_FALSE(jetwatt_mode_same(&m[179], &s.mode));
	t = at(15);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	EXPECT_TRUE(jetwatt_mode_same(&m[179], &s.mode));
	over(self, 179, 21);
	/* Later, the job may lag behind the known preset by as much as a step down costs. */
	t = at(75);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	EXPECT_FALSE(jetwatt_mode_same(&m[179], &s.mode) || jetwatt_mode_same(&m[178], &s.mode));
}

/*
 * A job that is known from a far higher budget: all of its @n rows draw more than the present one. While
 * no mode within the limit is known, the job runs in the lowest mode, so a mode has to be measured.
 */
static void learn_lower_budget(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, size_t n)
{
	struct jetwatt_row rows[20];
	struct jetwattd_prior prior = { .key = KEY, .row = rows };
	struct plant *p = &self->p;

	for (size_t i = MODES; i-- > 0 && prior.rows < n;)
		if (watts(p, &self->l.known.mode[i]) > 19 && i % 3)
			rows[prior.rows++] = (struct jetwatt_row){
				.mode = self->l.known.mode[i], .time_ms = time_ms(p, &self->l.known.mode[i]),
				.power_w = watts(p, &self->l.known.mode[i]), .time_sd = SD, .power_sd = SD };
	ASSERT_EQ(n, prior.rows);
	p->budget_w = 12.5;
	p->policy.learn_s = 0;
	p->policy.learn_j = 1e9;
	p->policy.most = 1000;
	begin(self, &prior);
	hold_on(self, 300);
	EXPECT_LT(0, p->tries);
	EXPECT_GT(0.1, loss(self)) TH_LOG("%zu rows", n);
}

TEST_F(learner, job_known_from_a_higher_budget_is_learned_below_it)
{
	learn_lower_budget(_metadata, self, 20);
}

TEST_F(learner, job_known_from_few_modes_over_the_budget_is_learned_below_it)
{
	learn_lower_budget(_metadata, self, 6);
}

/* The lowest mode is known to draw more than the budget: nothing can be gained by measuring one higher
 * mode after the other. */
TEST_F(learner, modes_above_a_lowest_mode_over_the_budget_are_not_measured)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[10];
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 10 };
	struct plant *p = &self->p;

	for (int i = 0; i < 10; i++)
		rows[i] = row(&m[i * 18], time_ms(p, &m[i * 18]), watts(p, &m[i * 18]));
	p->budget_w = 0.9 * watts(p, &m[0]);
	p->policy.learn_s = 0;
	p->policy.learn_j = 1e9;
	p->policy.most = 1000;
	begin(self, &prior);
	hold_on(self, 3000);
	EXPECT_EQ(0, p->tries);
}

/* Two rows are known, far below the limit. The preset whose name states a power within the limit is
 * measured at once, and the next higher one if its power, extrapolated from the first one, is within
 * the limit. */
TEST_F(learner, presets_are_measured_although_better_modes_are_known)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	const struct jetwatt_mode presets[] = { m[100], m[150] };
	struct jetwatt_row rows[] = { row(&m[0], 900, 8), row(&m[1], 800, 8.5) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2, .first = presets,
					.first_w = (const double[]){ 10, 30 }, .firsts = 2 };
	struct jetwattd_result result = { .outcome = JETWATTD_MEASURED, .here = 1 };
	struct jetwattd_reading got = { .m.dwell_s = 2 };
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
		EXPECT_TRUE(jetwatt_mode_same(&presets[i], &s.mode));
		got.m.row = row(&s.mode, 300 - 100 * i, 14 + 2 * i);
		ASSERT_EQ(0, jetwattd_learner_reading(&self->l, &got));
		jetwattd_learner_done(&self->l, &t, &result);
	}
}

/* The regular check for a drift does not measure the oldest mode again if that takes far too long,
 * but the oldest one that it can afford. */
TEST_F(learner, drift_is_checked_in_a_mode_that_is_not_too_slow)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[0], 10000, 8), row(&m[100], 600, 14), row(&m[150], 500, 16) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 3 };
	struct jetwattd_terms t = at(0);

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	ASSERT_EQ(1, jetwattd_drift_check_first(&self->l));
	EXPECT_TRUE(jetwatt_mode_same(&m[100], &self->l.check.mode));
}

/* Begin a job with @prior, and choose a step after @seconds. */
static void begin_and_run(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self,
			  const struct jetwattd_prior *prior, double seconds)
{
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;

	ASSERT_EQ(0, jetwattd_learner_begin(&self->l, prior));
	jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
	jetwattd_learner_resume(&self->l, &t);
	t = at(seconds);
	jetwattd_learner_next(&self->l, &t, &s);
}

static double lag_when(const struct jetwattd_learner *l, double seconds, double objective)
{
	return jetwattd_lag_when(l, jetwattd_best_preset(l), seconds, objective);
}

/* After the first seconds, readings may let a job lag behind the fastest preset by 2 % of its time only. A mode that
 * is faster than the preset gains time for further readings. */
TEST_F(learner, job_hardly_lags_behind_the_fastest_preset)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[0], 5000, 8), row(&m[150], 2000, 16) }, faster = row(&m[170], 1600, 17);
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 2, .first = &m[150], .firsts = 1 };
	struct jetwattd_terms t;
	struct jetwattd_step s;

	begin_and_run(_metadata, self, &prior, 0);
	EXPECT_EQ(0, lag_when(&self->l, 3, 4000));
	t = at(65);
	jetwattd_learner_next(&self->l, &t, &s);
	/* 3 s in a mode that is half as fast cost 1.5 s. After 65 s, 1 s is permitted: 2 % of the
	 * time after the first 15 s. */
	EXPECT_EQ(0, lag_when(&self->l, 3, 1999));
	EXPECT_EQ(0, lag_when(&self->l, 3, 2500));
	EXPECT_LT(fabs(lag_when(&self->l, 3, 4000) - (65 + 25)), 1);
	ASSERT_EQ(0, jetwattd_learner_estimate(&self->l, &faster));
	t = at(69);
	jetwattd_learner_next(&self->l, &t, &s);
	EXPECT_EQ(0, lag_when(&self->l, 3, 4000));
	/* A job that lags behind still tries modes that may be faster. */
	self->l.lead_s = -20;
	EXPECT_EQ(0, lag_when(&self->l, 3, 1500));
	EXPECT_LT(100, lag_when(&self->l, 3, 4000));
	/* A preset that is too near the limit to be applied does not count. */
	rows[1].power_w = 0.998 * LIMIT_W;
	begin_and_run(_metadata, self, &prior, 65);
	EXPECT_EQ(0, lag_when(&self->l, 30, 4000));
	/* A job of which no preset is known cannot lag. */
	prior.firsts = 0;
	begin_and_run(_metadata, self, &prior, 65);
	EXPECT_EQ(0, lag_when(&self->l, 30, 4000));
}

/* While a job runs for hours, the next choice is due after half a minute, or later if choosing takes
 * much CPU time. */
TEST_F(learner, next_choice_is_due_by_running_time_and_cpu_time)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row rows[] = { row(&m[179], 100, 12) };
	struct jetwattd_prior prior = { .key = KEY, .row = rows, .rows = 1 };
	struct jetwattd_terms t = at(0);
	struct jetwattd_step s;

	for (int slow = 0; slow < 2; slow++) {
		ASSERT_EQ(0, jetwattd_learner_begin(&self->l, &prior));
		jetwattd_learner_budget(&self->l, BUDGET_W, LIMIT_W);
		t = at(0);
		jetwattd_learner_resume(&self->l, &t);
		jetwattd_learner_next(&self->l, &t, &s);
		t = at(7200);
		t.choose_s = 84 * slow;
		jetwattd_learner_next(&self->l, &t, &s);
		t = at(7200 + (slow ? 150 : 20));
		EXPECT_EQ(0, jetwattd_learner_is_due(&self->l, &t));
		t = at(7200 + (slow ? 250 : 40));
		EXPECT_EQ(1, jetwattd_learner_is_due(&self->l, &t));
	}
}

TEST_HARNESS_MAIN
