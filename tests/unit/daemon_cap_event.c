// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the cap steps down and what it then reports, with figures computed by hand. Power changes at once,
 * there is a sample each 10 ms and a decision each 20 ms, so a mean exceeds its limit at a known time.
 */
#include "daemon/cap_limit.h"

#include <stdlib.h>

#include "near.h"
#include "virtual_clock.h"

#define TICK_NS		10000000ull
#define BUDGET_W	20.0

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };
static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

FIXTURE(event)
{
	struct jetwattd_cap cap;
	struct jetwattd_actuator act;
	struct jetwattd_cap_check *j;
	atomic_int invalidate;
	unsigned int n;
};

static void put(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	a->mode = *mode;
	a->applied = 1;
	a->switched_ns = clock_ns;
}

int jetwattd_apply_low(struct jetwattd_actuator *a, const struct jetwatt_mode *to)
{
	put(a, to);
	return 0;
}

FIXTURE_SETUP(event)
{
	self->j = calloc(1, sizeof(*self->j));
	ASSERT_NE(NULL, self->j);
	self->j->cap = &self->cap;
	self->j->act = &self->act;
	self->j->invalidate = &self->invalidate;
	self->j->window_s = 1;
	self->act.floor = low;
	self->cap.budget_w = BUDGET_W;
	self->cap.safe = mid;
	self->cap.safe_w = 12;
}

FIXTURE_TEARDOWN(event)
{
	free(self->j);
}

static void draw(FIXTURE_DATA(event) *self, double seconds, double w)
{
	jetwattd_window_add(&self->j->drawn, clock_ns, w, 0, 0);
	for (int i = 0; i < seconds * 100 - 0.5; i++) {
		jetwattd_window_add(&self->j->drawn, clock_ns += TICK_NS, w, 0, 0);
		if (!(++self->n % 2))
			jetwattd_cap_check(self->j);
	}
}

/* Draw @w until the next cap event, at most for 5 s. Return: time until then, in ms. */
static int until_event(FIXTURE_DATA(event) *self, double w)
{
	uint64_t begin = clock_ns, events = self->cap.cap_events;

	while (self->cap.cap_events == events && clock_ns - begin < 5000000000)
		draw(self, 0.02, w);
	return (int)((clock_ns - begin) / 1000000);
}

static void lower_budget(FIXTURE_DATA(event) *self, double before_w)
{
	self->cap.budget_w = 30;
	draw(self, 2, before_w);
	self->cap.budget_w = BUDGET_W;
}

/* The first 0.1 s, which the chip averages with the mode before, does not count, nor does the first second
 * after them; in less than two seconds, the first half does not count. */
TEST_F(event, power_of_the_mode_that_is_left)
{
	struct jetwattd_cap *c = &self->cap;

	draw(self, 1, 10);
	put(&self->act, &top);
	draw(self, 1.1, 19);
	draw(self, 2, 10);
	/* The mean over 1 s exceeds 20 W when 10 W + 18 W * t does: after 0.556 s. */
	EXPECT_EQ(560, until_event(self, 28));
	EXPECT_NEAR((2 * 10 + 0.56 * 28) / 2.56, c->left_w, 1e-6);
	EXPECT_NEAR(0.02 * 0.5, c->left_sd, 1e-9);
	EXPECT_TRUE(jetwatt_mode_same(&top, &c->left));
	EXPECT_TRUE(jetwatt_mode_same(&low, &self->act.mode));
	EXPECT_EQ(clock_ns, c->stepped_ns);
	EXPECT_EQ(1, c->cap_hit);
	EXPECT_EQ(1, atomic_load(&self->invalidate));
	EXPECT_EQ(0, c->left_peak);
	draw(self, 2, 10);
	put(&self->act, &top);
	draw(self, 0.5, 11.5);
	/* From here, 10.75 W + 18 W * t. Of the 0.92 s from 0.1 s on, the later half draws 28 W. */
	EXPECT_EQ(520, until_event(self, 28));
	EXPECT_NEAR(28, c->left_w, 1e-6);
	EXPECT_NEAR(0.02 * sqrt(0.5 / 0.46), c->left_sd, 1e-9);
	/* A quarter of the window exceeds 1.5 budgets too early for the power to be known. */
	draw(self, 2, 10);
	put(&self->act, &top);
	EXPECT_EQ(160, until_event(self, 45));
	EXPECT_EQ(0, c->left_w);
}

/* The limit of the last quarter of the window, 10 W + 56 W/s * t, is 1.15 budgets on a board in its own
 * state, also before the first whole window, and 1.5 budgets in a mode that jetwattd has applied. */
