/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training and inference by turns, in the mode that the board is in: how long a
 * server needs for what has come in is learned from its turns as they go by, and
 * the inner search (slice.h) says how many minibatches of training fit between
 * two of them.
 *
 * A window is a turn of training and one of the server, which answers what has come
 * in and what comes meanwhile. Requests do not come at an even rate: the latency is
 * kept in 99 of 100 windows, by how windows have scattered. A change from one
 * program to the other takes its time, twice a window.
 */
#ifndef JETWATT_PLAN_INTERLEAVE_H
#define JETWATT_PLAN_INTERLEAVE_H

#include "slice.h"

/**
 * struct jetwatt_interleave - what windows were like, the last ones most
 * @n: weight of them all; the others are weighted sums: @k, @kk: of requests, and
 *	their squares; @t, @tt: of the server's turn in ms; @kt; @w: of windows in ms
 * @odd: of the variance of requests, from one window to the next; @due: of their mean
 * @last, @last_ms: requests of the last window, and its length
 */
struct jetwatt_interleave {
	double n, k, kk, t, tt, kt, w, odd, due, last, last_ms;
};

/**
 * jetwatt_interleave_note() - a window
 * @requests: that the server has answered at its end
 * @window_ms: since the end of the one before
 * @ms: of that, from when the server was let go until it had nothing more to do
 */
void jetwatt_interleave_note(struct jetwatt_interleave *i, double requests, double window_ms,
			     double ms);

/* Requests per second; NAN: not known. */
double jetwatt_interleave_rate(const struct jetwatt_interleave *i);

/* What a turn with @requests takes, in ms; NAN: not known. */
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
 * @window_ms, @infer_ms: its mean length, and of that the server's turn, with both changes
 * @requests: expected in it; @most: in 99 of 100
 * @latency_ms: of who comes first in 99 of 100 windows
 * @throughput_hz: minibatches of training per second
 */
struct jetwatt_interleave_plan {
	uint32_t tau;
	double window_ms, infer_ms, requests, most, latency_ms, throughput_hz;
};

/* Return: 1; 0: the latency cannot be kept: then one minibatch in each window. */
int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan);

#endif
