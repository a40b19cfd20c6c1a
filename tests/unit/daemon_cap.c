// SPDX-License-Identifier: GPL-2.0-only
/*
 * The power cap alone, without jetwattd's loop, on a simulated board whose power follows its mode
 * with a delay: how long the mean power over one second exceeds the budget.
 */
#include <math.h>

#define run run_cap
#include "../../user/daemon/cap_thread.c"
#undef run

#include "board_tree.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"
#include "virtual_clock.h"

#define TICK_MS		5
#define TICK_NS		(TICK_MS * 1000000ull)
#define LAG_S		0.3	/* time constant of the board's power after a switch */
#define SECOND		(1000000000 / TICK_NS)
#define BUDGET		26.0
#define IDLE_W		10.0
#define FLOOR_W		9.0
#define SAFE_W		23.0

void jetwattd_blind(struct jetwattd *d)
{
	(void)d;
}

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };
static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

FIXTURE(cap) {
	struct tree t;
	struct jetwattd d;
	struct jetwattd_policy policy;
	struct jetwattd_cap_check *j;
	double found_w, half_w, top_w, floor_w, drawn_w, err, sum, last[SECOND];
	unsigned int n, age_ms;	/* number of ticks so far; age of a batch of samples, in ms */
	uint64_t since, longest, over;
	int core_sticks, emc_sticks, safe_refused, found_sticks, found_writes;
};

/* Write hook: CPUs refuse to go offline (core_sticks), the memory cap refuses each write
 * (emc_sticks), or the GPU refuses its highest clock (found_sticks). */
static int stubborn(const char *path, const char *text, void *arg)
{
	FIXTURE_DATA(cap) *self = arg;

	if (self->core_sticks && strstr(path, "/online") && atoi(text) == 0) {
		self->safe_refused++;
		return -EBUSY;
	}
	if (self->emc_sticks && strstr(path, EMC6))
		return -EINVAL;
	if (strstr(path, GPU "max_freq") && atoll(text) == 1300500000) {
		self->found_writes++;
		if (self->found_sticks)
			return -EBUSY;
	}
	return tree_write(path, text, &self->t);
}

FIXTURE_SETUP(cap)
{
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	roots.write = stubborn;
	roots.arg = self;
	ASSERT_EQ(0, jetwatt_board_open(&self->d.act.board, &roots, NULL));
	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->d.act.notify = jetwattd_on_event;
	self->d.act.to = &self->d;
	self->d.act.floor = low;
	self->d.cap.safe = mid;
	self->d.cap.safe_w = SAFE_W;
	self->d.cap.swing = JETWATTD_SWING;
	self->d.cap.budget_w = BUDGET;
	self->j = calloc(1, sizeof(*self->j));
	self->j->cap = &self->d.cap;
	self->j->act = &self->d.act;
	self->j->invalidate = &self->d.invalidate;
	self->j->window_s = 1;
	self->drawn_w = self->found_w = IDLE_W;
	self->floor_w = FLOOR_W;
	self->age_ms = JETWATTD_JUDGED_HELD_MS;
}

FIXTURE_TEARDOWN(cap)
{
	self->core_sticks = self->emc_sticks = self->found_sticks = 0;
	jetwatt_board_restore(self->d.act.board, NULL);
	jetwatt_board_close(self->d.act.board);
	free(self->j);
	tree_free(&self->t);
}

static double target(FIXTURE_DATA(cap) *self)
{
	const struct jetwattd *d = &self->d;

	if (!d->act.applied)
		return self->found_w;
	if (d->act.mixed && self->half_w > 0)
		return self->half_w;
	return d->act.mode.gpu_hz == low.gpu_hz ? self->floor_w :
	       jetwatt_mode_same(&d->act.mode, &mid) ? SAFE_W : self->top_w;
}

/* Simulate @seconds. @burst: the power alternates every half second between (1 + @burst) and (1 -
 * @burst) times that of the mode; 0: the power approaches that of the mode with a delay. */
