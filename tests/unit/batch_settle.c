// SPDX-License-Identifier: GPL-2.0-only
/* Settling of power after a change of mode: signals without noise, with figures computed by hand. */
#include "energy/settle.h"

#include <errno.h>
#include <stdlib.h>

#include "energy/energy.h"
#include "near.h"

#define MS	1000000ull
#define MOST	2000

FIXTURE(settle)
{
	uint64_t t[MOST];
	double w[MOST];
};

FIXTURE_SETUP(settle)
{
	(void)self;
}

FIXTURE_TEARDOWN(settle)
{
	(void)self;
}

/* Samples each 5 ms for @seconds: @level + @decay * exp(-t / @tau). Return: number of samples. */
static size_t make(FIXTURE_DATA(settle) *s, double seconds, double level, double decay, double tau)
{
	size_t n = (size_t)lround(seconds * 200) + 1;

	for (size_t i = 0; i < n; i++) {
		s->t[i] = 7000 * MS + i * 5 * MS;
		s->w[i] = level + decay * exp(-0.005 * (double)i / tau);
	}
	return n;
}

TEST_F(settle, window_of_whole_minibatches)
{
	EXPECT_NEAR(120e6, jetwatt_batch_window(30 * MS), 1);
	EXPECT_NEAR(100e6, jetwatt_batch_window(50 * MS), 1);
	EXPECT_NEAR(400e6, jetwatt_batch_window(400 * MS), 1);
	EXPECT_NEAR(100e6, jetwatt_batch_window(0), 1);
}

/* 10 W, and 20 W more each second, at irregular times. In 1.232 s are 46 windows of 0.1 s that begin 0.025 s apart, the
 * first at 0.007 s; the mean of each is the power in its middle. */
TEST_F(settle, means_of_a_ramp)
{
	double *y, first, last = 0;
	size_t n;
	long count;

	for (n = 0; last < 1232; n++) {
		self->t[n] = 3000 * MS + (uint64_t)last * MS;
		self->w[n] = 10 + 0.02 * last;
		last += n % 2 ? 9 : 5;
	}
	self->t[n] = 3000 * MS + 1232 * MS;
	self->w[n] = 10 + 0.02 * 1232;
	/* The last sample comes twice. */
	self->t[n + 1] = self->t[n];
	self->w[n + 1] = self->w[n];
	count = jetwatt_batch_windows(self->t, self->w, n + 2, 100e6, &y, &first);
	ASSERT_EQ(46, count);
	EXPECT_NEAR(7e6, first, 1);
	for (long i = 0; i < count; i++)
		EXPECT_NEAR(10 + 20 * (0.007 + 0.025 * (double)i + 0.05), y[i], 1e-9);
	free(y);
	count = jetwatt_batch_windows(self->t, self->w, 10, 100e6, &y, &first);
	EXPECT_EQ(0, count);
	free(y);
}

TEST_F(settle, least_squares)
{
	struct jetwatt_batch_fit f;
	double y[20];

	for (int i = 0; i < 20; i++)
		y[i] = 5 + 3 * exp(-i / 4.);
	f = jetwatt_batch_least(y, 20, 4);
	EXPECT_NEAR(5, f.level, 1e-9);
	EXPECT_NEAR(3, f.decay, 1e-9);
	EXPECT_NEAR(0, f.rss, 1e-9);
	/* A constant: 16 windows, of which each four overlap, are four measurements with an error of 1. */
	for (int i = 0; i < 16; i++)
		y[i] = i % 2 ? 6 : 4;
	f = jetwatt_batch_least(y, 16, 0);
	EXPECT_NEAR(5, f.level, 1e-9);
	EXPECT_NEAR(16, f.rss, 1e-9);
	EXPECT_NEAR(0.5, f.error, 1e-9);
	/* So is a decay that is too slow to be seen. */
	f = jetwatt_batch_least(y, 16, 1e9);
	EXPECT_EQ(0, f.tau);
	EXPECT_NEAR(5, f.level, 1e-9);
	EXPECT_NEAR(0.5, f.error, 1e-9);
}

/* Constant power has settled from the first sample on: after 1 s, or 2 s if the minibatch is not known. */
TEST_F(settle, constant_power)
{
	EXPECT_EQ(-ENODATA, jetwatt_batch_settled_over(self->t, self->w, make(self, 0.95, 20, 0, 1), 50 * MS));
	EXPECT_EQ(0, jetwatt_batch_settled_over(self->t, self->w, make(self, 1.11, 20, 0, 1), 50 * MS));
	EXPECT_EQ(-ENODATA, jetwatt_batch_settled_over(self->t, self->w, make(self, 1.9, 20, 0, 1), 0));
	EXPECT_EQ(0, jetwatt_batch_settled_over(self->t, self->w, make(self, 2.11, 20, 0, 1), 0));
}

/* Return: jetwatt_batch_settled_over() for 2 s of 20 W that rise by @rise, as a fraction, and oscillate by @w, slowly
 * enough that a window does not average it. */
static long rising(FIXTURE_DATA(settle) *s, double rise, double w)
{
	size_t n = make(s, 2, 20, 0, 1);

	for (size_t i = 0; i < n; i++)
		s->w[i] += 20 * rise * (double)i / (double)(n - 1) + w * sin(2 * M_PI * (double)i / 46);
	return jetwatt_batch_settled_over(s->t, s->w, n, 50 * MS);
}

/* The halves differ by half of the rise. From 0.9 % on, power has not settled, even if an oscillation makes the rise
 * uncertain; nor is the level known under a large oscillation. */
