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
/* Time from the end of a back-off to the next cap event, in s. */
#define AT_ONCE_S	1

static int excluded;
/* Time at which the cap steps down to @low from the mode applied then, ns; 0: never. */
static uint64_t step_down_ns;
/* Time at which the overshoot is repaid, and from which the loop has other work, ns; 0: never. */
static uint64_t repaid_ns, changed_ns;
/* Set to 1 when a mode is applied while energy is owed. */
static int in_debt;
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
	if (repaid_ns && clock_ns >= repaid_ns)
		r->d->cap.energy_debt = 0;
	return changed_ns && clock_ns >= changed_ns;
}

int jetwattd_apply(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	in_debt |= ((struct jetwattd *)a->to)->cap.energy_debt;
	a->mode = *mode;
	a->applied = 1;
	a->switched_ns = clock_ns;
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
	struct jetwatt_mode mode[3];
};

/* Known modes: the held one, left when the cap stepped down, a slower one, and one slower still. */
FIXTURE_SETUP(back_off)
{
	struct jetwattd_learner *l = &self->run.learner;
	struct jetwatt_row row = { .time_sd = 0.001, .power_sd = 0.001 };

	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	l->known.mode = calloc(3, sizeof(*l->known.mode));
	ASSERT_NE(NULL, l->known.mode);
	l->known.nr_modes = 3;
	for (int i = 0; i < 3; i++)
		l->known.mode[i] = self->mode[i] =
			(struct jetwatt_mode){ 4, i < 2 ? 729600 : 422400, 300000000 + 300000000ull * (i == 1), 2133000000 };
	ASSERT_EQ(0, jetwattd_learner_open(l));
	for (int i = 0; i < 3; i++) {
		row.mode = self->mode[i];
		row.time_ms = i < 2 ? 200 / (i + 1) : 400;
		row.power_w = i < 2 ? 12 + 6 * i : 10;
		ASSERT_EQ(0, jetwatt_tuner_add(&l->known, &row));
	}
	self->run.d = &self->d;
	self->d.act.to = &self->d;
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->policy.backoff_s = 20;
	self->d.cap.budget_w = BUDGET_W;
	self->d.cap.left = self->mode[1];
	excluded = in_debt = 0;
	step_down_ns = repaid_ns = changed_ns = 0;
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

/* The ten minutes begin with the last back-off, here of 16 s, then of 20 s. */
TEST_F(back_off, ten_minutes_without_a_cap_event_make_it_short_again)
{
	for (int i = 0; i < 4; i++)
		back_off(self, AT_ONCE_S, 0);
	EXPECT_DURATION(20, back_off(self, 580, 0));
	EXPECT_DURATION(JETWATTD_BACK_OFF_S, back_off(self, 585, 0));
	EXPECT_DURATION(4, back_off(self, 400, 0));
	EXPECT_DURATION(8, back_off(self, 400, 0));
}

/* In the first ten minutes after boot, too, the first back-off is one. */
TEST_F(back_off, the_first_after_boot)
{
	clock_ns = 5000000000;
	EXPECT_DURATION(JETWATTD_BACK_OFF_S, back_off(self, 0, 21));
	clock_ns = 1000000000000;
}

TEST_F(back_off, the_second_event_excludes_the_mode_if_its_power_is_known)
{
	back_off(self, AT_ONCE_S, 21);
	EXPECT_EQ(0, excluded);
	back_off(self, AT_ONCE_S, 0);
	EXPECT_EQ(0, excluded);
	back_off(self, AT_ONCE_S, 21);
	EXPECT_EQ(1, excluded);
	self->b.last_ns = excluded = 0;
	back_off(self, AT_ONCE_S, 21);
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

/* The same, but the held mode draws more than the budget: the third mode follows. This cap event ends with
 * the back-off. */
TEST_F(back_off, a_further_cap_event_chooses_again)
{
	self->d.cap.budget_w = 17;
	step_down_ns = clock_ns + 1000000000;
	back_off(self, 0, 21);
	EXPECT_TRUE(jetwatt_mode_same(&self->mode[2], &self->d.act.mode));
	EXPECT_EQ(0, self->d.cap.cap_hit);
}

/* The loop has other work, such as a request to pause: the back-off ends, and applies no further mode. */
TEST_F(back_off, a_change_ends_it)
{
	struct jetwattd_reading got = { .m.row.mode = self->mode[1] };
	uint64_t begin = clock_ns;

	changed_ns = begin + 1000000000;
	EXPECT_EQ(1, jetwattd_back_off(&self->run, &self->b, &got));
	EXPECT_DURATION(1, (clock_ns - begin) * 1e-9);
	self->d.act.applied = 0;
	self->d.cap.energy_debt = 1;
	self->d.cap.stepped_ns = begin = clock_ns;
	EXPECT_EQ(1, jetwattd_back_off(&self->run, &self->b, &got));
	EXPECT_DURATION(0, (clock_ns - begin) * 1e-9);
	self->d.cap.energy_debt = 0;
	EXPECT_EQ(1, jetwattd_recover(&self->run, NULL));
	EXPECT_FALSE(self->d.act.applied);
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
	in_debt = 0;
	self->d.cap.stepped_ns = begin = clock_ns;
	repaid_ns = begin + 300000000;
	EXPECT_EQ(0, jetwattd_recover(r, NULL));
	EXPECT_GT(repaid_ns + 50000000, self->d.act.switched_ns);
	EXPECT_LE(repaid_ns, self->d.act.switched_ns);
	EXPECT_EQ(0, in_debt);
}

/* With a swing of 1 %, a mode of 19.6 W is not within 20 W / 1.03, although it is within the budget. */
TEST_F(back_off, the_other_mode_keeps_the_margin_for_the_swing)
{
	struct jetwattd_run *r = &self->run;

	r->learner.known.row[1].power_w = 19.6;
	self->d.cap.left = self->mode[0];
	self->d.cap.swing = 0.01;
	EXPECT_EQ(0, jetwattd_recover(r, NULL));
	EXPECT_TRUE(jetwatt_mode_same(&self->mode[2], &self->d.act.mode));
	self->d.cap.swing = 0.001;
	EXPECT_EQ(0, jetwattd_recover(r, NULL));
	EXPECT_TRUE(jetwatt_mode_same(&self->mode[1], &self->d.act.mode));
}

/* While a job is learned, the next mode is tried when the cap event is a window ago. */
TEST_F(back_off, the_window_of_a_cap_event)
{
	struct jetwattd_run *r = &self->run;
	uint64_t begin = clock_ns;

	self->d.cap.stepped_ns = begin - 400000000;
	EXPECT_EQ(0, jetwattd_wait_window(r));
	EXPECT_EQ(begin + 600000000, clock_ns);
	clock_ns += 5000000000;
	begin = clock_ns;
	EXPECT_EQ(0, jetwattd_wait_window(r));
	EXPECT_EQ(begin, clock_ns);
	self->d.cap.stepped_ns = changed_ns = begin;
	EXPECT_EQ(1, jetwattd_wait_window(r));
}

TEST_HARNESS_MAIN
