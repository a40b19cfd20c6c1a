/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inner search: with times and powers of all modes at hand, measured or
 * predicted, which mode, which minibatch size and how many minibatches of
 * training between two of inference (Fulcrum, arXiv 2509.20205, section 4).
 *
 * Work is sliced in time: one model runs at a time, another one only from a
 * minibatch's bound on. Requests come at an even rate a; a minibatch of b of them
 * has waited b / a when it is full, so its slowest answer takes b / a + t, and it
 * must be done before the next one is full: t <= b / a. What is left of b / a is
 * room for tau = floor((b / a - t) / t_train) minibatches of training.
 *
 * Two servers with the same a: whoever's minibatch is full waits for at most one
 * of the other's, so answers take b / a + t + t_other; where t + t_other <= b / a
 * for both, neither has two of its own waiting, and that bound holds.
 *
 * Exact: every combination is looked at, in loops over arrays.
 */
#ifndef JETWATT_SLICE_H
#define JETWATT_SLICE_H

#include <stddef.h>
#include <stdint.h>

/* Minibatch sizes of an inference workload. */
#define JETWATT_SLICE_SIZES	16

/**
 * enum jetwatt_slice_kind - who shares the board
 * @JETWATT_SLICE_TRAIN: training alone: least time of a minibatch
 * @JETWATT_SLICE_INFER: inference alone: least latency
 * @JETWATT_SLICE_BESIDE: training beside inference: most minibatches of training
 *	per second, then least latency
 * @JETWATT_SLICE_PAIR: two inferences: least latency of the slower one
 */
enum jetwatt_slice_kind {
	JETWATT_SLICE_TRAIN,
	JETWATT_SLICE_INFER,
	JETWATT_SLICE_BESIDE,
	JETWATT_SLICE_PAIR,
};

/**
 * struct jetwatt_slice_work - one workload
 * @size: its @sizes minibatch sizes; in training there is one, and it is not used
 * @time_ms, @power_w: of a minibatch, size by size @n modes each; NAN: not known,
 *	and never chosen
 */
struct jetwatt_slice_work {
	const uint32_t *size;
	size_t sizes;
	const double *time_ms, *power_w;
};

/**
 * struct jetwatt_slice_query - the limits
 * @power_w: of the more power-hungry of those who share the board
 * @latency_ms: of an answer; @arrival_hz: requests per second, of each server
 */
struct jetwatt_slice_query {
	double power_w, latency_ms, arrival_hz;
};

/**
 * struct jetwatt_slice_plan - what to do
 * @mode: index; @size: indices of minibatch sizes, of each workload
 * @tau: minibatches of training between two of inference
 * @time_ms: of a minibatch of training; @latency_ms: of the slowest answer
 * @throughput_hz: minibatches of training per second, tau a / b
 */
struct jetwatt_slice_plan {
	size_t mode, size[2];
	uint32_t tau;
	double time_ms, latency_ms, power_w, throughput_hz;
};

/**
 * jetwatt_slice_size() - one more minibatch size
 * @sizes: @n of them, ascending and all different, as they are afterwards
 *
 * Return: 0; -ENOSPC: there are JETWATT_SLICE_SIZES others.
 */
int jetwatt_slice_size(uint32_t *sizes, size_t *n, uint32_t size);

/* Is training part of it, is inference, and how many workloads are there? */
static inline int jetwatt_slice_trains(enum jetwatt_slice_kind kind)
{
	return kind == JETWATT_SLICE_TRAIN || kind == JETWATT_SLICE_BESIDE;
}

static inline size_t jetwatt_slice_works(enum jetwatt_slice_kind kind)
{
	return kind >= JETWATT_SLICE_BESIDE ? 2 : 1;
}

/* Minibatches of training in what inference leaves of @window_ms. */
static inline double jetwatt_slice_tau(double window_ms, double infer_ms, double train_ms)
{
	double room = (window_ms - infer_ms) / train_ms;

	/* A cast is a floor of what is not negative, and loops with it are vectors. */
	return room > 0 ? (double)(int32_t)(room < 2e9 ? room : 2e9) : 0;
}

/**
 * jetwatt_slice_find() - the best plan
 * @work: one, or two: training comes first
 * @n: modes
 *
 * Of equal plans the one with less latency, then with less power, then the first.
 * Return: 1; 0: no plan is within the limits.
 */
int jetwatt_slice_find(enum jetwatt_slice_kind kind, const struct jetwatt_slice_work *work,
		       size_t n, const struct jetwatt_slice_query *q,
		       struct jetwatt_slice_plan *plan);

#endif
