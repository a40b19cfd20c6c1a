// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modes that are too slow for an inference server with which training shares the GPU: after which
 * wait windows jetwattd detects such a mode, and which modes it then excludes.
 */
#include "daemon/loop.h"

#include <math.h>

#include "kselftest_harness.h"
#include "virtual_clock.h"

#define LIMIT_MS	150.0
#define MODES		4
/* Number of consecutive plans beyond the latency limit after which a mode is too slow, as in
 * server_deadline.c. */
#define BEYOND		3

static double window_ms;

/* Stub of the loop's sleep: simulated time passes, and a wait window ends when the mode has been
 * applied for window_ms. */
int jetwattd_sleep(struct jetwattd_run *r, double seconds)
{
	clock_ns += seconds * 1e9;
	if (clock_ns - r->d->act.switched_ns > window_ms * 1e6 &&
	    r->d->timeshare.ended_ns < r->d->act.switched_ns) {
		pthread_mutex_lock(&r->d->lock);
		jetwattd_deadline_window(r->d, 1);
		pthread_mutex_unlock(&r->d->lock);
	}
	return 0;
}

static const struct jetwatt_mode offer[MODES] = {
	{ 4, 1113600, 216750000, 2133000000 }, { 4, 1113600, 624750000, 2133000000 },
	{ 8, 1113600, 624750000, 3199000000 }, { 4, 2201600, 420750000, 665600000 },
};

FIXTURE(late) {
	struct jetwattd d;
	struct jetwattd_run run;
	const unsigned char *exclusions;
};

FIXTURE_SETUP(late)
{
	struct jetwattd_run *r = &self->run;

	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->d.act.applied = 1;
	self->d.cap.mean_w = 14;
	self->d.act.mode = offer[1];
	self->d.doing = JETWATTD_LEARNING;
	self->d.timeshare.on = self->d.timeshare.planned = 1;
	self->d.timeshare.limit_ms = LIMIT_MS;
	self->d.timeshare.arrival_hz = 20;
	r->d = &self->d;
	r->learner.known.mode = malloc(sizeof(offer));
	ASSERT_NE(NULL, r->learner.known.mode);
	memcpy(r->learner.known.mode, offer, sizeof(offer));
	r->learner.known.nr_modes = MODES;
	ASSERT_EQ(0, jetwattd_learner_open(&r->learner));
	self->exclusions = r->learner.misses_deadline;
}

FIXTURE_TEARDOWN(late)
{
	jetwattd_learner_close(&self->run.learner);
	pthread_mutex_destroy(&self->d.lock);
}

/* Return the row of the learner that was stored last. */
static const struct jetwatt_row *kept(FIXTURE_DATA(late) *self)
{
	const struct jetwatt_tuner *k = &self->run.learner.known;

	return &k->row[k->nr_rows - 1];
}

static void switches(FIXTURE_DATA(late) *self)
{
	self->d.act.switched_ns = clock_ns;
	atomic_store(&self->d.invalidate, 0);
}

/* Simulate @n wait windows of @ms milliseconds each; @switched: the mode was switched during the
 * first window. */
static void windows(FIXTURE_DATA(late) *self, int n, double ms, int switched)
{
	for (int i = 0; i < n; i++) {
		clock_ns += ms * 1e6;
		jetwattd_deadline_window(&self->d, switched && !i);
	}
}

TEST_F(late, windows_within_the_latency_limit_are_fine)
{
	switches(self);
	windows(self, 1000, 0.95 * LIMIT_MS, 1);
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	EXPECT_FALSE(jetwattd_deadline_miss(&self->run));
	/* The first window is long because it began in a slower mode, the second because
	 * training paused. */
	switches(self);
	windows(self, 1, 5 * LIMIT_MS, 1);
	windows(self, 1, 1.9 * LIMIT_MS, 0);
	windows(self, 100, 0.9 * LIMIT_MS, 0);
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	EXPECT_FALSE(jetwattd_deadline_miss(&self->run));
}

