/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the probe costs those whom it does not watch.
 */
#ifndef JETWATT_CMD_DOCTOR_PROBE_OVERHEAD_H
#define JETWATT_CMD_DOCTOR_PROBE_OVERHEAD_H

#include <stdint.h>

/**
 * jetwatt_cost_measure() - of one system call of a process that is not watched
 * @rungs: of the probe
 * @plain_ns: without the probe
 * @extra_ns: how much longer it takes with it
 *
 * Processor time, medians of rounds by turns; half a second. Return: 0; what the probe said.
 */
int jetwatt_cost_measure(uint32_t rungs, double *plain_ns, double *extra_ns);

#endif
