// SPDX-License-Identifier: GPL-2.0-only
/* Time slicing of training and inference: a planned time limit must hold for 99 % of
 * the requests when the plan is simulated. */
#include <math.h>
#include <stdlib.h>

#include "plan/interleave.h"
#include "kselftest_harness.h"

/*
 * struct server - a server and its clients, and the training that shares the GPU with it
 * @hz: mean arrival rate of the requests
 * @base: time of a turn of the server before its requests, in ms; @each: additional time of each request, in ms
 * @noise: relative noise of the time of a request
 * @train_ms: time of a minibatch of training; @switch_ms: time of a switch between the two jobs
 * @at_once: the server answers all waiting requests as one batch, else one request after another
 */
struct server {
	double hz, base, each, noise, train_ms, switch_ms;
	int at_once;
};

#define QUEUE	4096

/*
 * struct play - state of a simulation
 * @came: arrival times of the waiting requests; the queue is from @first to @last
 * @next: arrival time of the next request
 */
struct play {
	const struct server *w;
	double ms, latency_ms, next, came[QUEUE];
	unsigned int first, last, asked, late, made;
};

static void pass(struct play *p, double ms)
{
	for (p->ms += ms; p->next <= p->ms; p->next += -1e3 * log(1 - drand48()) / p->w->hz)
		p->came[p->last++ % QUEUE] = p->next;
}

/* The server answers waiting requests, and those that arrive meanwhile. Return: number answered. */
static unsigned int turn(struct play *p)
{
	unsigned int k = 0;

	pass(p, p->w->base);
	while (p->first != p->last && k < QUEUE) {
		unsigned int n = p->w->at_once ? p->last - p->first : 1;

		pass(p, n * p->w->each * (1 + p->w->noise * (2 * drand48() - 1)));
		for (k += n; n; n--)
			p->late += p->ms - p->came[p->first++ % QUEUE] > p->latency_ms;
	}
	p->asked += k;
	return k;
}

/* Simulate one window: training runs for at least @tau and at most @most minibatches, and after
 * @tau only while no request is waiting. Then the server answers. */
static void window(struct play *p, struct jetwatt_interleave *i, unsigned int tau, unsigned int most)
{
	struct jetwatt_interleave_window seen = { 0 };
	double t = p->ms, turns;

	do {
		pass(p, p->w->train_ms);
		seen.minibatches++;
	} while (seen.minibatches < most && (seen.minibatches < tau || p->first == p->last));
	seen.train_ms = p->ms - t;
	pass(p, p->w->switch_ms);
	turns = p->ms;
	seen.requests = turn(p);
	seen.infer_ms = p->ms - turns;
	seen.window_ms = p->ms - t;
	p->made += seen.minibatches;
	if (i)
		jetwatt_interleave_add(i, &seen);
}

/* Run @n windows. Return: minibatches per second; @late: set to the share of requests that are
 * answered later than @latency_ms. */
static double play(const struct server *w, struct jetwatt_interleave *i, int tau, int most, int n,
		   double latency_ms, double *late)
{
	struct play p = { .w = w, .latency_ms = latency_ms };

	while (n--)
		window(&p, i, tau, most);
	*late = (double)p.late / (p.asked ? p.asked : 1);
	return 1e3 * p.made / p.ms;
}

TEST(plans_meet_latency_and_throughput_in_simulation)
{
	double worst = 0, low = INFINITY, high = 0;
	int feasible = 0;

	srand48(1);
	for (int run = 0; run < 300; run++) {
		struct server w = { .hz = 5 + 100 * drand48(), .base = 1 + 9 * drand48(),
				   .each = 0.5 + 5 * drand48(), .noise = 0.1 * drand48(),
				   .train_ms = 2 + 60 * drand48(), .switch_ms = drand48() };
		struct jetwatt_interleave_query q = { .latency_ms = 30 + 300 * drand48(),
						      .train_ms = w.train_ms, .switch_ms = w.switch_ms };
		struct jetwatt_interleave_plan p;
		struct jetwatt_interleave i = { 0 };
		double late, rate;

		if (w.hz * w.each > 700)
			continue;
		play(&w, &i, 1, 1, 200, 0, &late);
		q.arrival_hz = jetwatt_interleave_rate(&i);
		EXPECT_LT(fabs(q.arrival_hz / w.hz - 1), 0.6);
		if (!jetwatt_interleave_plan(&i, &q, &p))
			continue;
		feasible++;
		ASSERT_LE(1U, p.tau);
		ASSERT_LE(p.tau, p.max_minibatches);
		ASSERT_LE(p.latency_ms, q.latency_ms);
		rate = play(&w, NULL, p.tau, p.max_minibatches, 2000, q.latency_ms, &late) /
		       p.throughput_hz;
		EXPECT_LE(0.9, rate) TH_LOG("run %d", run);
		EXPECT_LE(late, 0.01) TH_LOG("run %d", run);
		worst = fmax(worst, late);
		low = fmin(low, rate);
		high = fmax(high, rate);
	}
	TH_LOG("%d of 300 plans feasible; late at most %.2f %%, throughput %.3f to %.3f of plan",
	       feasible, 100 * worst, low, high);
	EXPECT_LT(60, feasible);
}

