// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ramp: the GPU works but no job is detected, so jetwattd raises the mode step by step. Tested
 * on a board whose power depends on the GPU clock and the number of cores, with a simulated cap
 * that steps down as the real cap does.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <stdlib.h>

#include "near.h"
#include "policy_defaults.h"
#include "virtual_clock.h"

#define STEPS		6
#define MODES		(STEPS * STEPS)
#define BUDGET_W	20.0
#define POLL_NS		250000000ull

static double load;
/* Additional power of the highest mode, in W. */
static double highest_w;
static int switches, said;
/* Result of each switch of mode; attempts that it refused. */
static int refuse, refused;

static double watts(const struct jetwatt_mode *m)
{
	int highest = m->cores == 2 * STEPS && m->gpu_hz == 200000000u * STEPS;

	return 8 + load * m->gpu_hz * 1e-9 * m->cores + (highest ? highest_w : 0);
}

int jetwattd_apply(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	if (refuse) {
		refused++;
		return refuse;
	}
	a->mode = *mode;
	a->applied = 1;
	a->switched_ns = clock_ns;
	switches++;
	return 0;
}

void jetwattd_log(struct jetwattd *d, const char *text, ...)
{
	(void)d;
	(void)text;
	said++;
}

/* Stubs of functions that cap_recovery.c calls only if a job is known. */
int jetwattd_sleep(struct jetwattd_run *r, double seconds)
{
	(void)r;
	(void)seconds;
	return 0;
}

void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing)
{
	r->d->doing = doing;
}

void jetwattd_exclude_mode(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	(void)r;
	(void)got;
}

FIXTURE(ramp) {
	struct jetwattd d;
	struct jetwattd_run run;
	struct jetwattd_policy policy;
	struct jetwatt_mode *mode;
	int found;
};

FIXTURE_SETUP(ramp)
{
	struct jetwattd_run *r = &self->run;

	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->mode = r->learner.known.mode = calloc(MODES, sizeof(*self->mode));
	ASSERT_NE(NULL, self->mode);
	for (int i = 0; i < MODES; i++)
		self->mode[i] = (struct jetwatt_mode){ 2 + i / STEPS * 2, 729600,
						       200000000 + 200000000ull * (i % STEPS), 2133000000 };
	self->d.cap.budget_w = BUDGET_W;
	self->d.act.floor = self->mode[0];
	r->d = &self->d;
	self->policy = policy_defaults();
	/* The policy's back-off is not the default value, so that a hard-coded default would fail
	 * the test. */
	self->policy.backoff_s = 20;
	self->d.policy = &self->policy;
	/* Relative standard deviation of the window means. The ramp keeps a margin of
	 * JETWATTD_SWINGS times this standard deviation below the budget. */
	self->d.cap.swing = 0.01;
	r->learner.known.nr_modes = MODES;
	ASSERT_EQ(0, jetwattd_learner_open(&r->learner));
	jetwattd_ramp_end(r);
	switches = said = refuse = refused = 0;
	highest_w = 0;
}

FIXTURE_TEARDOWN(ramp)
{
	jetwattd_learner_close(&self->run.learner);
	pthread_mutex_destroy(&self->d.lock);
}

/* Simulate the cap: if the power of the mode exceeds the budget, step down to the safe mode. Step
 * down to the lowest mode if there is no safe mode, or if the safe mode is the present mode. */
static void cap(FIXTURE_DATA(ramp) *self)
{
	struct jetwattd *d = &self->d;
	const struct jetwatt_mode *now = d->act.applied ? &d->act.mode : &self->mode[MODES - 1];
	double w = watts(now);

	d->cap.here_w = w;
	if (w <= d->cap.budget_w || (d->act.applied && jetwatt_mode_same(now, &d->act.floor)))
		return;
	jetwattd_apply(&d->act, d->cap.have_safe && !jetwatt_mode_same(now, &d->cap.safe) ? &d->cap.safe : &d->act.floor);
	d->act.low = d->act.mode;
	d->cap.cap_hit = 1;
}

static void turns(FIXTURE_DATA(ramp) *self, int n)
{
	while (n--) {
		clock_ns += POLL_NS;
		cap(self);
		if (!jetwattd_ramp(&self->run))
			continue;
		/* When the ramp has ended, jetwattd restores the board to its state before the
		 * ramp. */
		self->found++;
		self->d.act.applied = self->d.cap.have_safe = 0;
		self->d.act.switched_ns = clock_ns;
		jetwattd_ramp_end(&self->run);
	}
}

TEST_F(ramp, no_mode_is_applied_within_the_budget)
{
	load = 0.5;
	turns(self, 1000);
	EXPECT_EQ(0, switches);
	EXPECT_EQ(0, said);
	/* Without a budget and without a ramp, there is nothing to restore. */
	self->d.cap.budget_w = 0;
	EXPECT_EQ(0, jetwattd_ramp(&self->run));
}

