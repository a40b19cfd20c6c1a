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
		jetwattd_window_add(s, i * 200000, i < 49999 ? 10 : 20, 0);
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