static void passes(FIXTURE_DATA(cap) *self, double seconds, double burst)
{
	for (unsigned int i = 0; i < seconds * SECOND; i++) {
		double w = target(self) * (self->n / (SECOND / 2) % 2 ? 1 + burst : 1 - burst);
		unsigned int at = self->n++ % SECOND;

		self->drawn_w += (w - self->drawn_w) * (burst ? 1 : TICK_NS * 1e-9 / LAG_S);
		jetwattd_window_add(&self->j->drawn, clock_ns += TICK_NS, self->drawn_w * (1 + self->err), 0, 0);
		if (!(self->n % (self->age_ms / TICK_MS)) && self->j->drawn.nr > 1)
			jetwattd_cap_check(self->j);
		self->sum += self->drawn_w - self->last[at];
		self->last[at] = self->drawn_w;
		if (self->n >= SECOND && self->sum > self->d.cap.budget_w * SECOND)
			self->over += TICK_NS;
		if (self->n < SECOND || self->sum <= self->d.cap.budget_w * SECOND)
			self->since = 0;
		else if (!self->since)
			self->since = clock_ns;
		else if (clock_ns - self->since > self->longest)
			self->longest = clock_ns - self->since;
	}
}

static void put(FIXTURE_DATA(cap) *self, const struct jetwatt_mode *mode)
{
	pthread_mutex_lock(&self->d.lock);
	jetwattd_apply(&self->d.act, mode);
	pthread_mutex_unlock(&self->d.lock);
}

static const double times[] = { 1.01, 1.05, 1.1, 1.14, 1.16, 1.2, 1.3, 1.5, 2, 3 };

TEST_F(cap, cap_applies_to_an_unmanaged_board)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		self->found_w = IDLE_W;
		passes(self, 3, 0);
		ASSERT_FALSE(self->d.act.applied);
		self->found_w = times[i] * BUDGET;
		self->longest = 0;
		passes(self, 5, 0);
		EXPECT_TRUE(self->d.act.applied);
		EXPECT_GE(0.7e9, self->longest) TH_LOG("%g budgets", times[i]);
		ASSERT_EQ(0, jetwattd_restore(&self->d.act));
	}
}

TEST_F(cap, mode_over_the_budget_is_left_in_time)
{
	static const struct jetwatt_mode *const from[] = { &low, &mid };

	self->age_ms = JETWATTD_JUDGED_MS;
	self->d.cap.have_safe = 1;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
			put(self, from[k]);
			passes(self, 3, 0);
			self->top_w = times[i] * BUDGET;
			self->longest = 0;
			put(self, &top);
			passes(self, 5, 0);
			EXPECT_FALSE(jetwatt_mode_same(&self->d.act.mode, &top));
			EXPECT_GE(0.9e9, self->longest) TH_LOG("%g budgets, from %zu", times[i], k);
			/* The power rises after the switch; the mode still counts as over the limit. */
			EXPECT_LT(jetwattd_cap_limit(&self->d.cap), self->d.cap.left_w)
				TH_LOG("%g budgets, from %zu", times[i], k);
		}
}

/* Power alternates every half second between 0.7 and 1.3 times its mean: the mean over the budget's
 * window is within the budget; the mean over the short window exceeds the two lower limits. */
TEST_F(cap, peaks_are_limited_by_the_short_window)
{
	self->age_ms = JETWATTD_JUDGED_MS;
	self->d.cap.cap_window_s = 0.1;
	self->top_w = 0.75 * BUDGET;
	for (int i = 0; i < 4; i++) {
		/* Without a limit, just above the peaks, between mean and peaks, below the mean. */
		const double limit_w[] = { 0, 1.31 * self->top_w, 1.1 * self->top_w, 0.9 * self->top_w };
		uint64_t events = self->d.cap.cap_events;

		self->d.cap.cap_w = 0;
		put(self, &top);
		passes(self, 2, 0.3);
		self->d.cap.cap_w = limit_w[i];
		self->d.cap.over_cap_s = 0;
		passes(self, 1.2, 0.3);
		EXPECT_EQ(i < 2, jetwatt_mode_same(&self->d.act.mode, &top)) TH_LOG("limit %g W", limit_w[i]);
		EXPECT_EQ(i < 2, events == self->d.cap.cap_events);
		/* The cap steps down at its next check, and the board's power follows at once. */
		EXPECT_GE(0.13, self->d.cap.over_cap_s) TH_LOG("%g s", self->d.cap.over_cap_s);
		/* The mode that was left is excluded: its power counts as above the limit. */
		if (i >= 2)
			EXPECT_LT(jetwattd_cap_limit(&self->d.cap), self->d.cap.left_w);
		put(self, &low);
		passes(self, 2, 0);
	}
}

