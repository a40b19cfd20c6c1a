/* SPDX-License-Identifier: GPL-2.0-only */
/* Time of a minibatch in a mode that was left before its measurement was complete. */
#ifndef JETWATT_MEASURE_LEFT_MODE_H
#define JETWATT_MEASURE_LEFT_MODE_H

#include <stdint.h>

#include "measure/measured.h"
#include "measure/session.h"

/**
 * jetwatt_left_mode_time() - time of the whole minibatches in a mode that was left
 * @w: session, with the waits of the job
 * @since_ns: time of the change to the mode, ns
 * @until_ns: time of the change from the mode, ns
 * @m: receives the mean time and its relative standard error, the number of minibatches and their
 *	duration
 *
 * Return: 0; -ENODATA: no whole minibatch was found in the mode; -ENOMEM. If not 0, @m is unchanged.
 */
int jetwatt_left_mode_time(const struct jetwatt_session *w, uint64_t since_ns, uint64_t until_ns,
			   struct jetwatt_measure *m);

#endif
