/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training and inference by turns, in the mode that the board is in: how long a
 * server needs for what has come in is learned from its turns as they go by, and
 * the inner search (slice.h) says how many minibatches of training fit between
 * two of them.
 *
 * Requests do not come at an even rate: in a window in which b are expected, so
 * many come as 99 of 100 windows stay below, by how windows have scattered; and
 * a change from one program to the other takes its time, twice a window.
 */
#ifndef JETWATT_PLAN_INTERLEAVE_H
#define JETWATT_PLAN_INTERLEAVE_H

#include "slice.h"

/**
 * struct jetwatt_interleave - what the server's turns were like, the last ones most
 * @n: weight of them all; the others are weighted sums: @k, @kk: of requests, and
 *	their squares; @t, @tt: of a turn's length in ms; @kt
 * @odd: of squares of (requests - expected); @due: of expected ones
 */
struct jetwatt_interleave {
	double n, k, kk, t, tt, kt, odd, due;
};

/**
 * jetwatt_interleave_note() - a turn of the server
 * @requests: that it has answered; @expected: as of the rate
 * @ms: from when it was let go until it had nothing more to do
 */
void jetwatt_interleave_note(struct jetwatt_interleave *i, double requests, double expected,
			     double ms);

/* What a turn with @requests takes, in ms, as 99 of 100 of them do; NAN: not known. */
double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests);

/* As many requests as come in 99 of 100 windows in which @expected are. */
double jetwatt_interleave_most(const struct jetwatt_interleave *i, double expected);

/**
 * struct jetwatt_interleave_query - what is asked for
 * @latency_ms: 99 of 100 requests are to be answered in; @arrival_hz: requests per second
 * @train_ms: a minibatch of training; @switch_ms: from one program to the other and back
 */
struct jetwatt_interleave_query {
	double latency_ms, arrival_hz, train_ms, switch_ms;
};

/**
 * struct jetwatt_interleave_plan - the answer
 * @tau: minibatches of training in each window
 * @batch: requests expected in it
 * @window_ms, @infer_ms: its length, and the server's turn in it, at most
 * @latency_ms: of 99 of 100 requests; @throughput_hz: minibatches of training per second
 */
struct jetwatt_interleave_plan {
	uint32_t tau, batch;
	double window_ms, infer_ms, latency_ms, throughput_hz;
};

/* Return: 1; 0: the latency cannot be kept: then what comes closest to it. */
int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan);

#endif