/* A plan has more minibatches if the latency limit is larger, and a lower throughput of training if more
 * requests arrive. */
TEST(plan_follows_time_limit_and_request_rate)
{
	struct server w = { .hz = 40, .base = 4, .each = 2, .train_ms = 10, .switch_ms = 0.5 };
	struct jetwatt_interleave_query q = { .latency_ms = 100, .arrival_hz = 40, .train_ms = 10,
					      .switch_ms = 0.5 };
	struct jetwatt_interleave_plan less, more;
	struct jetwatt_interleave i = { 0 };
	double late;

	srand48(2);
	play(&w, &i, 3, 3, 200, 0, &late);
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &less));
	q.latency_ms = 200;
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &more));
	EXPECT_LT(less.max_minibatches, more.max_minibatches);
	EXPECT_LE(less.throughput_hz, more.throughput_hz);
	q.arrival_hz = 120;
	ASSERT_EQ(1, jetwatt_interleave_plan(&i, &q, &less));
	EXPECT_LT(less.throughput_hz, more.throughput_hz);
	/* A longer switch between the jobs leaves less time for training. */
	q.switch_ms = 20;
	jetwatt_interleave_plan(&i, &q, &more);
	EXPECT_LT(more.throughput_hz, less.throughput_hz);
}

TEST(impossible_plan_is_reported)
{
	struct server w = { .hz = 100, .base = 5, .each = 4, .train_ms = 50 };
	struct jetwatt_interleave_query q = { .latency_ms = 40, .arrival_hz = 100, .train_ms = 50 };
	struct jetwatt_interleave_plan p;
	struct jetwatt_interleave i = { 0 };
	double late;

	EXPECT_TRUE(isnan(jetwatt_interleave_rate(&i)));
	EXPECT_TRUE(isnan(jetwatt_interleave_ms(&i, 3)));
	srand48(3);
	play(&w, &i, 1, 1, 200, 0, &late);
	EXPECT_EQ(0, jetwatt_interleave_plan(&i, &q, &p));
	EXPECT_EQ(1U, p.tau);
	EXPECT_TRUE(isfinite(p.window_ms));
	/* More requests arrive than the server can answer with any window length, so no plan is
	 * feasible. */
	q.arrival_hz = 1000;
	q.latency_ms = 500;
	EXPECT_EQ(0, jetwatt_interleave_plan(&i, &q, &p));
	EXPECT_TRUE(isfinite(p.throughput_hz));
}

/* A change of the request rate is detected after a few requests. With a constant rate, the estimate
 * deviates from it by at most 50 %. Up to four of the 200 runs may fail each check. */
TEST(changed_request_rate_is_detected)
{
	int forgotten = 0, slow = 0;

	srand48(4);
	for (int run = 0; run < 200; run++) {
		struct server w = { .hz = 10 + 40 * drand48(), .base = 1, .each = 2, .train_ms = 8,
				   .switch_ms = 0.5 };
		struct jetwatt_interleave i = { 0 };
		struct play p = { .w = &w };
		double before = w.hz, ms;

		for (int n = 0; n < 300; n++)
			window(&p, &i, 1, 3);
		forgotten += fabs(jetwatt_interleave_rate(&i) / before - 1) > 0.5;
		w.hz *= run % 2 ? 4 : 0.25;
		ms = p.ms;
		while (fabs(jetwatt_interleave_rate(&i) / w.hz - 1) > 0.4 && p.ms < ms + 15000)
			window(&p, &i, 1, 3);
		ms = p.ms - ms;
		/* A change counts as detected late if the detection takes longer than thirty
		 * requests take to arrive at the slower rate. */
		slow += ms > 30e3 / fmin(before, w.hz);
	}
	TH_LOG("of 200 runs: wrong estimates %d, changes detected late %d", forgotten, slow);
	EXPECT_LE(forgotten, 4);
	EXPECT_LE(slow, 4);
}

TEST_HARNESS_MAIN