/* A peak just after a switch: the power of the new mode is not known yet, and that of the mode which the
 * cap left before is not taken for it. */
TEST_F(cap, peak_just_after_a_switch_is_not_given_the_power_of_another_mode)
{
	self->age_ms = JETWATTD_JUDGED_MS;
	self->d.cap.cap_window_s = 0.1;
	self->d.cap.left_w = 3 * BUDGET;
	put(self, &low);
	passes(self, 2, 1e-9);
	self->d.cap.cap_w = 1.2 * BUDGET;
	self->top_w = 3 * BUDGET;
	put(self, &top);
	passes(self, 0.1, 1e-9);
	EXPECT_EQ(1, self->d.cap.cap_events);
	EXPECT_TRUE(self->d.cap.left_peak);
	EXPECT_GT(2 * BUDGET, self->d.cap.left_w);
	EXPECT_LT(jetwattd_cap_limit(&self->d.cap), self->d.cap.left_w);
	EXPECT_LT(0.01, self->d.cap.left_sd);
}

/* Power from before the limit was lowered is not compared with it, nor is the mean over less than the short
 * window. The peak of a mode does not include the mode before it, which the chip still averages. */
TEST_F(cap, short_window_counts_only_whole_and_in_one_mode)
{
	self->age_ms = JETWATTD_JUDGED_MS;
	self->d.cap.cap_window_s = 0.1;
	self->d.cap.cap_w = 30;
	self->top_w = 25;
	put(self, &top);
	passes(self, 2, 1e-9);
	self->d.cap.cap_w = 24;
	passes(self, 0.04, 1e-9);
	self->top_w = 20;
	passes(self, 1, 1e-9);
	EXPECT_EQ(0, self->d.cap.cap_events);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
	/* From 23 W to 20 W. */
	put(self, &mid);
	passes(self, 2, 1e-9);
	self->top_w = SAFE_W;
	put(self, &top);
	passes(self, 0.08, 1e-9);
	self->top_w = 20;
	passes(self, 1, 1e-9);
	EXPECT_GT(20.5, self->d.cap.peak_w);
	EXPECT_LT(19.5, self->d.cap.peak_w);
}

/* While jetwattd is paused or yields to another program, the cap measures, and switches nothing. */
TEST_F(cap, paused_cap_switches_nothing)
{
	self->d.cap.cap_window_s = 0.1;
	self->d.cap.cap_w = 1.1 * BUDGET;
	self->found_w = 2 * BUDGET;
	self->j->off = 1;
	self->j->lost = 3;
	passes(self, 5, 0);
	EXPECT_FALSE(self->d.act.applied);
	EXPECT_EQ(0, self->d.cap.cap_events);
	EXPECT_LT(1.9 * BUDGET, self->d.cap.mean_w);
	EXPECT_LT(3, self->d.cap.over_s);
	EXPECT_EQ(3, self->d.cap.lost);
}

/* The job changed, and the safe mode draws more than the budget: the cap goes on to the lowest mode. The
 * safe mode is also skipped if it is too close to the budget, or if only the lowest mode may be applied. */
TEST_F(cap, safe_mode_over_the_budget_is_left_for_the_lowest)
{
	self->d.cap.have_safe = 1;
	self->d.cap.safe_w = 15;
	self->d.cap.budget_w = 0.95 * SAFE_W;
	put(self, &mid);
	passes(self, 3, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &low));
	EXPECT_EQ(1, atomic_exchange(&self->d.invalidate, 0));
	self->d.cap.budget_w = 25;
	self->d.cap.safe_w = SAFE_W;
	self->top_w = 25.2;
	put(self, &top);
	passes(self, 3, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &low));
	self->d.cap.safe_w = 15;
	self->top_w = 30;
	put(self, &top);
	self->d.act.floor_only = 1;
	passes(self, 3, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &low));
}

