// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drift of a job while the learner measures modes: which readings date from before the drift and
 * are dropped, and which are kept. A check measures a mode again and gets the time that it takes
 * after the drift.
 */
#include "daemon/learner_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/terms.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"

#define MODES	60
#define ROWS	13
#define NOISE	0.01

static double factor = 1;
static int looks, looked_again, hot, drifts;
static uint64_t state = 1;

static double noise(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + NOISE * ((double)(state >> 33) / 4294967296.0 - 0.25);
}

/* Return the row (time and power) of a job whose GPU work and CPU work overlap partly. */
static struct jetwatt_row row_of(const struct jetwatt_mode *m, double by)
{
	double gpu = 40e9 / m->gpu_hz, cpu = 60e6 / m->cpu_khz / m->cores;

	return (struct jetwatt_row){
		.mode = *m, .time_ms = by * noise() * (fmax(gpu, cpu) + 0.3 * fmin(gpu, cpu)),
		.power_w = noise() * (6 + 12e-9 * m->gpu_hz + 1.5e-6 * m->cpu_khz * m->cores),
		.time_sd = NOISE, .power_sd = NOISE,
	};
}

static double before_ms;

FIXTURE(drift_rows) {
	struct jetwattd_learner learner;
	struct jetwatt_mode *mode, board;
};

FIXTURE_SETUP(drift_rows)
{
	struct jetwattd_policy policy = policy_defaults();
	struct jetwattd_terms terms = jetwattd_policy_terms(&policy, false);
	struct jetwattd_learner *l = &self->learner;

	self->mode = l->known.mode = calloc(MODES, sizeof(*self->mode));
	ASSERT_NE(NULL, self->mode);
	for (int i = 0; i < MODES; i++)
		self->mode[i] = (struct jetwatt_mode){ 2 + 2 * (i % 5), 422400 + 300000 * (i / 5 % 4),
						       300000000 + 300000000ull * (i / 20), 2133000000 };
	l->known.nr_modes = MODES;
	ASSERT_EQ(0, jetwattd_learner_open(l));
	l->known.prediction = calloc(MODES, sizeof(*l->known.prediction));
	ASSERT_NE(NULL, l->known.prediction);
	jetwattd_learner_budget(l, 100, 100);
	terms.limit_w = 100;
	terms.share = 1;
	jetwattd_learner_resume(l, &terms);
	looks = looked_again = hot = drifts = 0;
	before_ms = 0;
	factor = 1;
}

FIXTURE_TEARDOWN(drift_rows)
{
	jetwattd_learner_close(&self->learner);
}

/* Run the checks that the learner requests until the learner has decided. Return: whether the job
 * has drifted. */
static int checks(FIXTURE_DATA(drift_rows) *self, int asked)
{
	struct jetwattd_learner *l = &self->learner;
	struct jetwattd_news news;
	int turned = 0;

	while (asked) {
		struct jetwattd_result result = { .outcome = hot ? JETWATTD_HOT : JETWATTD_MEASURED };
		int here = l->check.state == JETWATTD_CHECK_JUMP;

		looks++;
		looked_again += !here;
		result.reading.m.row = row_of(here ? &self->board : &l->check.mode, factor);
		result.reading.m.row.mode = l->check.mode;
		asked = jetwattd_drift_evaluate(l, &result, &turned);
		while (jetwattd_learner_news(l, &news))
			drifts += news.what == JETWATTD_DRIFTED;
	}
	return turned;
}

static int drifted(FIXTURE_DATA(drift_rows) *self)
{
	return checks(self, jetwattd_drift_check_first(&self->learner));
}

/* Mode @i was just measured; @predicted: time and power of the mode as predicted before the
 * measurement. */
static int suspected(FIXTURE_DATA(drift_rows) *self, size_t i,
		     const struct jetwatt_prediction *predicted)
{
	struct jetwattd_result tried = { .jumped_ms = before_ms,
					 .here = jetwatt_mode_same(&self->board, &self->mode[i]) };
	struct jetwattd_learner *l = &self->learner;

	l->trying = i;
	l->predicted = predicted != NULL;
	if (predicted)
		l->known.prediction[i] = *predicted;
	return checks(self, jetwattd_drift_suspected(l, &tried));
}

/* Set the first @old readings to those of a job that takes @by times as long, the others to those
 * of the job after the drift. */
static void learned(FIXTURE_DATA(drift_rows) *self, size_t old, double by)
{
	struct jetwatt_tuner *k = &self->learner.known;

	k->nr_rows = 0;
	jetwatt_estimator_forget(&k->by);
	for (size_t i = 0; i < ROWS; i++) {
		struct jetwatt_row row = row_of(&self->mode[(i * 37 + 11) % MODES], i < old ? by : 1);

		/* In readings 2 and 7, the mode was left before its time was measured. */
		if (i == 2 || i == 7)
			row.time_sd = JETWATT_ROW_NO_TIME;
		jetwattd_learner_estimate(&self->learner, &row);
	}
	looks = looked_again = 0;
}

/* Return the number of remaining readings that do not match the job after the drift. */
static int wrong(FIXTURE_DATA(drift_rows) *self)
{
	int n = 0;

	for (size_t i = 0; i < self->learner.known.nr_rows; i++) {
		const struct jetwatt_row *row = &self->learner.known.row[i];

		n += jetwatt_row_has_time(row) && fabs(log(row->time_ms / row_of(&row->mode, factor).time_ms)) > 0.05;
	}
	return n;
}