/* Levels 5 to 7 are, in steps of both knobs, 2, 3 and 4 of 5: 11.6, 14.4 and 18 W. At 14.4 W, the factor 14.4 / 11.6
 * leads to 17.9 W, below the limit of 20 W / 1.03; at 18 W, 18 / 14.4 leads to 22.5 W. The cap then has the level
 * below as its safe mode. */
TEST_F(ramp, ramp_rises_by_the_growth_of_the_level_below)
{
	load = 1;
	turns(self, 40);
	EXPECT_EQ(7, self->run.ramp.level);
	EXPECT_NEAR(18, watts(&self->d.act.mode), 1e-6);
	EXPECT_NEAR(14.4, self->d.cap.safe_w, 1e-6);
	EXPECT_NEAR(14.4, watts(&self->d.cap.safe), 1e-6);
}

/* Level 6 draws 8 + 6.4 * 1.5 = 17.6 W, and 20.16 W after the load has risen. Level 5 then draws 8 + 3.6 * 1.9 =
 * 14.84 W, more than 70 % of the limit: how much the next one draws is not known, so it is not tried before "back-off". */
TEST_F(ramp, ramp_does_not_rise_without_knowing_the_growth)
{
	load = 1.5;
	turns(self, 40);
	ASSERT_EQ(6, self->run.ramp.level);
	load = 1.9;
	turns(self, 1);
	ASSERT_EQ(5, self->run.ramp.level);
	switches = 0;
	turns(self, 4 * (int)self->policy.backoff_s - 4);
	EXPECT_EQ(0, switches);
	/* Nor if no sample of this level is known. */
	self->d.cap.here_w = 0;
	clock_ns += 30000000000;
	EXPECT_EQ(0, jetwattd_ramp(&self->run));
	EXPECT_EQ(0, switches);
}

TEST_F(ramp, ramp_uses_the_budget)
{
	load = 2;
	turns(self, 40);
	EXPECT_EQ(1, said);
	EXPECT_TRUE(self->d.act.applied);
	EXPECT_LE(0.7 * BUDGET_W, watts(&self->d.act.mode));
	EXPECT_GE(BUDGET_W, watts(&self->d.act.mode));
	EXPECT_EQ(0, self->found);
	/* The power stays close to the budget. Rare attempts to ramp up further cause at most 12
	 * switches. */
	switches = 0;
	turns(self, 4 * 60);
	EXPECT_GE(12, switches);
	EXPECT_LE(0.7 * BUDGET_W, watts(&self->d.act.mode));
}

TEST_F(ramp, board_is_restored_when_the_work_ends)
{
	load = 2;
	turns(self, 40);
	EXPECT_EQ(0, self->found);
	load = 0.1;
	/* The next higher level is tried again only after the time set by "back-off" in the
	 * policy. */
	turns(self, 4 * (int)self->policy.backoff_s + 40);
	EXPECT_EQ(1, self->found);
	EXPECT_FALSE(self->d.act.applied);
}

TEST_F(ramp, ramp_waits_until_the_overshoot_is_repaid)
{
	load = 2;
	turns(self, 1);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &self->d.act.floor));
	self->d.cap.energy_debt = 1;
	turns(self, 40);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &self->d.act.floor));
	self->d.cap.energy_debt = 0;
	turns(self, 40);
	EXPECT_LE(0.7 * BUDGET_W, watts(&self->d.act.mode));
}

TEST_F(ramp, board_is_restored_without_a_budget)
{
	load = 2;
	turns(self, 40);
	EXPECT_TRUE(self->d.act.applied);
	self->d.cap.budget_w = 0;
	self->d.cap.here_w = 0;
	EXPECT_EQ(1, jetwattd_ramp(&self->run));
	jetwattd_ramp_end(&self->run);
	EXPECT_EQ(0, jetwattd_ramp(&self->run));
}

TEST_F(ramp, ramp_falls_back_to_the_level_below)
{
	double was;
	int level;

	load = 2;
	turns(self, 40);
	was = watts(&self->d.act.mode);
	level = self->run.ramp.level;
	load = 2.0 * (1.02 * BUDGET_W - 8) / (was - 8);
	turns(self, 1);
	EXPECT_GT(was, watts(&self->d.act.mode));
	EXPECT_EQ(level - 1, self->run.ramp.level);
	EXPECT_FALSE(jetwatt_mode_same(&self->d.act.mode, &self->d.act.floor));
	turns(self, 200);
	EXPECT_GE(BUDGET_W, watts(&self->d.act.mode));
}

/* The power just after a switch of mode is still that of the mode before: the ramp does not rise by it. */
TEST_F(ramp, ramp_stays_on_a_level_until_its_power_is_known)
{
	load = 2;
	turns(self, 2);
	EXPECT_EQ(0, self->run.ramp.level);
	turns(self, 1);
	EXPECT_EQ(1, self->run.ramp.level);
}