/* A knob refused the lowest mode, and the mode in its place draws more than the budget: after a while, the
 * cap tries the lowest mode again. */
TEST_F(cap, substitute_of_the_lowest_mode_is_left_later)
{
	put(self, &mid);
	self->d.act.low = mid;
	self->d.act.low_ns = clock_ns;
	self->d.cap.budget_w = 0.9 * SAFE_W;
	passes(self, 3, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &mid));
	clock_ns += JETWATTD_LOW_NS;
	jetwattd_window_add(&self->j->drawn, clock_ns, SAFE_W, 0, 1);
	self->j->from_ns = clock_ns;
	passes(self, 3, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &low));
}

/* The room for the mean power of a mode follows from the peaks of the modes measured last. */
TEST_F(cap, peaks_of_measured_modes_set_the_limit_of_the_mean)
{
	self->age_ms = JETWATTD_JUDGED_MS;
	self->d.cap.cap_window_s = 0.1;
	self->d.cap.cap_w = 30;
	EXPECT_GT(BUDGET, jetwattd_cap_limit(&self->d.cap));
	/* Before any mode was measured, its peaks are taken to be 10 % higher than its mean. */
	self->d.cap.budget_w = 30;
	EXPECT_GT(30 / 1.1, jetwattd_cap_limit(&self->d.cap));
	self->d.cap.budget_w = BUDGET;
	self->top_w = 20;
	put(self, &top);
	self->d.cap.measuring_ns = clock_ns;
	passes(self, 4, 0.3);
	jetwattd_cap_measured(&self->d.cap, 20);
	EXPECT_GT(30 / 1.3, jetwattd_cap_limit(&self->d.cap));
	EXPECT_LT(30 / 1.33, jetwattd_cap_limit(&self->d.cap));
	/* Eight modes later, the peaks of that mode are forgotten. */
	for (int i = 0; i < JETWATTD_CRESTS; i++) {
		EXPECT_GT(30 / 1.3, jetwattd_cap_limit(&self->d.cap)) TH_LOG("%d modes later", i);
		self->d.cap.peak_w = 21;
		jetwattd_cap_measured(&self->d.cap, 20);
	}
	EXPECT_LT(BUDGET / (1 + JETWATTD_SWINGS * JETWATTD_SWING) - 1e-9, jetwattd_cap_limit(&self->d.cap));
}

/* Once the energy overshoot is repaid, a mode with a power close to the budget may follow. */
TEST_F(cap, energy_overshoot_is_repaid)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint64_t trips = self->d.cap.cap_events;
		int turns = 0;

		self->age_ms = JETWATTD_JUDGED_MS;
		put(self, &low);
		passes(self, 3, 0);
		self->longest = 0;
		self->top_w = times[i] * BUDGET;
		put(self, &top);
		while (self->d.cap.cap_events == trips)
			passes(self, 0.02, 0);
		EXPECT_TRUE(self->d.cap.energy_debt);
		while (self->d.cap.energy_debt && turns++ < 100)
			passes(self, 0.02, 0);
		EXPECT_GT(60, turns) TH_LOG("%g budgets: %d ms", times[i], turns * 20);
		/* The energy of the last second leaves some room for the next mode. */
		EXPECT_GT(0.975 * BUDGET * SECOND, self->sum) TH_LOG("%g budgets: %g W", times[i], self->sum / SECOND);
		self->top_w = 0.985 * BUDGET;
		put(self, &top);
		passes(self, 5, 0);
		EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
		EXPECT_EQ(trips + 1, self->d.cap.cap_events) TH_LOG("%g budgets", times[i]);
		EXPECT_GE(0.9e9, self->longest) TH_LOG("%g budgets", times[i]);
	}
}

