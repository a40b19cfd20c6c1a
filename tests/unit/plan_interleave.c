// SPDX-License-Identifier: GPL-2.0-only
/* Time slicing of training and inference: a planned time limit must hold for 99 % of
 * the requests when the plan is simulated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/interleave.h"
#include "near.h"

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

/* Add @n windows of @ms with, in turns, @k and @more requests. Training: 38 and 42 ms for 4 minibatches, in
 * turns; the server: 11 and 13 ms. */
static void windows(struct jetwatt_interleave *i, int n, double ms, double k, double more)
{
	for (int j = 0; j < n; j++)
		jetwatt_interleave_add(i, &(struct jetwatt_interleave_window){
			j % 2 ? more : k, ms, j % 2 ? 13 : 11, 4, j % 2 ? 42 : 38 });
}

/* 20 windows of 100 ms with 4 requests. As their contents are equal, half of the server's 12 ms are taken to be
 * proportional to the requests, 1.5 ms each, and all of the training's 40 ms to the minibatches, 10 ms each;
 * standard deviations: 1 ms and 2 ms. */
FIXTURE(plan)
{
	struct jetwatt_interleave i;
	struct jetwatt_interleave_query q;
	struct jetwatt_interleave_plan p;
};

FIXTURE_SETUP(plan)
{
	windows(&self->i, 20, 100, 4, 4);
	self->q = (struct jetwatt_interleave_query){ .latency_ms = 61.6, .arrival_hz = 40, .train_ms = 7,
						     .switch_ms = 4 };
}

FIXTURE_TEARDOWN(plan)
{
}

TEST_F(plan, duration_of_a_time_slice)
{
	struct jetwatt_interleave i = { 0 };

	EXPECT_NEAR(18, jetwatt_interleave_ms(&self->i, 8), 1e-6);
	/* A time slice without a duration does not count. */
	jetwatt_interleave_add(&self->i, &(struct jetwatt_interleave_window){ .window_ms = 10 });
	EXPECT_NEAR(18, jetwatt_interleave_ms(&self->i, 8), 1e-6);
	/* 7 ms for 2 requests, 11 ms for 4: covariance 2, variance 1, and a prior of 1.5 ms with weight 0.09. */
	for (int j = 0; j < 10; j++)
		jetwatt_interleave_add(&i, &(struct jetwatt_interleave_window){ j % 2 ? 4 : 2, 100, j % 2 ? 11 : 7 });
	EXPECT_NEAR(9 + 2 * 2.135 / 1.09, jetwatt_interleave_ms(&i, 5), 1e-6);
	/* Longer with fewer requests: no slope. */
	memset(&i, 0, sizeof(i));
	for (int j = 0; j < 10; j++)
		jetwatt_interleave_add(&i, &(struct jetwatt_interleave_window){ j % 2 ? 4 : 2, 100, j % 2 ? 7 : 11 });
	EXPECT_NEAR(9, jetwatt_interleave_ms(&i, 5), 1e-6);
}

/* The 80 requests give the rate with a standard error of 1 / sqrt(81): 0.04444 / ms. The server and training are
 * away from a request for 40 + 4 + 6 = 50 ms, in which 2.222 requests come; their work takes 3.333 ms, with a
 * variance of 1.5^2 * 2.222 + 1 + 4 = 10, of which 2.6 standard deviations count: 61.5553 ms. */