TEST_F(event, sudden_rise)
{
	draw(self, 0.5, 10);
	EXPECT_EQ(240, until_event(self, 24));
	self->act.applied = 0;
	self->j->from_ns = 0;
	draw(self, 2, 10);
	EXPECT_EQ(240, until_event(self, 24));
	draw(self, 2, 10);
	put(&self->act, &top);
	/* The whole window: 10 W + 14 W * t. */
	EXPECT_EQ(720, until_event(self, 24));
	draw(self, 2, 10);
	put(&self->act, &top);
	/* The quarter: 10 W + 120 W/s * t. The safe mode of the past would do, but is none now. */
	EXPECT_EQ(180, until_event(self, 40));
	EXPECT_TRUE(jetwatt_mode_same(&low, &self->act.mode));
}

/* After a step down, a quarter of the window tells of 1.15 budgets, and only a whole window of less. Close to
 * the budget, it takes half a window more. */
TEST_F(event, second_step_down)
{
	static const double w[] = { 24, 22, 19.95 };
	static const int ms[] = { 260, 1000, 1520 };

	for (int i = 0; i < 3; i++) {
		self->cap.have_safe = 1;
		draw(self, 2, 10);
		put(&self->act, &top);
		until_event(self, 45);
		ASSERT_TRUE(jetwatt_mode_same(&mid, &self->act.mode));
		EXPECT_EQ(ms[i], until_event(self, w[i])) TH_LOG("%g W", w[i]);
		EXPECT_TRUE(jetwatt_mode_same(&low, &self->act.mode));
	}
}

/* A knob has refused the lowest mode just now; meanwhile a higher mode was applied. */
TEST_F(event, a_mode_above_the_substitute_of_the_lowest_is_left)
{
	draw(self, 1, 10);
	self->act.low = mid;
	self->act.low_ns = clock_ns;
	put(&self->act, &top);
	EXPECT_EQ(720, until_event(self, 24));
	EXPECT_TRUE(jetwatt_mode_same(&low, &self->act.mode));
}

/* The power drawn under a higher budget does not count, neither in the decision, which begins at the first one
 * with the new budget, nor in the debt: 4 W for 0.26 s are 1.04 J. With a reserve of 3 % of 20 J, the safe
 * mode saves this in 0.205 s. */
TEST_F(event, lowered_budget)
{
	struct jetwattd_cap *c = &self->cap;

	c->have_safe = 1;
	put(&self->act, &top);
	lower_budget(self, 29);
	EXPECT_EQ(280, until_event(self, 24));
	EXPECT_TRUE(jetwatt_mode_same(&mid, &self->act.mode));
	EXPECT_NEAR(24, c->mean_w, 1e-6);
	draw(self, 0.2, 12);
	EXPECT_EQ(1, c->energy_debt);
	draw(self, 0.02, 12);
	EXPECT_EQ(0, c->energy_debt);
}

/* A peak above the limit of the short window raises the power of the mode by the same ratio above the limit of
 * the mean, which is the budget here, unless the power is higher already. */
TEST_F(event, power_of_a_mode_with_peaks)
{
	struct jetwattd_cap *c = &self->cap;

	c->cap_window_s = 0.1;
	c->cap_w = 25;
	draw(self, 1, 10);
	put(&self->act, &top);
	draw(self, 3, 12);
	/* 12 W + 180 W/s * t: 26.4 W. */
	EXPECT_EQ(80, until_event(self, 30));
	EXPECT_NEAR(20 * 26.4 / 25, c->left_w, 1e-6);
	EXPECT_NEAR(0.02, c->left_sd, 1e-9);
	EXPECT_EQ(1, c->left_peak);
	draw(self, 2, 2);
	put(&self->act, &top);
	draw(self, 0.3, 24);
	/* 24 W + 30 W/s * t: 25.2 W, but 25 W in the later half of 0.24 s. */
	EXPECT_EQ(40, until_event(self, 27));
	EXPECT_NEAR(25, c->left_w, 1e-6);
	c->cap_w = 0;
	draw(self, 2, 10);
	put(&self->act, &top);
	until_event(self, 28);
	EXPECT_EQ(0, c->left_peak);
}

/* In the lowest mode, a peak is an event although less than a window counts, and so once in a window. */
TEST_F(event, peaks_in_the_lowest_mode)
{
	self->cap.cap_window_s = 0.1;
	self->cap.cap_w = 25;
	put(&self->act, &low);
	lower_budget(self, 12);
	EXPECT_EQ(120, until_event(self, 30));
	EXPECT_EQ(1, self->cap.cap_floor_hits);
	EXPECT_EQ(1000, until_event(self, 30));
	EXPECT_EQ(2, self->cap.cap_floor_hits);
}

