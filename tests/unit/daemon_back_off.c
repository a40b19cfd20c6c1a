// SPDX-License-Identifier: GPL-2.0-only
/*
 * The back-off after a cap event in a held mode, in virtual time: its length, when the mode is
 * excluded, and which mode is applied meanwhile.
 */
#include "daemon/loop.h"

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "policy_defaults.h"
#include "virtual_clock.h"

#define BUDGET_W	20.0
/* Times from the end of a back-off to the next cap event, in s. */
#define AT_ONCE_S	1
#define LATER_S		700

static int excluded;
/* Time at which the cap steps down to @low from the mode applied then, ns; 0: never. */
static uint64_t step_down_ns;
static const struct jetwatt_mode low = { 2, 422400, 114750000, 665600000 };

int jetwattd_sleep(struct jetwattd_run *r, double seconds)
{
	clock_ns += seconds * 1e9;
	if (step_down_ns && clock_ns >= step_down_ns) {
		r->d->cap.left = r->d->act.mode;
		r->d->act.mode = low;
		r->d->cap.cap_hit = 1;
		step_down_ns = 0;
	}
	return 0;
}

int jetwattd_apply(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	a->mode = *mode;
	a->applied = 1;
	return 0;
}

void jetwattd_log(struct jetwattd *d, const char *text, ...)
{
	(void)d;
	(void)text;
}

void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing)
{
	r->d->doing = doing;
}

void jetwattd_exclude_mode(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	(void)r;
	(void)got;
	excluded++;
}

FIXTURE(back_off) {
	struct jetwattd d;
	struct jetwattd_run run;
	struct jetwattd_policy policy;
	struct jetwattd_backoff b;
	struct jetwatt_mode mode[2];
};

/* Two known modes: the held one, left when the cap stepped down, and a slower one. */
FIXTURE_SETUP(back_off)
{
	struct jetwattd_learner *l = &self->run.learner;
	struct jetwatt_row row = { .time_sd = 0.001, .power_sd = 0.001 };

	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	l->known.mode = calloc(2, sizeof(*l->known.mode));
	ASSERT_NE(NULL, l->known.mode);
	l->known.nr_modes = 2;
	for (int i = 0; i < 2; i++)
		l->known.mode[i] = self->mode[i] =
			(struct jetwatt_mode){ 4, 729600, 300000000 + 300000000ull * i, 2133000000 };
	ASSERT_EQ(0, jetwattd_learner_open(l));
	for (int i = 0; i < 2; i++) {
		row.mode = self->mode[i];
		row.time_ms = 200 / (i + 1);
		row.power_w = 12 + 6 * i;
		ASSERT_EQ(0, jetwatt_tuner_add(&l->known, &row));
	}
	self->run.d = &self->d;
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->policy.backoff_s = 20;
	self->d.cap.budget_w = BUDGET_W;
	self->d.cap.left = self->mode[1];
	excluded = 0;
}

FIXTURE_TEARDOWN(back_off)
{
	jetwattd_learner_close(&self->run.learner);
	pthread_mutex_destroy(&self->d.lock);
}

/* Return the duration of a back-off, in s; -1 on error. @held_s: time since the previous back-off,
 * in s; @over_w: power at the cap event, in W, 0: not known. */
static double back_off(FIXTURE_DATA(back_off) *self, double held_s, double over_w)
{
	struct jetwattd_reading got = { .over_w = over_w, .m.row.mode = self->mode[1] };
	uint64_t begin;

	clock_ns += held_s * 1e9;
	begin = clock_ns;
	self->d.cap.stepped_ns = begin;
	if (jetwattd_back_off(&self->run, &self->b, &got))
		return -1;
	return (clock_ns - begin) * 1e-9;
}

/* Polls at fixed intervals end a back-off up to one interval late. */
#define EXPECT_DURATION(s, is) do { \
	double was = (is); \
	EXPECT_LE(s, was); \
	EXPECT_GE((s) + 0.25, was); \
} while (0)

static int parse(const char *text, struct jetwattd_policy *p)
{
	struct jetwatt_conf_error e;

	return jetwattd_policy_parse(text, strlen(text), p, &e);
}

TEST_F(back_off, the_first_is_the_shortest_that_the_policy_accepts)
{
	struct jetwattd_policy p;

	EXPECT_DURATION(JETWATTD_BACK_OFF_S, back_off(self, AT_ONCE_S, 21));
	EXPECT_EQ(0, parse("back-off = 2s\n", &p));
	EXPECT_EQ(JETWATTD_BACK_OFF_S, p.backoff_s);
	EXPECT_NE(0, parse("back-off = 1.9s\n", &p));
}

TEST_F(back_off, each_further_one_takes_twice_as_long_up_to_the_policys_limit)
{
	static const double lasts[] = { 2, 4, 8, 16, 20, 20 };

	for (int i = 0; i < 6; i++)
		EXPECT_DURATION(lasts[i], back_off(self, AT_ONCE_S, 21));
	EXPECT_EQ(JETWATTD_BACKING_OFF, self->d.doing);
}

TEST_F(back_off, ten_minutes_without_a_cap_event_make_it_short_again)
{
	for (int i = 0; i < 4; i++)
		back_off(self, AT_ONCE_S, 0);
	EXPECT_DURATION(JETWATTD_BACK_OFF_S, back_off(self, LATER_S, 0));
}

TEST_F(back_off, the_second_event_excludes_the_mode_if_its_power_is_known)
{
	back_off(self, AT_ONCE_S, 21);
	EXPECT_EQ(0, excluded);
	back_off(self, AT_ONCE_S, 0);
	EXPECT_EQ(0, excluded);
	back_off(self, AT_ONCE_S, 21);
	EXPECT_EQ(1, excluded);
}

TEST_F(back_off, the_fastest_other_mode_is_applied)
{
	back_off(self, AT_ONCE_S, 21);
	EXPECT_TRUE(self->d.act.applied);
	EXPECT_TRUE(jetwatt_mode_same(&self->mode[0], &self->d.act.mode));
}

/* The cap steps down again, from the other mode: the best mode is then the held one. */
TEST_F(back_off, the_held_mode_is_not_applied_again_before_the_end)
{
	step_down_ns = clock_ns + 1000000000;
	back_off(self, 0, 21);
	EXPECT_TRUE(jetwatt_mode_same(&self->mode[0], &self->d.cap.left));
	EXPECT_TRUE(jetwatt_mode_same(&low, &self->d.act.mode));
}

/* While more energy has been drawn than the budget allows, the slower mode to which the cap has
 * stepped down stays applied, at most for one window. */
TEST_F(back_off, no_mode_is_applied_until_the_overshoot_is_repaid)
{
	struct jetwattd_run *r = &self->run;
	uint64_t begin = clock_ns;

	self->d.cap.energy_debt = 1;
	self->d.cap.stepped_ns = begin;
	EXPECT_EQ(0, jetwattd_recover(r, NULL));
	EXPECT_DURATION(self->policy.window_s, (clock_ns - begin) * 1e-9);
	EXPECT_TRUE(self->d.act.applied);
}

TEST_HARNESS_MAIN
