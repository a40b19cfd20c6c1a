/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power after a change of mode: it may take a second or more to reach the level of the new mode.
 */
#ifndef JETWATT_MEASURE_POWER_SETTLE_H
#define JETWATT_MEASURE_POWER_SETTLE_H

#include "measure/mode.h"

/**
 * struct jetwatt_settle - samples since a change of mode
 * @t: times
 * @w: total power, W
 * @n: number of samples
 * @since_ns: time of the change
 */
struct jetwatt_settle {
	const uint64_t *t;
	const double *w;
	size_t n;
	uint64_t since_ns;
};

/* Collect the samples of total power from @since_ns on in the caller's arrays @t and @w, to which
 * the result points. Each array has at least as many entries as @session has power samples. */
struct jetwatt_settle jetwatt_settle_samples(const struct jetwatt_session *session,
					     uint64_t since_ns, uint64_t *t, double *w);

/*
 * Return the time from which on power is valid, ns; 0: power has not settled yet, and the time
 * limit has not passed. @settled: set to 1 if power has settled, else to 0.
 */
uint64_t jetwatt_settle_time(const struct jetwatt_settle *s, uint64_t minibatch_ns,
			      const struct jetwatt_measure_limits *limits, int *settled);

/*
 * If limits->decay is not NULL, predict the level of power from the samples from @from_ns on, and
 * add the decay that these samples show to limits->decay. Return: 0 if row->power_w and
 * row->power_sd are set; -ENODATA if there is no prediction, or its error is too large;
 * limits->decay is then unchanged.
 */
int jetwatt_settle_predict(const struct jetwatt_settle *s, uint64_t from_ns, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits, struct jetwatt_row *row);

/*
 * Return whether the choice of a mode depends on the power measured in a mode. @time_ms: time of a
 * minibatch in the mode, @w: power in the mode, @sd: standard error of @w, in W.
 */
int jetwatt_settle_decisive(double time_ms, double w, double sd, const struct jetwatt_measure_limits *limits);

/* A measurement is complete: add the decay that the samples show to limits->decay, if that is not NULL,
 * for later predictions. */
void jetwatt_settle_learn(const struct jetwatt_settle *s, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits);

#endif
