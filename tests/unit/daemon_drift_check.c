// SPDX-License-Identifier: GPL-2.0-only
/* The steps of a drift check, and what becomes of the rows from before a drift, with rows made by hand. */
#include "daemon/learner_inside.h"

#include <stdlib.h>
#include <string.h>

#include "near.h"

#define MODES	8

/* The prior that the learner made of the rows from before a drift. */
static struct jetwatt_row prior[16];
static size_t priors;

static int keep(void **made, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	(void)seed;
	*made = prior;
	memcpy(prior, row, n * sizeof(*row));
	priors = n;
	return 0;
}

static void forget(void *made)
{
	(void)made;
	priors = 0;
}

/* A predictor that keeps its prior. */
static const struct jetwatt_predictor keeper = { .add_cross_device = keep, .prior_free = forget };

FIXTURE(job)
{
	struct jetwattd_learner l;
};

FIXTURE_SETUP(job)
{
	struct jetwattd_learner *l = &self->l;

	l->known.mode = calloc(MODES, sizeof(*l->known.mode));
	ASSERT_NE(NULL, l->known.mode);
	l->known.nr_modes = MODES;
	/* Each mode is as fast as the others, so that none contradicts another. */
	for (int i = 0; i < MODES; i++)
		l->known.mode[i] = (struct jetwatt_mode){ 4, 1200000 + 100000 * i, 1000000000 - 50000000 * i, 2133000000 };
	l->known.by.by = &keeper;
	l->terms = (struct jetwattd_terms){ .limit_w = 100, .safe_w = 50, .share = 1, .max_modes = 9 };
	l->budget_w = 100;
	ASSERT_EQ(0, jetwattd_learner_open(l));
	l->at_budget = jetwattd_allowance_at_budget(l);
}

FIXTURE_TEARDOWN(job)
{
	jetwattd_learner_close(&self->l);
}

/* A reading of mode @i in @ms with @w watts, with errors of 0.1 %. */
static struct jetwattd_reading reading(const struct jetwattd_learner *l, size_t i, double ms, double w)
{
	return (struct jetwattd_reading){ .m.row = {
		.mode = l->known.mode[i], .time_ms = ms, .time_sd = 0.001, .power_w = w, .power_sd = 0.001,
	} };
}

/* Add the reading of mode @i as a row. */
static void reads(struct __test_metadata *_metadata, struct jetwattd_learner *l, size_t i, double ms, double w)
{
	struct jetwattd_reading r = reading(l, i, ms, w);

	ASSERT_EQ(0, jetwattd_row_add(l, &r.m.row, NULL));
}

/* The result of a step that has measured mode @i. */
static struct jetwattd_result measured(const struct jetwattd_learner *l, size_t i, double ms, double w)
{
	return (struct jetwattd_result){ .outcome = JETWATTD_MEASURED, .reading = reading(l, i, ms, w), .here = 1 };
}

/* The check has measured mode @i and ends. Return: 1: the job has drifted; the reading is now the only row. */
static int turns(struct __test_metadata *_metadata, struct jetwattd_learner *l, size_t i, double ms, double w)
{
	struct jetwattd_result r = measured(l, i, ms, w);
	int turned;

	EXPECT_EQ(0, jetwattd_drift_evaluate(l, &r, &turned));
	if (turned) {
		EXPECT_EQ(1, l->known.nr_rows);
		EXPECT_EQ(ms, l->known.row[0].time_ms);
	}
	return turned;
}

/* Rows from before a drift, scaled by the change of one mode, are a prior. Modes that were excluded may fit now. */
TEST_F(job, rows_become_a_prior)
{
	struct jetwattd_learner *l = &self->l;
	struct jetwattd_reading is;
	struct jetwatt_row was;

	for (int i = 0; i < 6; i++)
		reads(_metadata, l, i, 100 + i, 20 + i);
	memset(l->exclusions, JETWATTD_EXCLUDED, MODES);
	memset(l->above, 1, MODES);
	was = l->known.row[0];
	is = reading(l, 0, 200, 30);
	jetwattd_learner_relearn(l, &is, &was);
	ASSERT_EQ(6, priors);
	EXPECT_NEAR(206, prior[3].time_ms, 1e-6);
	EXPECT_NEAR(34.5, prior[3].power_w, 1e-6);
	EXPECT_EQ(1, l->known.nr_rows);
	for (int i = 0; i < MODES; i++) {
		EXPECT_EQ(0, l->exclusions[i]);
		EXPECT_EQ(0, l->above[i]);
	}
}

