/* SPDX-License-Identifier: GPL-2.0-only */
/* Overhead of the probe on processes that it does not watch, for jetwatt doctor. */
#ifndef JETWATT_CMD_DOCTOR_PROBE_OVERHEAD_H
#define JETWATT_CMD_DOCTOR_PROBE_OVERHEAD_H

#include <stdint.h>

/**
 * jetwatt_probe_overhead_measure() - measure the overhead per system call
 * @backends: backends of the probe to measure, JETWATT_BACKEND_*
 * @plain_ns: CPU time of one system call without the probe, in ns
 * @extra_ns: additional CPU time of one system call with the probe, in ns; may be negative by noise
 *
 * The results are medians of five rounds that alternate with and without the probe; the measurement
 * takes about half a second.
 * Return: 0, or the negative errno of jetwatt_probe_open().
 */
int jetwatt_probe_overhead_measure(uint32_t backends, double *plain_ns, double *extra_ns);

#endif
