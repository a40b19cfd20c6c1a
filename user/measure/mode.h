/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One mode, measured: wait until power has settled after the switch, then
 * whole minibatches until their mean is known well enough.
 */
#ifndef JETWATT_MEASURE_MODE_H
#define JETWATT_MEASURE_MODE_H

#include <stdatomic.h>

#include "energy/energy.h"
#include "measure/measured.h"
#include "measure/session.h"

/**
 * struct jetwatt_measure_limits - when it is enough
 * @batches, @seconds: at least so much
 * @few: minibatches that will do after @most_s
 * @drop: so many are left out after a switch if they are long (0.3 s); 0: two, as of short ones
 * @target: relative standard error of time and power to reach
 * @most_s: at most so long, if there are a few minibatches by then
 * @idle_s: so long without a wait for the GPU means that there is no GPU work
 * @settle_s: so long for power to settle, then it is taken as it is from half of that on; 0: 6
 * @look_s: time between two looks at what there is; 0: a quarter of a second
 * @slow_ms: minibatches that take longer need only be told to: their power need not have
 *	settled, and its error says so; 0: all alike
 * @before_w: what was drawn before the switch, and had settled; 0: not known
 * @decay: what earlier switches of the board said of how power settles; then it is foretold, if
 *	that is sooner than to wait for it; NULL: waited for
 * @limit_w: where that is far from what is foretold, it need not be known well; 0: there is none
 * @good_ms: of modes that are faster, and near @limit_w, it has to be known the better; 0: of none
 * @cut: set by somebody else: what is measured is void; NULL: nobody
 */
struct jetwatt_measure_limits {
	unsigned int batches, few, drop;
	double seconds, target, most_s, idle_s, settle_s, look_s, slow_ms, before_w, limit_w, good_ms;
	struct jetwatt_batch_decay *decay;
	const atomic_int *cut;
};

extern const struct jetwatt_measure_limits jetwatt_measure_profile, jetwatt_measure_verify;

/* Called a few times a second; @part runs from 0 to 1. */
typedef void (*jetwatt_measure_fn)(const struct jetwatt_measure *so_far, double part, void *arg);

/**
 * jetwatt_measure_mode() - measure the mode that the board is in since @since_ns
 *
 * Return: 0; 1: @w says why (stop, ended, failed); -ENODATA: no GPU work;
 * -ETIMEDOUT: GPU work, but no minibatches to be told apart; -ECANCELED: @limits->cut;
 * -ENOMEM.
 */
int jetwatt_measure_mode(struct jetwatt_watch *w, uint64_t since_ns,
			 const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m,
			 jetwatt_measure_fn progress, void *arg);

/* Say why a measurement has failed. Return: exit code. */
int jetwatt_measure_why(const struct jetwatt_watch *w, int err,
			const struct jetwatt_measure_limits *limits);

#endif