/* If another process controls the board, the ramp ends. A mode that a knob refuses is skipped. */
TEST_F(ramp, ramp_ends_if_another_process_holds_the_board)
{
	static const int errors[] = { -EBUSY, -EIO };

	for (int i = 0; i < 2; i++) {
		refuse = refused = 0;
		load = 2;
		turns(self, 3);
		ASSERT_TRUE(self->run.ramp.on);
		refuse = errors[i];
		turns(self, 4);
		EXPECT_EQ(i ? 3 : 1, refused);
		jetwattd_ramp_end(&self->run);
		self->d.act.applied = 0;
	}
}

TEST_F(ramp, ramp_levels_are_from_0_to_1)
{
	double least;

	EXPECT_EQ(0.0, jetwattd_span_level(&self->run.learner.span, &self->mode[0], &least));
	EXPECT_EQ(0.0, least);
	/* Two of the knobs have a single level, which is neither low nor high. */
	EXPECT_EQ(1.0, jetwattd_span_level(&self->run.learner.span, &self->mode[MODES - 1], &least));
	EXPECT_EQ(1.0, least);
	/* Without a second mode, no knob has a second level. */
	jetwattd_span_of(&self->run.learner.span, self->mode, 1);
	EXPECT_EQ(0.0, jetwattd_span_level(&self->run.learner.span, &self->mode[0], &least));
	EXPECT_EQ(0.0, least);
}

/* A knob refuses the lowest mode, so the cap keeps the cores that are online. The ramp starts from this
 * mode, which is none of its levels, as from the lowest one. */
TEST_F(ramp, ramp_starts_from_a_substitute_of_the_lowest_mode)
{
	struct jetwattd_actuator *a = &self->d.act;

	load = 1.5;
	a->low = a->floor;
	a->low.cores = 2 * STEPS + 2;
	jetwattd_apply(a, &a->low);
	a->low_ns = clock_ns;
	self->d.cap.cap_hit = 1;
	turns(self, 4 * 10);
	EXPECT_EQ(0, self->found);
	EXPECT_FALSE(jetwatt_mode_same(&a->mode, &a->low));
	EXPECT_LE(0.7 * BUDGET_W, watts(&a->mode));
	EXPECT_GE(BUDGET_W, watts(&a->mode));
}

/* The lowest mode draws 8 + 0.4 * 15 = 14 W, and the next one 32 W. */
TEST_F(ramp, ramp_does_not_rise_at_once_from_a_high_power)
{
	load = 15;
	turns(self, 4 * (int)self->policy.backoff_s - 4);
	EXPECT_EQ(1, switches);
	EXPECT_NEAR(14, watts(&self->d.act.mode), 1e-6);
}

/* Level 6 draws 18.24 W, and once, for a moment, 20.16 W. After "back-off" it is tried again, although level 5 draws
 * 8 + 3.6 * 1.6 = 13.76 W, more than 70 % of the limit. */
TEST_F(ramp, level_that_drew_too_much_is_tried_again)
{
	load = 1.6;
	turns(self, 40);
	EXPECT_NEAR(18.24, watts(&self->d.act.mode), 1e-6);
	load = 1.9;
	turns(self, 1);
	load = 1.6;
	turns(self, 4 * (int)self->policy.backoff_s - 4);
	EXPECT_NEAR(13.76, watts(&self->d.act.mode), 1e-6);
	turns(self, 40);
	EXPECT_NEAR(18.24, watts(&self->d.act.mode), 1e-6);
}

/* If it draws too much again, the cap steps down by this level only. It is not tried from 8 + 3.6 * 2.9 = 18.44 W, more
 * than 90 % of the budget: the cap would step down to the lowest mode. */
TEST_F(ramp, each_try_costs_one_step_down)
{
	load = 1.5;
	turns(self, 40);
	/* At 17.6 W, the growth is known, and too large. */
	switches = 0;
	turns(self, 4 * 60);
	EXPECT_EQ(0, switches);
	load = 1.9;
	turns(self, 1);
	switches = 0;
	for (int i = 0; i < 4 * 60; i++) {
		turns(self, 1);
		EXPECT_LE(14, watts(&self->d.act.mode));
	}
	EXPECT_EQ(4, switches);
	load = 2.9;
	turns(self, 1);
	switches = 0;
	turns(self, 4 * 60);
	EXPECT_NEAR(18.44, watts(&self->d.act.mode), 1e-6);
	EXPECT_EQ(0, switches);
}

/* The clocks of the highest mode are fixed, so an idle board may draw much more power in this mode than
 * in the level below it. In its own state, the board draws less. */
TEST_F(ramp, ramp_ends_if_the_highest_mode_is_within_the_budget)
{
	load = 2;
	turns(self, 40);
	EXPECT_EQ(0, self->found);
	load = 0.4;
	highest_w = 4;
	turns(self, 200);
	EXPECT_EQ(1, self->found);
}

TEST_HARNESS_MAIN
