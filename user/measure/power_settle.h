/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power after a switch: it goes to what the new mode draws, and that takes a second or more.
 */
#ifndef JETWATT_MEASURE_POWER_SETTLE_H
#define JETWATT_MEASURE_POWER_SETTLE_H

#include "measure/mode.h"

/* Samples since the switch at @since_ns: their times, and power in W. */
struct jetwatt_step {
	const uint64_t *t;
	const double *w;
	size_t n;
	uint64_t since_ns;
};

/* Of all rails of the total. @t, @w: room for as many samples as @watch has. */
struct jetwatt_step jetwatt_step_of(const struct jetwatt_watch *watch, uint64_t since_ns, uint64_t *t,
				    double *w);

/* @settled: 0: it has not. Return: from when on power counts; 0: not settled yet, and there is
 * time to wait for it. */
uint64_t jetwatt_step_settled(const struct jetwatt_step *s, uint64_t minibatch_ns,
			      const struct jetwatt_measure_limits *limits, int *settled);

/* Foretell what power will settle to, by samples from @from_ns on, if limits->decay is given; what
 * they say of the decay is put there. Return: 0: in row->power_w; -ENODATA: not known well
 * enough yet. */
int jetwatt_step_level(const struct jetwatt_step *s, uint64_t from_ns, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits, struct jetwatt_row *row);

/* Does it hang on this power whether a mode is chosen, with the standard error @sd? */
int jetwatt_step_close(double time_ms, double w, double sd, const struct jetwatt_measure_limits *limits);

/* It has been waited for: put what it says of the decay there, for later ones. */
void jetwatt_step_seen(const struct jetwatt_step *s, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits);

#endif