TEST_F(late, slow_mode_is_aborted_and_excludes_slower_modes)
{
	switches(self);
	windows(self, 1, 300, 1);
	windows(self, 4, 300, 0);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
	ASSERT_TRUE(jetwattd_deadline_miss(&self->run));
	EXPECT_FALSE(jetwattd_deadline_miss(&self->run));
	EXPECT_EQ(1, self->exclusions[0]);
	EXPECT_EQ(1, self->exclusions[1]);
	EXPECT_EQ(0, self->exclusions[2]);
	EXPECT_EQ(0, self->exclusions[3]);
	ASSERT_EQ(0, jetwattd_deadline_estimate(&self->run));
	EXPECT_EQ(1, self->run.learner.known.nr_rows);
	EXPECT_TRUE(jetwatt_mode_same(&kept(self)->mode, &offer[1]));
	EXPECT_GE(0.01, fabs(kept(self)->time_ms - 300.0));
	EXPECT_GE(0.01, fabs(kept(self)->power_w - 14.0));
	/* jetwattd aborts the reading of a slow mode before the full time of a reading has
	 * passed. */
	switches(self);
	windows(self, 1, 300, 1);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	windows(self, 1, 1200, 0);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
}

TEST_F(late, overloaded_server_is_detected_without_a_window)
{
	windows(self, 10, 80, 0);
	switches(self);
	clock_ns += 5.5 * LIMIT_MS * 1e6;
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	clock_ns += LIMIT_MS * 1e6;
	jetwattd_deadline_check(&self->run);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
	EXPECT_TRUE(jetwattd_deadline_miss(&self->run));
	ASSERT_EQ(0, jetwattd_deadline_estimate(&self->run));
	EXPECT_GE(0.01, fabs(kept(self)->time_ms - 6.5 * LIMIT_MS));
	/* The windows measured in this mode must not count for the mode that follows. */
	window_ms = 400;
	switches(self);
	jetwattd_deadline_catch_up(&self->run);
	EXPECT_LE(self->d.act.switched_ns, self->d.timeshare.ended_ns);
	window_ms = INFINITY;
	switches(self);
	jetwattd_deadline_catch_up(&self->run);
	EXPECT_GE(2.1e9, clock_ns - self->d.act.switched_ns);
}

TEST_F(late, held_mode_is_left_for_a_flood_not_for_a_burst)
{
	switches(self);
	windows(self, 1000, 100, 1);
	self->d.doing = JETWATTD_HOLDING;
	clock_ns += 4000000000ull;
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	clock_ns += 2000000000ull;
	jetwattd_deadline_check(&self->run);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
	EXPECT_EQ(1, self->exclusions[1]);
}

TEST_F(late, verdict_of_the_plan_lasts_until_requests_drop)
{
	switches(self);
	windows(self, 1000, 100, 1);
	self->d.doing = JETWATTD_HOLDING;
	self->d.timeshare.beyond = BEYOND - 1;
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	self->d.timeshare.beyond = BEYOND;
	jetwattd_deadline_check(&self->run);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
	EXPECT_EQ(1, self->exclusions[1]);
	atomic_store(&self->d.invalidate, 0);
	self->d.timeshare.beyond = 0;
	self->d.timeshare.arrival_hz = 17;
	jetwattd_deadline_check(&self->run);
	EXPECT_EQ(1, self->exclusions[1]);
	self->d.timeshare.arrival_hz = 15;
	jetwattd_deadline_check(&self->run);
	EXPECT_EQ(0, self->exclusions[1]);
	EXPECT_TRUE(atomic_load(&self->d.invalidate));
}

TEST_F(late, without_timeshare_nothing_is_late)
{
	self->d.timeshare.on = 0;
	self->d.timeshare.beyond = BEYOND;
	self->d.timeshare.over = 1;
	switches(self);
	clock_ns += 60000000000ull;
	jetwattd_deadline_check(&self->run);
	EXPECT_FALSE(atomic_load(&self->d.invalidate));
	EXPECT_FALSE(jetwattd_deadline_miss(&self->run));
}

TEST_HARNESS_MAIN
