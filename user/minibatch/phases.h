/* SPDX-License-Identifier: GPL-2.0-only */
/* Phases: kinds of minibatches of one job with different work. */
#ifndef JETWATT_MINIBATCH_PHASES_H
#define JETWATT_MINIBATCH_PHASES_H

#include "minibatch/minibatch.h"

#define JETWATT_PHASES_MAX	6

/**
 * jetwatt_batch_phases() - divide the minibatches of a job into phases
 * @b: the bounds of a run, in order of time. The function sets the phase of each: 1: the phase
 *	that takes the most time, 2: the next one, and so on; 0: the bound is not a minibatch
 * @n: number of bounds
 *
 * Minibatches of an evaluation have a phase as well, and so have intervals of kind
 * JETWATT_BATCH_OTHER that contain launches of GPU work or the usual number of waits (the first prefill
 * of a server for instance). A kind of fewer than four minibatches joins the phase that it resembles
 * most; if no kind has four, all minibatches are one phase. If fewer than four such other intervals
 * are alike, they have no phase. Kinds of minibatches beyond JETWATT_PHASES_MAX share the last phase.
 * The first minibatch of a job gets the phase of the next one, because its start is unknown.
 *
 * Context: needs memory proportional to @n, and CPU time proportional to @n log @n.
 * Return: number of phases, at most JETWATT_PHASES_MAX; 0: there is no minibatch; -ENOMEM.
 */
int jetwatt_batch_phases(struct jetwatt_batch_bound *b, size_t n);

#endif