TEST_F(cap, lower_budget_is_enforced_at_once)
{
	for (double to = 25; to > 9.5; to -= 1.5) {
		self->d.cap.have_safe = 1;
		self->d.cap.budget_w = 30;
		put(self, &top);
		self->top_w = 27;
		passes(self, 3, 0);
		ASSERT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
		jetwattd_budget(&self->d, to);
		EXPECT_EQ(1, atomic_exchange(&self->d.invalidate, 0));
		self->longest = 0;
		passes(self, 6, 0);
		EXPECT_GE(2.2e9, self->longest) TH_LOG("from 27 W to %g W", to);
		/* After the budget is lowered, the cap steps down to a mode well within the new
		 * budget. */
		EXPECT_GE(JETWATTD_SAFE * to, target(self)) TH_LOG("from 27 W to %g W", to);
	}
	/* The power drops as the budget is lowered: what was drawn before is no excess. */
	self->d.cap.budget_w = 30;
	put(self, &top);
	passes(self, 3, 0);
	self->d.cap.cap_events = self->d.cap.over_s = 0;
	jetwattd_budget(&self->d, 20);
	self->top_w = 15;
	passes(self, 3, 1e-9);
	EXPECT_EQ(0, self->d.cap.cap_events);
	EXPECT_EQ(0, self->d.cap.over_s);
}

