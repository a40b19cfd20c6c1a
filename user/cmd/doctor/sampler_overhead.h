/* SPDX-License-Identifier: GPL-2.0-only */
/* What measuring takes itself, and to whom it is given. */
#ifndef JETWATT_CMD_DOCTOR_SAMPLER_OVERHEAD_H
#define JETWATT_CMD_DOCTOR_SAMPLER_OVERHEAD_H

#include "jetwatt.h"

/**
 * struct jetwatt_overhead - what sampling takes
 * @share: of a core: the sampler's thread's
 * @rail: that the CPUs are on; empty: none is known
 * @core_w: what one more busy core adds to it; @error_w: its standard error
 */
struct jetwatt_overhead {
	double share, core_w, error_w;
	char rail[JETWATT_LABEL_LEN];
};

/**
 * jetwatt_own_cost() - measure it, at the rate that is configured
 *
 * A core is kept busy for half of the time: a second and a half in all.
 * Return: 0 or a negative errno.
 */
int jetwatt_own_cost(struct jetwatt_overhead *o);

/**
 * jetwatt_own_leaks() - try to get samples without being allowed to
 *
 * As nobody, and as root of a user namespace with a network of its own, while
 * the sampler runs.
 * Return: 1: somebody got some; 0: nobody; negative errno: it cannot be told.
 */
int jetwatt_own_leaks(void);

#endif
