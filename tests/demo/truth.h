/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated plant's own figures, as its debugfs gave them after the run.
 * Only the report reads them.
 */
#ifndef JETWATT_DEMO_TRUTH_H
#define JETWATT_DEMO_TRUTH_H

#include <stddef.h>
#include <stdint.h>

/**
 * truth_energy() - the plant's energy between two times
 * @path: CSV t_ns,energy_uj, cumulative; linear in between
 *
 * Return: 0, -ENODATA: the log does not cover the times, other negative errno.
 */
int truth_energy(const char *path, uint64_t t0_ns, uint64_t t1_ns, double *uj);

/* Minibatches that the job has finished, from the CSV's last line n,...
 * Return: the count, negative errno. */
long truth_minibatches(const char *path);

#endif