TEST_F(cap, mode_within_the_budget_stays)
{
	put(self, &top);
	self->top_w = 0.99 * BUDGET;
	passes(self, 20, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
	/* Power exceeds the budget in every second half second, but its mean over one second
	 * does not. */
	self->top_w = 0.95 * BUDGET;
	passes(self, 20, 0.5);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
	EXPECT_EQ(0, self->d.cap.cap_events);
	EXPECT_EQ(0, self->longest);
	/* A peak brings the mean to 99.75 % of the budget for less than half a second. */
	self->top_w = 0.5 * BUDGET;
	passes(self, 2, 1e-9);
	self->top_w = 0.99 * BUDGET;
	passes(self, 3, 1e-9);
	self->top_w = 1.02 * BUDGET;
	passes(self, 0.25, 1e-9);
	self->top_w = 0.96 * BUDGET;
	passes(self, 0.25, 1e-9);
	self->top_w = 0.99 * BUDGET;
	passes(self, 3, 1e-9);
	EXPECT_EQ(0, self->d.cap.cap_events);
}

/* The cap allows for sensors that read slightly less than the true power. */
TEST_F(cap, sensor_error_is_allowed_for)
{
	for (double err = 0; err < 0.0041; err += 0.001) {
		put(self, &low);
		passes(self, 3, 0);
		self->longest = 0;
		self->err = -err;
		self->top_w = BUDGET * 1.0005;
		put(self, &top);
		passes(self, 5, 0);
		EXPECT_FALSE(jetwatt_mode_same(&self->d.act.mode, &top)) TH_LOG("%g low", err);
		EXPECT_GE(0.9e9, self->longest) TH_LOG("%g low", err);
	}
	/* In the lowest mode, a power slightly below the budget is no cap event. */
	self->err = 0;
	put(self, &low);
	self->d.cap.budget_w = FLOOR_W / 0.997;
	passes(self, 3, 0);
	self->d.cap.cap_events = 0;
	passes(self, 5, 0);
	EXPECT_EQ(0, self->d.cap.cap_events);
}

/* If a knob refuses the safe mode that the cap steps down to, the cap lowers the clocks. */
TEST_F(cap, refused_safe_mode_falls_back_to_lower_clocks)
{
	for (int emc = 0; emc < 2; emc++) {
		put(self, &top);
		self->d.cap.have_safe = 1;
		self->core_sticks = 1;
		self->emc_sticks = emc;
		self->safe_refused = 0;
		self->top_w = 1.05 * BUDGET;
		self->longest = 0;
		passes(self, 60, 0);
		/* The number of cores stays, as does the memory clock if its knob refuses; the cap
		 * lowers all other clocks. */
		EXPECT_EQ(12, self->d.act.mode.cores);
		EXPECT_EQ(low.gpu_hz, self->d.act.mode.gpu_hz);
		EXPECT_EQ(low.cpu_khz, self->d.act.mode.cpu_khz);
		EXPECT_EQ(emc ? top.emc_hz : low.emc_hz, self->d.act.mode.emc_hz);
		EXPECT_EQ(low.gpu_hz, (uint64_t)tree_get(&self->t, GPU "max_freq"));
		EXPECT_GE(0.9e9, self->longest);
		/* The cap has tried the refused safe mode and the lowest mode at most once each. */
		EXPECT_GE(2, self->safe_refused);
		EXPECT_FALSE(self->d.cap.have_safe);
		/* Knobs that differ from the requested mode after a refusal do not count as changed
		 * by another process. */
		EXPECT_EQ(0, self->d.act.others);
		self->core_sticks = self->emc_sticks = 0;
		put(self, &low);
		passes(self, 3, 0);
	}
}

/* A refused switch could not be rolled back: the knobs differ because of jetwattd itself. */
TEST_F(cap, torn_switch_is_not_a_foreign_change)
{
	put(self, &top);
	self->t.fail_at = self->t.writes + 3;
	self->t.fail_for = 1000;
	self->t.fail = EIO;
	passes(self, 1, 0);
	self->top_w = 1.3 * BUDGET;
	passes(self, 2, 0);
	EXPECT_TRUE(self->d.act.mixed);
	EXPECT_EQ(0, self->d.act.others);
	EXPECT_NE(JETWATTD_YIELDING, self->d.doing);
	self->t.fail_at = 0;
	passes(self, 2, 0);
	EXPECT_FALSE(self->d.act.mixed);
	EXPECT_FALSE(jetwatt_mode_same(&self->d.act.mode, &top));
	EXPECT_EQ(0, self->d.act.others);
}

/* A restore is refused halfway, and the board draws too much: the cap steps down, and the pending
 * restore neither precedes nor undoes that. */
TEST_F(cap, cap_steps_down_during_a_refused_restore)
{
	for (int longer = 0; longer < 2; longer++) {
		put(self, &mid);
		passes(self, 3, 0);
		self->found_sticks = 1;
		ASSERT_NE(0, jetwattd_restore(&self->d.act));
		ASSERT_EQ(JETWATTD_RESTORING, self->d.doing);
		self->found_w = self->half_w = 1.3 * BUDGET;
		self->found_sticks = longer;
		self->found_writes = 0;
		self->longest = 0;
		for (int i = 0; i < 20; i++) {
			passes(self, 1, 0);
			pthread_mutex_lock(&self->d.lock);
			jetwattd_check_knobs(&self->d.act);
			pthread_mutex_unlock(&self->d.lock);
			self->found_sticks = longer && i < 2;
		}
		EXPECT_TRUE(self->d.act.applied);
		EXPECT_FALSE(self->d.act.mixed);
		EXPECT_EQ(JETWATTD_IDLE, self->d.doing);
		EXPECT_EQ(0, self->found_writes);
		EXPECT_GE(0.9e9, self->longest) TH_LOG("%g s", self->longest * 1e-9);
		self->d.cap.have_safe = 0;
	}
}

/* over_s agrees with the time over the budget that the test measures, in the lowest mode and
 * while the cap steps down. */
TEST_F(cap, time_over_the_budget_is_counted)
{
	self->floor_w = 1.2 * BUDGET;
	self->top_w = 1.4 * BUDGET;
	put(self, &top);
	passes(self, 60, 0);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &low));
	EXPECT_LT(50, self->d.cap.over_s);
	EXPECT_GT(0.2, fabs(self->over * 1e-9 - self->d.cap.over_s)) TH_LOG("%g s, not %g", self->d.cap.over_s, self->over * 1e-9);
	/* cap_floor_hits is increased once per averaging window. */
	EXPECT_LT(50, self->d.cap.cap_floor_hits);
	EXPECT_GE(61, self->d.cap.cap_floor_hits);

	/* over_s also counts the time over the budget before the cap steps down. */
	self->floor_w = FLOOR_W;
	passes(self, 3, 0);
	self->over = self->d.cap.over_s = 0;
	for (int i = 0; i < 10; i++) {
		put(self, &top);
		passes(self, 4, 0);
	}
	EXPECT_LT(1, self->over * 1e-9);
	EXPECT_GT(0.1 * self->over * 1e-9 + 0.5, fabs(self->over * 1e-9 - self->d.cap.over_s))
		TH_LOG("%g s, not %g", self->d.cap.over_s, self->over * 1e-9);
}

TEST_HARNESS_MAIN
