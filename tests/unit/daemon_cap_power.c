// SPDX-License-Identifier: GPL-2.0-only
/*
 * The power that the cap compares with the budget: the means over windows, their standard deviation,
 * and when the total of all rails is known.
 */
#include <math.h>

#define run run_cap
#include "../../user/daemon/cap_thread.c"
#undef run

#include "kselftest_harness.h"
#include "virtual_clock.h"

void jetwattd_blind(struct jetwattd *d)
{
	(void)d;
}

/* At the highest rate, 5 kHz, the ring covers the longest window, 10 s. */
TEST(ring_covers_the_longest_window)
{
	struct jetwattd_window *s = calloc(1, sizeof(*s));
	uint64_t span;

	ASSERT_NE(NULL, s);
	for (uint64_t i = 0; i < 100000; i++)
		jetwattd_window_add(s, i * 200000, i < 49999 ? 10 : 20, 0, 0);
	EXPECT_GT(1e-6, fabs(jetwattd_window_mean(s, 10000000000, &span) - 20));
	EXPECT_LE(10000000000, span);
	free(s);
}

/* The standard deviation of window means is about the same for slow and fast oscillations of power.
 * A step to another power level does not increase it much. */
TEST(standard_deviation_of_window_means)
{
	for (double period = 2; period < 40; period *= 2) {
		struct jetwattd_swing s = { 0 };
		double sd = JETWATTD_SWING;

		for (int i = 1; i < 400; i++)
			sd = jetwattd_swing(&s, (i < 200 ? 20 : 30) * (1 + 0.014 * sin(2 * M_PI * i / period + 1)),
					    i * 1000000000ull, 0, 1000000000, sd);
		EXPECT_LT(0.008, sd) TH_LOG("a period of %g windows: %g", period, sd);
		EXPECT_GT(0.0125, sd) TH_LOG("a period of %g windows: %g", period, sd);
	}
}

/* Windows that contain a switch of mode do not count. The estimate does not depend on the number of windows. */
TEST(standard_deviation_within_one_mode)
{
	struct jetwattd_swing s = { 0 }, noise = { 0 };
	const uint64_t second = 1000000000;
	double sd = JETWATTD_SWING, noise_sd = JETWATTD_SWING;

	/* Each mode lasts four and a half windows, and draws 2 % more or less than the one before. */
	for (int i = 1; i < 400; i++)
		for (int k = 1; k <= 9; k++)
			sd = jetwattd_swing(&s, 20 + 0.4 * (i % 2 ? k < 2 ? k / 2.0 : 1 : k < 2 ? 1 - k / 2.0 : 0),
					    (9 * i + k) * second / 2, 9 * i * second / 2, second, sd);
	EXPECT_GT(0.003, sd) TH_LOG("%g", sd);
	for (int i = 1; i < 3000; i++)
		noise_sd = jetwattd_swing(&noise, i % 2 ? 19.8 : 20.2, i * second, 0, second, noise_sd);
	EXPECT_LT(0.0095, noise_sd) TH_LOG("%g", noise_sd);
	EXPECT_GT(0.0105, noise_sd) TH_LOG("%g", noise_sd);
}

/* After lost samples, the power before them does not count. An overshoot that has left the window is not
 * repaid again. */
TEST(only_known_power_in_the_window_counts)
{
	struct jetwattd_window *s = calloc(1, sizeof(*s));
	uint64_t ms, span;

	ASSERT_NE(NULL, s);
	for (ms = 0; ms < 6000; ms++)
		jetwattd_window_add(s, ms * 1000000, ms < 1000 ? 30 : 19, 0, 0);
	EXPECT_LT(3.9, jetwattd_window_debt(s, 6000000000, 20));
	EXPECT_EQ(0, jetwattd_window_debt(s, 1000000000, 20));
	jetwattd_window_add(s, ms * 1000000 + 500000000, 12, 0, 1);
	EXPECT_EQ(12, jetwattd_window_mean(s, 1000000000, &span));
	EXPECT_EQ(0, span);
	free(s);
}

/* Feed @n samples, one per ms; @valid: rails with values. Return: the failed rail; -1: none. */
static int hear(struct jetwattd_cap_thread *c, uint64_t *ms, int n, uint32_t valid)
{
	struct jetwatt_power p = { .nr = 3, .valid = valid };

	while (n--) {
		p.time_ns = ++*ms * 1000000;
		cap_on_power(&p, c);
	}
	return c->failed_rail ?
		       (int)((c->failed_rail - c->rail[0].label) / (long)sizeof(c->rail[0])) : -1;
}

/* The total power is known once every rail has delivered samples for a while, and unknown when a
 * rail stops. The module retries a failed chip after one second, so a silent rail counts as failed
 * only after more than a second. */
TEST(total_needs_every_rail)
{
	struct jetwattd d = { .rails = 2 };
	struct jetwattd_cap_thread *c = calloc(1, sizeof(*c));
	uint64_t ms = 0;

	c->d = &d;
	c->total[0] = 0;
	c->total[1] = 2;
	c->nr_total = 2;
	/* First no rail delivers samples, then all rails except rail 2 do. */
	EXPECT_EQ(-1, hear(c, &ms, 500, 0));
	EXPECT_EQ(-1, hear(c, &ms, 900, 3));
	EXPECT_EQ(0, atomic_load(&d.seeing));
	EXPECT_EQ(2, hear(c, &ms, 200, 3));
	EXPECT_EQ(0, atomic_load(&d.seeing));
	/* The two rails deliver samples alternately; then rail 2 delivers none for about a
	 * second. */
	memset(&c->hearing, 0, sizeof(c->hearing));
	c->failed_rail = NULL;
	for (int i = 0; i < 200; i++)
		EXPECT_EQ(-1, hear(c, &ms, 1, i % 2 ? 1 : 4));
	EXPECT_EQ(-1, hear(c, &ms, 1050, 1));
	for (int i = 0; i < 480; i++)
		EXPECT_EQ(-1, hear(c, &ms, 1, i % 2 ? 1 : 4));
	EXPECT_EQ(0, atomic_load(&d.seeing));
	EXPECT_EQ(-1, hear(c, &ms, 100, 5));
	EXPECT_EQ(1, atomic_load(&d.seeing));
	EXPECT_EQ(0, hear(c, &ms, 1600, 4));
	/* The total now has one rail, but the board has two, so the total stays unknown. */
	atomic_store(&d.seeing, 0);
	memset(&c->hearing, 0, sizeof(c->hearing));
	c->failed_rail = NULL;
	c->nr_total = 1;
	EXPECT_EQ(-1, hear(c, &ms, 2000, 5));
	EXPECT_EQ(0, atomic_load(&d.seeing));
	free(c);
}

TEST_HARNESS_MAIN