/* Of a mode that was read twice, the last reading counts; five modes are too few for a prior. */
TEST_F(job, a_mode_counts_once)
{
	struct jetwattd_learner *l = &self->l;
	struct jetwattd_reading is = reading(l, 0, 200, 30);
	struct jetwatt_row was;

	for (int i = 0; i < 5; i++)
		reads(_metadata, l, i, 100, 20);
	reads(_metadata, l, 1, 101, 20);
	was = l->known.row[0];
	jetwattd_learner_relearn(l, &is, &was);
	EXPECT_EQ(0, priors);
}

/* Only the rows between the last two drifts of the stored rows are like the job. */
TEST_F(job, only_rows_after_the_last_drift_but_one)
{
	struct jetwattd_learner *l = &self->l;

	for (int epoch = 0; epoch < 3; epoch++)
		for (int i = 0; i < 8 - !!epoch; i++)
			reads(_metadata, l, i, (100 + i) << epoch, 20);
	jetwattd_drift_drop_stored(l);
	EXPECT_EQ(7, l->known.nr_rows);
	EXPECT_EQ(400, l->known.row[0].time_ms);
	ASSERT_EQ(7, priors);
	/* 200 ms and more, scaled by two. */
	EXPECT_NEAR(400, prior[0].time_ms, 1e-6);
}

/* A time that differs by 5 % is no drift, even if both readings are exact. */
TEST_F(job, small_difference_is_no_drift)
{
	struct jetwattd_learner *l = &self->l;

	reads(_metadata, l, 0, 100, 20);
	ASSERT_EQ(1, jetwattd_drift_check_first(l));
	EXPECT_EQ(JETWATTD_CHECK_OLD, l->check.state);
	EXPECT_EQ(0, turns(_metadata, l, 0, 105, 20));
	ASSERT_EQ(1, jetwattd_drift_check_first(l));
	EXPECT_EQ(1, turns(_metadata, l, 0, 120, 20));
	/* Beside a server, times vary too much for such a check. */
	l->terms.uneven = 1;
	EXPECT_EQ(0, jetwattd_drift_check_first(l));
}

/* A suspicious reading may mix minibatches from before and after the drift. */
TEST_F(job, suspicious_row_is_dropped)
{
	struct jetwattd_learner *l = &self->l;
	struct jetwatt_prediction predicted[MODES] = { [1] = { .time_ms = 100, .power_w = 20 } };
	struct jetwattd_result r;

	reads(_metadata, l, 0, 100, 20);
	reads(_metadata, l, 1, 150, 20);
	l->known.prediction = predicted;
	l->trying = l->predicted = 1;
	r = measured(l, 1, 150, 20);
	ASSERT_EQ(1, jetwattd_drift_suspected(l, &r));
	ASSERT_EQ(JETWATTD_CHECK_OLD, l->check.state);
	EXPECT_EQ(1, turns(_metadata, l, 0, 200, 20));
	l->known.prediction = NULL;
}

/* The last minibatch of a reading took longer, and so do those of the next reading: the drift came in the middle. */
TEST_F(job, drift_within_a_reading)
{
	struct jetwattd_learner *l = &self->l;
	struct jetwattd_news news;
	struct jetwattd_result r;

	for (int i = 0; i < 6; i++)
		reads(_metadata, l, i, 100, 20);
	reads(_metadata, l, 6, 150, 25);
	l->trying = 6;
	r = measured(l, 6, 150, 25);
	r.jumped_ms = 100;
	ASSERT_EQ(1, jetwattd_drift_suspected(l, &r));
	ASSERT_EQ(JETWATTD_CHECK_JUMP, l->check.state);
	EXPECT_EQ(1, turns(_metadata, l, 6, 200, 30));
	/* The reading in which it came is no row from before it. */
	EXPECT_EQ(6, priors);
	/* Power before the drift is unknown. */
	ASSERT_EQ(1, jetwattd_learner_news(l, &news));
	EXPECT_EQ(JETWATTD_DRIFTED, news.what);
	EXPECT_EQ(100, news.was.time_ms);
	EXPECT_EQ(30, news.was.power_w);
}

TEST_HARNESS_MAIN
