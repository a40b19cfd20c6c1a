/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures one mode on a running job: waits until power has settled after the change of mode, then
 * measures whole minibatches until the error of their mean is small enough or the time limit has
 * passed. The limits may permit a shorter measurement: see @slow_ms, @before_ms and @decay. Of several
 * processes, the one with the most minibatches is measured.
 */
#ifndef JETWATT_MEASURE_MODE_H
#define JETWATT_MEASURE_MODE_H

#include <stdatomic.h>

#include "energy/energy.h"
#include "measure/measured.h"
#include "measure/session.h"
#include "minibatch/minibatch.h"

/*
 * Number of waits before the change of mode from which minibatches are found. With waits from
 * before the change, the number of waits per minibatch is known from earlier modes, and need not be
 * found again in a slow mode.
 */
#define JETWATT_MEASURE_WAITS_BEFORE	1024

/**
 * struct jetwatt_measure_limits - when a measurement is complete
 * @batches: minimum number of minibatches
 * @min_on_timeout: minimum number of minibatches once @max_s has passed
 * @warmup_drop: number of minibatches longer than 0.3 s to discard after a change of mode; 0:
 *	discard two, as for shorter minibatches
 * @seconds: minimum total duration of the measured minibatches, s
 * @target: relative standard error of time and power to reach
 * @max_s: maximum time in the mode, s, if there are @min_on_timeout minibatches by then. Twice as
 *	long if the choice of a mode depends on the power; four times as long (at least @idle_s)
 *	without these minibatches
 * @idle_s: time without a wait for the GPU after which the job is taken to do no GPU work, s
 * @settle_s: maximum time for power to settle, s; after that, power from the second half of
 *	this time on is used; 0: 6 s
 * @poll_s: interval of evaluating the samples, s; 0: 0.25 s. At least 1 s until @seconds have passed, unless
 *	@slow_ms may end the measurement
 * @slow_ms: if minibatches take longer than this, ms, the measurement ends early: power need not
 *	have settled, and its error includes that; 0: no limit
 * @before_w: settled power before the change of mode, W; 0: unknown
 * @before_ms: time of a minibatch in the mode before the change, ms; 0: unknown. If it is known and
 *	@min_on_timeout is 1, after @max_s without a whole minibatch that of the change is used
 *	(measure/partial.h)
 * @before_ns: time of the change to the mode before, ns
 * @limit_w: power limit, W; a prediction far from it is accepted with a larger error, one near it
 *	in a mode faster than @good_ms only with a smaller one; 0: no limit
 * @good_ms: modes that are faster than this, ms, and close to @limit_w need a smaller power error;
 *	0: no mode needs a smaller error
 * @decay: decay times of power that earlier changes of mode on this board have shown; the
 *	measurement adds its own. If
 *	these decay times predict the settled power before power has settled, the prediction is
 *	used. NULL: no predictions
 * @cancel: set by another thread to cancel the measurement; NULL: never
 */
struct jetwatt_measure_limits {
	unsigned int batches, min_on_timeout, warmup_drop;
	double seconds, target, max_s, idle_s, settle_s, poll_s, slow_ms, before_w, before_ms, limit_w, good_ms;
	uint64_t before_ns;
	struct jetwatt_batch_decay *decay;
	const atomic_int *cancel;
};

/* Limits for measuring a profile, and limits for verifying a chosen mode. */
extern const struct jetwatt_measure_limits jetwatt_measure_profile, jetwatt_measure_verify;

/* Called after each evaluation of the samples (limits->poll_s) that does not complete the measurement,
 * with the result so far; @part: progress, 0 to 1. */
typedef void (*jetwatt_measure_fn)(const struct jetwatt_measure *so_far, double part, void *arg);

/**
 * jetwatt_measure_mode() - measure the mode in which the board has been since @since_ns
 * @w: the session
 * @since_ns: time of the change of mode, ns
 * @limits: conditions under which the measurement is complete
 * @m: receives the result; m->row.mode is unchanged
 * @progress: called during the measurement; may be NULL
 * @arg: passed to @progress
 *
 * Return: 0; 1: @w was stopped, has ended or has failed: see jetwatt_measure_why(); -ENODATA: no
 * GPU work; -ETIMEDOUT: GPU work, but no or too few minibatches found; -ECANCELED: limits->cancel
 * was set; -ENOMEM.
 */
int jetwatt_measure_mode(struct jetwatt_session *w, uint64_t since_ns,
			 const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m,
			 jetwatt_measure_fn progress, void *arg);

/*
 * Return the process whose minibatches are measured: the one with the most minibatches among the @n bounds
 * @b, in order of their ends, that end after @since_ns. The minibatches of different processes may differ in
 * length and overlap, so their mean would depend on how many of each the measurement contains. If the
 * processes are alike, as in data-parallel training, it does not matter which of them is measured. 0: there are no
 * minibatches.
 */
uint32_t jetwatt_measure_process(const struct jetwatt_batch_bound *b, int n, uint64_t since_ns);

/* Print why a measurement has failed. @err: result of jetwatt_measure_mode(). Return: exit code. */
int jetwatt_measure_why(const struct jetwatt_session *w, int err,
			const struct jetwatt_measure_limits *limits);

#endif
