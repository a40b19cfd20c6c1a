/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training and inference by turns, in the mode that the board is in: how long both
 * take for what, and how many requests come, is learned from the turns as they go
 * by; of that follows how many minibatches of training there should be between two
 * turns of the server.
 *
 * A window is a turn of training and one of the server, which answers what has come
 * in and what comes meanwhile. Training gives way at the first bound after @tau
 * minibatches at which a request waits, after @most in any case. Each change from one
 * program to the other takes its time.
 *
 * Requests do not come at an even rate, nor at one that stays: the latency is kept for
 * 99 of 100 of them, by how windows have scattered, and what was before a change
 * (likelihood ratio of two Poisson rates against one) is forgotten at once.
 */
#ifndef JETWATT_PLAN_INTERLEAVE_H
#define JETWATT_PLAN_INTERLEAVE_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_INTERLEAVE_KEEP	256

/**
 * struct jetwatt_interleave_window - what one was like
 * @requests: that the server has answered at its end
 * @window_ms: since the end of the one before
 * @infer_ms: of that, from when the server was let go until it had nothing more to do
 * @minibatches, @train_ms: of training, and how long its turn was; 0: it did not end at
 *	a bound
 */
struct jetwatt_interleave_window {
	double requests, window_ms, infer_ms, minibatches, train_ms;
};

/**
 * struct jetwatt_interleave - the last windows
 * @since: the first one after the rate of requests has changed
 */
struct jetwatt_interleave {
	struct jetwatt_interleave_window w[JETWATT_INTERLEAVE_KEEP];
	size_t n, since;
};

void jetwatt_interleave_note(struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_window *w);

/* Programs run at another speed from now on: only the rate of requests is still known. */
void jetwatt_interleave_forget(struct jetwatt_interleave *i);

/* Requests counted since the rate has changed, and their rate per second; NAN: not known. */
double jetwatt_interleave_requests(const struct jetwatt_interleave *i);
double jetwatt_interleave_rate(const struct jetwatt_interleave *i);

/* What a turn with @requests takes, in ms; NAN: not known. */
double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests);

/* As many requests as come in 99 of 100 windows in which @expected are. */
double jetwatt_interleave_most(const struct jetwatt_interleave *i, double expected);

/**
 * struct jetwatt_interleave_query - what is asked for
 * @latency_ms: 99 of 100 requests are to be answered in; @arrival_hz: requests per second
 * @train_ms: a minibatch of training, as long as no turn has shown it
 * @switch_ms: from one program to the other and back
 * @even: nobody sees requests come: every turn of training has as many minibatches
 */
struct jetwatt_interleave_query {
	double latency_ms, arrival_hz, train_ms, switch_ms;
	int even;
};

/**
 * struct jetwatt_interleave_plan - the answer
 * @tau, @most: minibatches of training in each window, at least and at most
 * @minibatches: their mean; @window_ms: its mean length, and @infer_ms of that the
 *	server's turn, with both changes
 * @requests: expected in it; @requests_most: in 99 of 100
 * @latency_ms: that 99 of 100 requests are answered in
 * @throughput_hz: minibatches of training per second
 */
struct jetwatt_interleave_plan {
	uint32_t tau, most;
	double minibatches, window_ms, infer_ms, requests, requests_most, latency_ms, throughput_hz;
};

/* Of plans that keep the latency and train about as much as the best, the one that answers
 * soonest. Return: 1; 0: the latency cannot be kept: then one minibatch in each window. */
int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan);

/* The same with @tau minibatches in each window, whatever comes of it. */
int jetwatt_interleave_fixed(const struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_query *q, uint32_t tau,
			     struct jetwatt_interleave_plan *plan);

#endif