TEST_F(settle, rising_power)
{
	for (int i = 0; i < 17; i++)
		for (int k = 2; k < 6; k++) {
			EXPECT_EQ(-ENODATA, rising(self, 0.01 * k, 0.1 * i)) TH_LOG("%d %%, %g W", k, 0.1 * i);
		}
	EXPECT_EQ(0, rising(self, 0, 0.4));
	EXPECT_EQ(-ENODATA, rising(self, 0, 1.2));
	EXPECT_EQ(0, rising(self, 0.01, 0.3));
}

/* 25 W decay to 0.6 % of 20 W in ln(25 / 0.12) = 5.34 time constants: 3.11 s. In a window of 0.1 s that begins there,
 * the mean has decayed half a window further. */
TEST_F(settle, end_of_a_decay)
{
	long at = jetwatt_batch_settled_over(self->t, self->w, make(self, 5, 20, 25, 0.5825), 50 * MS);

	EXPECT_LE(3.11 - 0.05 - 0.03, 0.005 * (double)at);
	EXPECT_GE(3.11 + 0.03, 0.005 * (double)at);
	/* At least 0.3 s have to follow. */
	EXPECT_EQ(-ENODATA, jetwatt_batch_settled_over(self->t, self->w, make(self, 3.2, 20, 25, 0.5825), 50 * MS));
}

/* The level is predicted from 1 s of a decay whose time constant is one of those that are tried, 50 ms * 1.1^20, and
 * better if earlier changes of mode have told this time constant. */
TEST_F(settle, predicted_level)
{
	struct jetwatt_batch_decay none = { { 0 } }, known;
	struct jetwatt_batch_level l;
	double tau = 0.05 * pow(1.1, 20), sd;
	size_t n = make(self, 1, 20, 25, tau);

	ASSERT_EQ(0, jetwatt_batch_level(self->t, self->w, n, 50 * MS, &none, &l));
	EXPECT_NEAR(20, l.w, 2 * l.sd);
	EXPECT_NEAR(20, l.w, 0.2);
	EXPECT_EQ(0, l.decay.like[20]);
	for (int i = 0; i < JETWATT_BATCH_TAUS; i++) {
		EXPECT_GE(0, l.decay.like[i]);
		EXPECT_LE(-20, l.decay.like[i]);
		known.like[i] = i == 20 ? 0 : -1000;
	}
	sd = l.sd;
	ASSERT_EQ(0, jetwatt_batch_level(self->t, self->w, n, 50 * MS, &known, &l));
	EXPECT_NEAR(20, l.w, 1e-3);
	EXPECT_GT(sd, l.sd);
	/* The minibatch is not known, the samples are shorter than 16 windows, or power would be negative. */
	EXPECT_EQ(-ENODATA, jetwatt_batch_level(self->t, self->w, n, 0, &none, &l));
	EXPECT_EQ(-ENODATA, jetwatt_batch_level(self->t, self->w, make(self, 0.45, 20, 25, tau), 50 * MS, &none, &l));
	EXPECT_EQ(0, jetwatt_batch_level(self->t, self->w, make(self, 0.5, 20, 25, tau), 50 * MS, &known, &l));
	EXPECT_EQ(-ENODATA, jetwatt_batch_level(self->t, self->w, make(self, 1, -5, 25, tau), 50 * MS, &known, &l));
}

/*
 * 2 s of 20 W are 77 windows with a minimum error of 0.0015 * 20 W, of which half count. With the time constant of 50 ms,
 * or 2 windows: sum of exp(-i / 2) = 2.5415, sum of the squares = 1.58198, determinant = 77 * 1.58198 - 2.5415^2 =
 * 115.353, spread = sqrt(4 * 1.58198 / 115.353) = 0.23422.
 */
TEST_F(settle, error_of_a_predicted_level)
{
	struct jetwatt_batch_decay known;
	struct jetwatt_batch_level l;

	for (int i = 0; i < JETWATT_BATCH_TAUS; i++)
		known.like[i] = i ? -1000 : 0;
	ASSERT_EQ(0, jetwatt_batch_level(self->t, self->w, make(self, 2, 20, 0, 1), 50 * MS, &known, &l));
	EXPECT_NEAR(20, l.w, 1e-6);
	EXPECT_NEAR(0.23422 * 0.03 / sqrt(0.5), l.sd, 1e-5);
}

/* Earlier changes of mode count 0.9 times. The likelihoods stay relative to the best, and above -20. */
TEST_F(settle, likelihoods_of_decay_times)
{
	struct jetwatt_batch_decay all, one;

	for (int i = 0; i < JETWATT_BATCH_TAUS; i++) {
		all.like[i] = i == 3 ? 0 : -4;
		one.like[i] = i == 5 ? 0 : -2;
	}
	jetwatt_batch_decay_add(&all, &one);
	/* Before the best is subtracted: -2, -3.6 and -5.6. */
	EXPECT_NEAR(0, all.like[3], 1e-9);
	EXPECT_NEAR(-1.6, all.like[5], 1e-9);
	EXPECT_NEAR(-3.6, all.like[7], 1e-9);
	/* Too flat to tell anything. */
	for (int i = 0; i < JETWATT_BATCH_TAUS; i++)
		one.like[i] = i == 5 ? 0 : -0.9;
	jetwatt_batch_decay_add(&all, &one);
	EXPECT_NEAR(-3.6, all.like[7], 1e-9);
	for (int i = 0; i < JETWATT_BATCH_TAUS; i++)
		one.like[i] = i == 3 ? 0 : -19;
	jetwatt_batch_decay_add(&all, &one);
	EXPECT_NEAR(-20, all.like[7], 1e-9);
}

TEST_HARNESS_MAIN