TEST_F(plan, figures_of_a_plan)
{
	EXPECT_EQ(1, jetwatt_interleave_fixed(&self->i, &self->q, 4, &self->p));
	EXPECT_NEAR(50 + 10 / 3. + 2.6 * sqrt(10), self->p.latency_ms, 1e-6);
	/* The work of the requests takes 6 % of the time, or 6.67 % with the standard error. */
	EXPECT_NEAR(50 / 0.94, self->p.window_ms, 1e-6);
	EXPECT_NEAR(50 / 0.94 - 40, self->p.infer_ms, 1e-6);
	EXPECT_NEAR(2 / 0.94, self->p.requests, 1e-6);
	EXPECT_NEAR(2 / 0.94 + 2.6 * sqrt(2 / 0.94), self->p.requests_99, 1e-6);
	EXPECT_NEAR(4000 * (14 / 15.) / 50, self->p.throughput_hz, 1e-6);
	EXPECT_EQ(4, self->p.minibatches);
	EXPECT_EQ(4U, self->p.max_minibatches);
	self->q.latency_ms = 61.5;
	EXPECT_EQ(0, jetwatt_interleave_fixed(&self->i, &self->q, 4, &self->p));
	/* 580 requests per second, and a ninth more, keep the server busy for 96.7 % of the time. */
	self->q.arrival_hz = 580;
	EXPECT_EQ(0, jetwatt_interleave_fixed(&self->i, &self->q, 4, &self->p));
	EXPECT_NEAR(6150, self->p.latency_ms, 1e-6);
	/* Without a measured minibatch, that of the query counts. */
	memset(&self->i, 0, sizeof(self->i));
	self->q.arrival_hz = 0;
	jetwatt_interleave_fixed(&self->i, &self->q, 4, &self->p);
	EXPECT_NEAR(4 * 7 + 4, self->p.window_ms, 1e-6);
}

/* Durations of the server that follow from the number of requests do not scatter: of 7 ms for 2 and 11 ms for 4, with
 * the slope of duration_of_a_time_slice, only the difference to 2 ms per request does. */
TEST_F(plan, scatter_about_the_line)
{
	double each = 2.135 / 1.09, base = 9 - 3 * each, come = 0.04 * (1 + 1 / sqrt(31)) * (40 + 4 + base);
	struct jetwatt_interleave i = { 0 };

	for (int j = 0; j < 10; j++)
		jetwatt_interleave_add(&i, &(struct jetwatt_interleave_window){ j % 2 ? 4 : 2, 100, j % 2 ? 11 : 7, 4, 40 });
	jetwatt_interleave_fixed(&i, &self->q, 4, &self->p);
	EXPECT_NEAR(44 + base + each * come + 2.6 * sqrt(each * each * come + (2 - each) * (2 - each)),
		    self->p.latency_ms, 1e-6);
}

/* Up to 7 minibatches are within the limit: 80 ms + 1.5 * 3.556 ms + 2.6 * sqrt(13) = 94.7 ms, and with 8, 105.7
 * ms. At least n minibatches last 10 n + 4 ms until the first request, and exp(-0.04 * that) / (1 - exp(-0.4))
 * more follow: 2.73, 3.16 and 3.78 for 1, 2 and 3; at windows of 10 n + 10 ms / 0.94 these are 84 %, 87 % and 90.4 %
 * of the throughput with 7. */
TEST_F(plan, least_latency_within_a_tenth_of_the_throughput)
{
	self->q.latency_ms = 100;
	EXPECT_EQ(1, jetwatt_interleave_plan(&self->i, &self->q, &self->p));
	EXPECT_EQ(3U, self->p.tau);
	EXPECT_EQ(7U, self->p.max_minibatches);
	EXPECT_NEAR(3 + exp(-1.36) / (1 - exp(-0.4)), self->p.minibatches, 1e-6);
	EXPECT_NEAR(40 + 1.5 * 16 / 9 + 2.6 * sqrt(9), self->p.latency_ms, 1e-6);
	/* If arrivals are not observable, each time slice has the same number. */
	self->q.even = 1;
	EXPECT_EQ(1, jetwatt_interleave_plan(&self->i, &self->q, &self->p));
	EXPECT_EQ(self->p.tau, self->p.max_minibatches);
	EXPECT_EQ(self->p.tau, self->p.minibatches);
	/* One minibatch does not fit. */
	self->q.latency_ms = 5;
	EXPECT_EQ(0, jetwatt_interleave_plan(&self->i, &self->q, &self->p));
	EXPECT_EQ(1U, self->p.tau);
}

/* 99th percentile of the requests at a mean of 4. Equal rates in windows of other lengths: 4 + 2.6 * 2. With 0 and 8
 * in turns, the dispersion is (10 + 19 * 8^2 / 2) / (10 + 19 * 4): bursts. */
