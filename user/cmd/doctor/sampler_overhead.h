/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU time and power of sampling, and a test that unprivileged processes cannot read samples; for
 * jetwatt doctor. */
#ifndef JETWATT_CMD_DOCTOR_SAMPLER_OVERHEAD_H
#define JETWATT_CMD_DOCTOR_SAMPLER_OVERHEAD_H

#include "jetwatt.h"

/**
 * struct jetwatt_overhead - cost of sampling
 * @share: CPU time of the sampler thread, as a share of one core
 * @core_w: additional power of @rail with one more busy core, in W; NAN if the rail could not be read
 * @error_w: standard error of @core_w, in W
 * @rail: label of the rail that supplies the CPUs; empty if the rail is unknown; @core_w is then 0
 */
struct jetwatt_overhead {
	double share, core_w, error_w;
	char rail[JETWATT_LABEL_LEN];
};

/**
 * jetwatt_sampler_overhead_measure() - measure the cost of sampling at the configured rate
 *
 * If the CPU rail is known, one core is kept busy for half of the time, to measure the power of a
 * busy core, and the function takes about two seconds; else less than one.
 * Return: 0 or a negative errno; -ENODATA if no samples arrived.
 */
int jetwatt_sampler_overhead_measure(struct jetwatt_overhead *o);

/**
 * jetwatt_access_check() - test that unprivileged processes cannot read samples
 *
 * The test tries to read samples as user nobody and as root of a new user and network namespace,
 * while the sampler runs for this process.
 * Return: 1 if user nobody or the namespace's root got samples; 0 if neither did; negative errno if
 * this was not tested (-EPERM: this process could not become nobody; -ENODATA: this process got no
 * samples itself).
 */
int jetwatt_access_check(void);

#endif
