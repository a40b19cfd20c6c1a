/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact search for time slicing: given times and powers of all modes (measured or predicted), find
 * the mode, the minibatch sizes, and the number of training minibatches between two inference
 * minibatches (Fulcrum, arXiv 2509.20205, section 4). Used by the strategies, jetwatt optimize
 * --latency, jetwatt schedule and jetwatt eval.
 *
 * One model runs at a time; switches happen at minibatch boundaries only. Requests to the server
 * arrive at a constant rate a. An inference minibatch has b requests and takes the time t. A
 * minibatch is full b / a after the previous one, so the latency of its first request is b / a + t.
 * The minibatch must end before the next inference minibatch is full: t <= b / a. In the remaining
 * time b / a - t, tau = floor((b / a - t) / t_train) training minibatches run, each of which takes
 * t_train.
 *
 * With two servers of equal rate a, a full minibatch waits for at most one minibatch of the other
 * server, which takes t_other, so the latency is at most b / a + t + t_other. If
 * t + t_other <= b / a for both servers, neither server has two full minibatches waiting, and this
 * bound holds.
 *
 * All combinations are examined, in loops over arrays.
 */
#ifndef JETWATT_SLICE_H
#define JETWATT_SLICE_H

#include <stddef.h>
#include <stdint.h>

/* Largest number of minibatch sizes of an inference workload. */
#define JETWATT_SLICE_SIZES	16

/**
 * enum jetwatt_slice_kind - workloads that share the board, and the objective
 * @JETWATT_SLICE_TRAIN: training alone: least time of a minibatch
 * @JETWATT_SLICE_INFER: inference alone: least latency
 * @JETWATT_SLICE_TRAIN_AND_INFER: training and inference: most training minibatches per second, then least
 *	latency
 * @JETWATT_SLICE_TWO_INFER: two inference workloads: least latency of the slower one
 */
enum jetwatt_slice_kind {
	JETWATT_SLICE_TRAIN,
	JETWATT_SLICE_INFER,
	JETWATT_SLICE_TRAIN_AND_INFER,
	JETWATT_SLICE_TWO_INFER,
};

/**
 * struct jetwatt_slice_work - one workload
 * @size: minibatch sizes of the workload, in samples; training has one size, which is not used
 * @sizes: number of sizes
 * @time_ms: time of a minibatch, in milliseconds: for each minibatch size the times of all modes;
 *	NAN: the time is unknown, and the cell is never chosen
 * @power_w: power, in watts, in the order of @time_ms
 */
struct jetwatt_slice_work {
	const uint32_t *size;
	size_t sizes;
	const double *time_ms, *power_w;
};

/**
 * struct jetwatt_slice_query - limits of a query
 * @power_w: limit of the power of each workload, in watts
 * @latency_ms: limit of the latency of an answer, in milliseconds
 * @arrival_hz: arrival rate of each server, in requests per second
 */
struct jetwatt_slice_query {
	double power_w, latency_ms, arrival_hz;
};

/**
 * struct jetwatt_slice_plan - a plan; members that do not apply to its kind are 0
 * @mode: index of the mode
 * @size: index of the minibatch size of each workload
 * @tau: number of training minibatches between two inference minibatches
 * @time_ms: time of a training minibatch, in milliseconds
 * @latency_ms: latency of the slowest answer, in milliseconds
 * @power_w: power of the workload with the higher power, in watts
 * @throughput_hz: training minibatches per second: @tau * arrival rate / inference minibatch size
 */
struct jetwatt_slice_plan {
	size_t mode, size[2];
	uint32_t tau;
	double time_ms, latency_ms, power_w, throughput_hz;
};

/**
 * jetwatt_slice_size() - insert a minibatch size
 * @sizes: minibatch sizes, in ascending order and all different
 * @n: number of sizes, updated
 * @size: the new size
 *
 * Return: 0; -ENOSPC if the workload already has JETWATT_SLICE_SIZES other minibatch sizes.
 */
int jetwatt_slice_size(uint32_t *sizes, size_t *n, uint32_t size);

/* Return: 1 if the kind of plan includes training, else 0. */
static inline int jetwatt_slice_trains(enum jetwatt_slice_kind kind)
{
	return kind == JETWATT_SLICE_TRAIN || kind == JETWATT_SLICE_TRAIN_AND_INFER;
}

/* Return: number of workloads of a kind of plan. */
static inline size_t jetwatt_slice_works(enum jetwatt_slice_kind kind)
{
	return kind >= JETWATT_SLICE_TRAIN_AND_INFER ? 2 : 1;
}

/* Return: training minibatches that fit into @window_ms after inference has taken @infer_ms. */
static inline double jetwatt_slice_tau(double window_ms, double infer_ms, double train_ms)
{
	double room = (window_ms - infer_ms) / train_ms;

	/* For non-negative values a cast rounds down, and a loop with a cast can be vectorised. */
	return room > 0 ? (double)(int32_t)(room < 2e9 ? room : 2e9) : 0;
}

/**
 * jetwatt_slice_find() - find the best plan
 * @kind: workloads and objective
 * @work: one or two workloads, training first
 * @n: number of modes
 * @q: limits
 * @plan: set to the best plan
 *
 * Of plans with equal objective the one with the least latency is chosen, then the one with the
 * least power, then the first.
 *
 * Return: 1 on success; 0 if no plan is within the limits.
 */
int jetwatt_slice_find(enum jetwatt_slice_kind kind, const struct jetwatt_slice_work *work,
		       size_t n, const struct jetwatt_slice_query *q,
		       struct jetwatt_slice_plan *plan);

#endif