TEST_F(plan, bursts_of_requests)
{
	struct jetwatt_interleave i = { 0 }, even = { 0 };

	for (int j = 0; j < 20; j++)
		windows(&even, 1, j % 2 ? 200 : 100, j % 2 ? 8 : 4, 0);
	EXPECT_NEAR(9.2, jetwatt_interleave_requests_99(&even, 4), 1e-6);
	EXPECT_NEAR(9.2, jetwatt_interleave_requests_99(&self->i, 4), 1e-6);
	windows(&i, 20, 100, 0, 8);
	EXPECT_NEAR(4 + 2.6 * sqrt(618 / 86. * 4), jetwatt_interleave_requests_99(&i, 4), 1e-6);
	/* 16 requests in every fourth window are no change of the rate, although, without bursts, twice the log
	 * likelihood ratio of the last window would be 21. */
	memset(&i, 0, sizeof(i));
	for (int j = 0; j < 40; j++)
		windows(&i, 1, 100, j % 4 == 3 ? 16 : 0, 0);
	EXPECT_NEAR(40, jetwatt_interleave_rate(&i), 1e-6);
}

/* The rate doubles. After 3 windows this may be chance: twice the log likelihood ratio is 8.6; after 12, it is
 * 28. */
TEST_F(plan, doubled_rate)
{
	windows(&self->i, 30, 100, 4, 4);
	windows(&self->i, 3, 100, 8, 8);
	EXPECT_NEAR(224 / 5.3, jetwatt_interleave_rate(&self->i), 1e-6);
	windows(&self->i, 9, 100, 8, 8);
	EXPECT_NEAR(80, jetwatt_interleave_rate(&self->i), 1e-6);
	EXPECT_NEAR(96, jetwatt_interleave_requests(&self->i), 1e-6);
	/* The rate is kept, the durations are not. */
	jetwatt_interleave_forget(&self->i);
	EXPECT_NEAR(80, jetwatt_interleave_rate(&self->i), 1e-6);
	EXPECT_NEAR(96, jetwatt_interleave_requests(&self->i), 1e-6);
	EXPECT_TRUE(isnan(jetwatt_interleave_ms(&self->i, 3)));
}

/* When the windows are full, the older half goes, also if the rate changed in the newer half. */
TEST_F(plan, full_windows)
{
	jetwatt_interleave_add(&self->i, &(struct jetwatt_interleave_window){ .requests = 9 });
	EXPECT_EQ(20, self->i.n);
	windows(&self->i, 180, 100, 4, 4);
	windows(&self->i, 100, 100, 16, 16);
	EXPECT_EQ(172, self->i.n);
	EXPECT_NEAR(160, jetwatt_interleave_rate(&self->i), 1e-6);
	EXPECT_NEAR(1600, jetwatt_interleave_requests(&self->i), 1e-6);
}

/* A server that answers one request after another, in 8 ms each; windows have 0 and 1 request in turns, so the prior
 * of the line, half of 8 ms with a weight of 0.01, makes this 8 * 1.005 / 1.01 ms. With the standard error of 80
 * requests, 90 requests per second are 0.1 / ms. The program is away for 20 ms. Of the requests, the busy share waits in
 * a queue with an exponential tail; a hundredth waits longer than where the tail falls to 0.01, and is then answered. */
TEST_F(plan, queue_of_a_busy_server)
{
	double each = 8 * 1.005 / 1.01, away = 20 + 4 - each / 2, busy = 0.1 * each, tail = each / (2 * (1 - busy));
	struct jetwatt_interleave i = { 0 };

	for (int j = 0; j < 160; j++)
		jetwatt_interleave_add(&i, &(struct jetwatt_interleave_window){ j % 2, 100, j % 2 ? 8 : 1e-9, 1, 20 });
	self->q = (struct jetwatt_interleave_query){ .latency_ms = 200, .arrival_hz = 90 };
	EXPECT_EQ(1, jetwatt_interleave_fixed(&i, &self->q, 1, &self->p));
	EXPECT_NEAR(away + tail * log(busy * tail / (0.01 * away) * (1 - exp(-away / tail))) + each, self->p.latency_ms,
		    1e-3);
}

TEST_HARNESS_MAIN
