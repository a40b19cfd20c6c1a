// SPDX-License-Identifier: GPL-2.0-only
/* Turns of training and inference: what is planned holds when the plan is played. */
#include <math.h>
#include <stdlib.h>

#include "plan/interleave.h"
#include "kselftest_harness.h"

/**
 * struct world - a server and its clients
 * @base, @each: ms of a turn, and of each request in it; @noise: of a turn, relative
 */
struct world {
	double hz, base, each, noise, train_ms, switch_ms;
};

static int poisson(double mean)
{
	double left = exp(-mean), p = drand48();
	int k = 0;

	while (p > left) {
		p *= drand48();
		k++;
	}
	return k;
}

/* The server answers what has come, and what comes meanwhile. @k: gets how many. */
static double turn(const struct world *w, double since, int *k)
{
	int more = poisson(w->hz * since * 1e-3);
	double ms = w->base;

	*k = 0;
	do {
		double step = w->each * more * (1 + w->noise * (2 * drand48() - 1));

		*k += more;
		ms += step;
		more = poisson(w->hz * step * 1e-3);
	} while (more);
	return ms;
}

/* @n windows with @tau minibatches in each. Return: minibatches per second; @late: share
 * of requests that come so early in a window that they wait for longer than @latency_ms. */
static double play(const struct world *w, struct jetwatt_interleave *i, int tau, int n,
		   double latency_ms, double *late)
{
	double ms = 0;

	*late = 0;
	for (int j = 0; j < n; j++) {
		double t, rest = tau * w->train_ms + w->switch_ms;
		int k;

		t = turn(w, rest + w->base, &k);
		if (i)
			jetwatt_interleave_note(i, k, rest + t, t);
		ms += rest + t;
		*late += fmax(rest + t - latency_ms, 0);
	}
	*late /= ms;
	return 1e3 * tau * n / ms;
}

TEST(plans_hold)
{
	double worst = 0;
	int feasible = 0;

	srand48(1);
	for (int run = 0; run < 300; run++) {
		struct world w = { .hz = 5 + 100 * drand48(), .base = 1 + 9 * drand48(),
				   .each = 0.5 + 5 * drand48(), .noise = 0.1 * drand48(),
				   .train_ms = 2 + 60 * drand48(), .switch_ms = drand48() };
		struct jetwatt_interleave_query q = { .latency_ms = 30 + 300 * drand48(),
						      .train_ms = w.train_ms, .switch_ms = w.switch_ms };
		struct jetwatt_interleave_plan p;
		struct jetwatt_interleave i = { 0 };
		double late, rate;

		if (w.hz * w.each > 700)
			continue;
		play(&w, &i, 1, 200, 0, &late);
		q.arrival_hz = jetwatt_interleave_rate(&i);
		EXPECT_LT(fabs(q.arrival_hz / w.hz - 1), 0.6);
		if (!jetwatt_interleave_plan(&i, &q, &p))
			continue;
		feasible++;
		ASSERT_LE(1, p.tau);
		ASSERT_LE(p.latency_ms, q.latency_ms);
		rate = play(&w, NULL, p.tau, 2000, q.latency_ms, &late);
		EXPECT_LE(0.9 * p.throughput_hz, rate) TH_LOG("run %d", run);
		EXPECT_LE(late, 0.01) TH_LOG("run %d", run);
		worst = fmax(worst, late);
	}
	TH_LOG("%d of 300 feasible, at most %.2f %% of requests late", feasible, 100 * worst);
	EXPECT_LT(60, feasible);
}

/* More minibatches where more time is allowed, and fewer where more requests come. */
TEST(goes_the_right_way)
{
	struct world w = { .hz = 40, .base = 4, .each = 2, .train_ms = 10, .switch_ms = 0.5 };
	struct jetwatt_interleave_query q = { .latency_ms = 100, .arrival_hz = 40, .train_ms = 10,
					      .switch_ms = 0.5 };
	struct jetwatt_interleave_plan less, more;
	struct jetwatt_interleave i = { 0 };
	double late;

	srand48(2);
	play(&w, &i, 3, 200, 0, &late);
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &less));
	q.latency_ms = 200;
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &more));
	EXPECT_LT(less.tau, more.tau);
	EXPECT_LE(less.throughput_hz, more.throughput_hz);
	q.arrival_hz = 120;
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &less));
	EXPECT_LT(less.throughput_hz, more.throughput_hz);
	/* Changes that take longer leave less time. */
	q.switch_ms = 20;
	jetwatt_interleave_plan(&i, &q, &more);
	EXPECT_LT(more.throughput_hz, less.throughput_hz);
}

TEST(knows_when_it_cannot)
{
	struct world w = { .hz = 100, .base = 5, .each = 4, .train_ms = 50 };
	struct jetwatt_interleave_query q = { .latency_ms = 40, .arrival_hz = 100, .train_ms = 50 };
	struct jetwatt_interleave_plan p;
	struct jetwatt_interleave i = { 0 };
	double late;

	EXPECT_TRUE(isnan(jetwatt_interleave_rate(&i)));
	EXPECT_TRUE(isnan(jetwatt_interleave_ms(&i, 3)));
	srand48(3);
	play(&w, &i, 1, 200, 0, &late);
	EXPECT_EQ(0, jetwatt_interleave_plan(&i, &q, &p));
	EXPECT_EQ(1, p.tau);
	EXPECT_TRUE(isfinite(p.window_ms));
	/* More comes than can be answered, whatever the window. */
	q.arrival_hz = 1000;
	q.latency_ms = 500;
	EXPECT_EQ(0, jetwatt_interleave_plan(&i, &q, &p));
	EXPECT_TRUE(isfinite(p.throughput_hz));
}

TEST_HARNESS_MAIN
