/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * True energy and number of minibatches of the simulated board (tests/sim), from the copies of its
 * debugfs files that tests/demo/guest.sh makes. In the demo, only the report uses them.
 */
#ifndef JETWATT_DEMO_TRUTH_H
#define JETWATT_DEMO_TRUTH_H

#include <stddef.h>
#include <stdint.h>

/**
 * truth_energy() - true energy between two times
 * @path: CSV file t_ns,energy_uj with cumulative energy; interpolated linearly
 * @t0_ns: start, CLOCK_MONOTONIC
 * @t1_ns: end, CLOCK_MONOTONIC
 * @uj: receives the energy, in microjoules
 *
 * Return: 0; -ENODATA: the log does not cover the times; another negative errno.
 */
int truth_energy(const char *path, uint64_t t0_ns, uint64_t t1_ns, double *uj);

/*
 * Return: number of minibatches that the job has finished, from the first column of the last line
 * of the CSV file; or a negative errno.
 */
long truth_minibatches(const char *path);

#endif
