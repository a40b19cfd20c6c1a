/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The minibatch during which the mode was changed. Its beginning ran in the mode before, in which the
 * time of a minibatch is known; the rest shows the time in the new mode. If minibatches
 * take seconds, no wait for the next whole one is needed.
 */
#ifndef JETWATT_MEASURE_PARTIAL_H
#define JETWATT_MEASURE_PARTIAL_H

#include <stdint.h>

#include "measure/power_settle.h"
#include "minibatch/minibatch.h"

/**
 * jetwatt_partial_time() - time of a whole minibatch in the new mode
 * @b: the minibatch
 * @since_ns: time of the change of mode, ns
 * @limits: has the time of a minibatch in the mode before
 * @row: row->time_ms and row->time_sd are set. The error grows with the part of the minibatch
 *	that ran in the mode before
 *
 * Return: 0; -ENODATA: the time cannot be computed, for example because too much of the minibatch
 * ran in the mode before, or less than 0.5 s of it in the new one.
 */
int jetwatt_partial_time(const struct jetwatt_batch_bound *b, uint64_t since_ns,
			 const struct jetwatt_measure_limits *limits, struct jetwatt_row *row);

/**
 * jetwatt_partial_power() - mean power of the rest of the minibatch
 * @s: samples since the change of mode
 * @from_ns: time from which on power has settled, ns
 * @end_ns: end of the minibatch, ns
 * @row: row->power_w and row->power_sd are set. The error grows with the part of the minibatch
 *	before @from_ns and with the spread of the samples
 *
 * Return: 0; -ENODATA: power settled in the second half of that rest, or samples are missing.
 */
int jetwatt_partial_power(const struct jetwatt_settle *s, uint64_t from_ns, uint64_t end_ns,
			  struct jetwatt_row *row);

#endif