TEST_F(drift_rows, unchanged_job_keeps_all_readings)
{
	learned(self, 0, 1);
	EXPECT_EQ(0, drifted(self));
	EXPECT_EQ(1, looks);
	EXPECT_EQ(ROWS, self->learner.known.nr_rows);
	EXPECT_EQ(0, drifts);
}

/* The time in the oldest row is 17 % too long, with a standard error of 7 %. */
TEST_F(drift_rows, uncertain_reading_is_no_drift)
{
	learned(self, 0, 1);
	self->learner.known.row[0].time_ms *= 1.17;
	self->learner.known.row[0].time_sd = 0.07;
	EXPECT_EQ(0, drifted(self));
	EXPECT_EQ(ROWS, self->learner.known.nr_rows);
}

TEST_F(drift_rows, readings_from_before_the_drift_are_dropped)
{
	static const double times[] = { 0.4, 0.7, 1.3, 2.3 };

	for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
		for (size_t old = 1; old <= ROWS; old++) {
			double by = times[k];

			learned(self, old, by);
			EXPECT_EQ(1, drifted(self)) TH_LOG("%zu of them, %g", old, by);
			EXPECT_EQ(0, wrong(self)) TH_LOG("%zu of them, %g", old, by);
			EXPECT_GE(6, looks) TH_LOG("%zu of them, %g", old, by);
			/* No reading from after the drift is dropped. */
			EXPECT_LE(ROWS - old, self->learner.known.nr_rows) TH_LOG("%zu of them, %g", old, by);
		}
}

/* The dropped readings, used as a prior, predict the times of the changed job. */
TEST_F(drift_rows, old_readings_serve_as_prior)
{
	struct jetwatt_prediction p;
	struct jetwatt_fitted *m;

	learned(self, ROWS, 2);
	ASSERT_EQ(1, drifted(self));
	ASSERT_TRUE(jetwatt_estimator_cross_device_agrees(&self->learner.known.by, self->learner.known.row,
						self->learner.known.nr_rows));
	ASSERT_EQ(0, jetwatt_estimator_fit(&m, &self->learner.known.by, self->learner.known.row,
					   self->learner.known.nr_rows, 0, 1));
	for (int i = 0; i < MODES; i++) {
		ASSERT_EQ(0, jetwatt_fitted_predict(m, &self->mode[i], NULL, 1, &p));
		EXPECT_GT(0.25, fabs(log(p.time_ms / row_of(&self->mode[i], 1).time_ms))) TH_LOG("mode %d", i);
	}
	jetwatt_fitted_free(m);
}

TEST_F(drift_rows, throttling_is_not_drift)
{
	learned(self, ROWS, 0.5);
	hot = 1;
	EXPECT_EQ(0, drifted(self));
	EXPECT_EQ(ROWS, self->learner.known.nr_rows);
}

/* The job changes during a reading, so the reading mixes minibatches from before and after the
 * change. */
TEST_F(drift_rows, reading_across_the_drift_is_dropped)
{
	struct jetwatt_tuner *k = &self->learner.known;
	struct jetwatt_row *last;

	learned(self, ROWS, 2);
	last = &k->row[ROWS - 1];
	self->board = last->mode;
	before_ms = last->time_ms;
	last->time_ms *= 0.7;
	EXPECT_EQ(1, suspected(self, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_EQ(1, k->nr_rows);
	EXPECT_EQ(0, wrong(self));
	/* The tried mode was left because of its power, so each check switches to a known mode. */
	learned(self, ROWS, 2);
	self->board = k->row[0].mode;
	before_ms = k->row[ROWS - 1].time_ms;
	k->row[ROWS - 1].time_ms *= 0.7;
	EXPECT_EQ(1, suspected(self, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_LT(0, looked_again);
	EXPECT_EQ(looks, looked_again);
	EXPECT_EQ(0, wrong(self));
	/* A single reading was an outlier and the job has not changed: no reading is dropped. */
	learned(self, 0, 1);
	last = &k->row[ROWS - 1];
	self->board = last->mode;
	before_ms = 1.5 * last->time_ms;
	EXPECT_EQ(0, suspected(self, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_EQ(ROWS, k->nr_rows);
}

/* If a mode takes about as long as predicted, no check is requested. */
TEST_F(drift_rows, only_unexpected_readings_are_checked)
{
	struct jetwatt_prediction predicted = { .time_sd = 0.05, .power_sd = 0.05 };
	struct jetwatt_tuner *k = &self->learner.known;
	size_t i = ((ROWS - 1) * 37 + 11) % MODES;

	learned(self, 0, 1);
	predicted.time_ms = k->row[ROWS - 1].time_ms * 1.1;
	EXPECT_EQ(0, suspected(self, i, &predicted));
	EXPECT_EQ(0, looks);
	predicted.time_ms *= 2;
	EXPECT_EQ(0, suspected(self, i, &predicted));
	EXPECT_EQ(1, looks);
	EXPECT_EQ(ROWS, k->nr_rows);
	/* Try every number @old of readings from before the drift. */
	for (size_t old = 1; old < ROWS; old++) {
		/* The fastest known mode is among the readings from before the drift. */
		learned(self, old, 0.02);
		EXPECT_EQ(1, suspected(self, i, &predicted)) TH_LOG("%zu", old);
		EXPECT_LE(ROWS - old, k->nr_rows) TH_LOG("%zu", old);
		EXPECT_EQ(0, wrong(self)) TH_LOG("%zu", old);
		EXPECT_GE(6, looks) TH_LOG("%zu", old);
	}
}

TEST_HARNESS_MAIN