/* The peak is the highest one since the mode has settled. */
TEST_F(event, highest_peak)
{
	self->cap.cap_window_s = 0.1;
	self->cap.cap_w = 25;
	draw(self, 1, 19);
	put(&self->act, &top);
	draw(self, 2, 12);
	EXPECT_NEAR(12, self->cap.peak_w, 1e-6);
	draw(self, 0.2, 18);
	draw(self, 1, 12);
	EXPECT_NEAR(18, self->cap.peak_w, 1e-6);
}

TEST_F(event, no_event_without_a_budget)
{
	struct jetwattd_cap *c = &self->cap;

	c->budget_w = 0;
	c->cap_window_s = 0.1;
	c->cap_w = 25;
	self->j->samples = 7;
	self->j->clock = mid;
	draw(self, 3, 50);
	EXPECT_EQ(0, c->cap_events);
	EXPECT_EQ(0, c->over_s);
	EXPECT_EQ(0, c->over_cap_s);
	EXPECT_NEAR(50, c->mean_w, 1e-6);
	EXPECT_EQ(7, c->samples);
	EXPECT_TRUE(jetwatt_mode_same(&mid, &c->clock));
	/* The first budget is not a lower one: the power before counts. */
	c->cap_w = 0;
	c->budget_w = 40;
	EXPECT_EQ(20, until_event(self, 50));
}

/* The power of a mode is known 0.2 s after the switch, from the samples later than 0.1 s. */
TEST_F(event, power_in_the_present_mode)
{
	draw(self, 2, 10);
	put(&self->act, &top);
	draw(self, 0.1, 15);
	draw(self, 0.1, 12);
	EXPECT_EQ(0, self->cap.here_w);
	draw(self, 0.1, 14);
	EXPECT_NEAR(13, self->cap.here_w, 1e-6);
	draw(self, 2, 13);
	EXPECT_NEAR(13, self->cap.here_w, 1e-6);
}

/* Only windows of a reading count in the swing, from 2.5 s on: five deviations of 0, and the prior, which
 * counts as eight. */
TEST_F(event, swing_of_a_reading)
{
	double prior = JETWATTD_SWING;

	self->cap.swing = prior;
	put(&self->act, &top);
	draw(self, 2.5, 10);
	for (int i = 0; i < 10; i++)
		draw(self, 1, i % 2 ? 10.2 : 10);
	EXPECT_EQ(prior, self->cap.swing);
	self->cap.measuring_ns = clock_ns;
	draw(self, 2.5, 10.2);
	draw(self, 6.1, 10);
	EXPECT_NEAR(prior * sqrt(8. / 13), self->cap.swing, 1e-9);
}

/* As draw(), with chips that average with a time constant of 0.43 s and show @shown_w. */
static void draw_filtered(FIXTURE_DATA(event) *self, double seconds, double w, double *shown_w)
{
	self->j->drawn.filter_ns = 430000000;
	for (int i = 0; i < seconds * 100 - 0.5; i++) {
		*shown_w += (w - *shown_w) * (1 - exp(-0.01 / 0.43));
		jetwattd_window_add(&self->j->drawn, clock_ns += TICK_NS, *shown_w, 430000 * *shown_w, 0);
		if (!(++self->n % 2))
			jetwattd_cap_check(self->j);
	}
}

/*
 * 512 averages, as NVIDIA's nvpower.sh of L4T 35 sets them. Power rises from 10 W to 60 W: over a quarter of the
 * window it exceeds 1.5 budgets when 10 W + 200 W/s * t does, after 0.1 s, when the chips show 20 W. In the safe mode,
 * 12 W, the chips show 18 to 13 W for a second: that is no excess of 15 %, nor energy of this mode.
 */
TEST_F(event, averaging_of_the_chips_is_undone)
{
	double shown_w = 10;

	self->cap.have_safe = 1;
	put(&self->act, &top);
	draw_filtered(self, 2, 10, &shown_w);
	draw_filtered(self, 0.1, 60, &shown_w);
	ASSERT_EQ(0, self->cap.cap_events);
	draw_filtered(self, 0.02, 60, &shown_w);
	ASSERT_EQ(1, self->cap.cap_events);
	ASSERT_TRUE(jetwatt_mode_same(&mid, &self->act.mode));
	draw_filtered(self, 1, 12, &shown_w);
	EXPECT_NEAR(12, self->cap.here_w, 0.05);
	EXPECT_NEAR(12, self->cap.mean_w, 0.05);
	draw_filtered(self, 2, 12, &shown_w);
	EXPECT_EQ(1, self->cap.cap_events);
	/* The safe mode draws too much, too: 12 W + 28 W * t / 0.25 s exceeds 23 W after 0.1 s, in the mode of jetwattd
	 * 1.5 budgets after 0.16 s. */
	draw_filtered(self, 0.2, 40, &shown_w);
	EXPECT_EQ(2, self->cap.cap_events);
	EXPECT_TRUE(jetwatt_mode_same(&low, &self->act.mode));
}

TEST_HARNESS_MAIN
