/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Online plan for time slicing of training and inference in a fixed mode. Durations of time slices
 * and the arrival rate are learned from past windows; from these the plan computes the number of
 * training minibatches between two time slices of the server. Used by user/timeshare/.
 *
 * A window is a time slice of training and one of the server, which answers the requests that have
 * arrived and those that arrive meanwhile. Training yields at the first minibatch boundary after
 * @tau minibatches at which a request is waiting, and in any case after @max_minibatches
 * minibatches. A switch between the programs takes time as well.
 *
 * Requests arrive irregularly and the rate may change. The plan keeps the latency limit for 99 % of
 * the requests, given the scatter of past windows. A change of the arrival rate is detected by
 * the likelihood ratio of two Poisson rates against one. Windows from before a change still count
 * for the durations of time slices, but not for the arrival rate.
 */
#ifndef JETWATT_PLAN_INTERLEAVE_H
#define JETWATT_PLAN_INTERLEAVE_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of windows that are kept. */
#define JETWATT_INTERLEAVE_WINDOWS	256

/**
 * struct jetwatt_interleave_window - measurements of one window
 * @requests: number of requests answered in the window
 * @window_ms: time since the end of the previous window, in milliseconds
 * @infer_ms: part of the window from thawing the server until the server was idle, in milliseconds
 * @minibatches: training minibatches in the window; 0: the training time slice did not end at a
 *	minibatch boundary
 * @train_ms: length of the training time slice, in milliseconds; 0 if @minibatches is 0
 */
struct jetwatt_interleave_window {
	double requests, window_ms, infer_ms, minibatches, train_ms;
};

/**
 * struct jetwatt_interleave - the last windows
 * @w: the windows
 * @n: number of windows
 * @since: first window after the last change of the arrival rate
 */
struct jetwatt_interleave {
	struct jetwatt_interleave_window w[JETWATT_INTERLEAVE_WINDOWS];
	size_t n, since;
};

/* Add a window; if the array is full, discard its older half first. A window with a length of 0 ms
 * is ignored. */
void jetwatt_interleave_add(struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_window *w);

/* Discard the measured durations of time slices, for example after a change of the mode; keep the
 * arrival rate. */
void jetwatt_interleave_forget(struct jetwatt_interleave *i);

/*
 * jetwatt_interleave_requests() returns the number of requests in the kept windows since the last
 * change of the arrival rate; jetwatt_interleave_rate() returns the arrival rate in these windows,
 * in requests per second, NAN if unknown.
 */
double jetwatt_interleave_requests(const struct jetwatt_interleave *i);
double jetwatt_interleave_rate(const struct jetwatt_interleave *i);

/* Return: duration of a server time slice with @requests requests, in ms; NAN if unknown. */
double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests);

/* Return: 99th percentile of the number of requests in a window, if @expected is the mean. */
double jetwatt_interleave_requests_99(const struct jetwatt_interleave *i, double expected);

/**
 * struct jetwatt_interleave_query - limits and assumptions of a plan
 * @latency_ms: latency limit for 99 % of the requests, in milliseconds
 * @arrival_hz: arrival rate, in requests per second
 * @train_ms: time of a training minibatch, in milliseconds, used until a window has measured this
 *	time
 * @switch_ms: duration of a switch from one program to the other and back, in milliseconds
 * @even: 1: arrivals are not observable, so each training time slice has the same number of
 *	minibatches
 */
struct jetwatt_interleave_query {
	double latency_ms, arrival_hz, train_ms, switch_ms;
	int even;
};

/**
 * struct jetwatt_interleave_plan - a plan
 * @tau: minimum number of training minibatches in a window
 * @max_minibatches: maximum number of training minibatches in a window
 * @minibatches: mean number of training minibatches in a window
 * @window_ms: mean length of a window, in milliseconds
 * @infer_ms: part of the window for the server and both switches, in milliseconds
 * @requests: expected number of requests in a window
 * @requests_99: predicted 99th percentile of the number of requests in a window
 * @latency_ms: predicted 99th percentile of the latency of a request, in milliseconds; at most 100
 *	times the latency limit
 * @throughput_hz: predicted training minibatches per second, at the arrival rate plus one standard
 *	error
 */
struct jetwatt_interleave_plan {
	uint32_t tau, max_minibatches;
	double minibatches, window_ms, infer_ms, requests, requests_99, latency_ms, throughput_hz;
};

/*
 * Find a plan: of the plans within the latency limit and within 10 % of the best throughput, choose
 * the plan with the least latency. If no plan meets the latency limit, set @plan to the plan with
 * one training minibatch per window. Return: 1; 0 if no plan meets the latency limit.
 */
int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan);

/*
 * Predict a plan with exactly @tau minibatches in each window. Return: 1 if the plan meets the
 * latency limit, else 0.
 */
int jetwatt_interleave_fixed(const struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_query *q, uint32_t tau,
			     struct jetwatt_interleave_plan *plan);

#endif
