/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mean time and power of minibatches with their errors, by the method of batch means.
 */
#ifndef JETWATT_MEASURE_BLOCK_MEAN_H
#define JETWATT_MEASURE_BLOCK_MEAN_H

#include <stddef.h>
#include "model/model.h"

/**
 * jetwatt_block_mean() - compute mean time and power of minibatches, with relative standard errors
 * @time_ns: duration of each minibatch, in order, ns
 * @uj: energy of each minibatch, uJ
 * @n: number of minibatches
 * @block_ns: minimum duration of a block of successive minibatches, ns. Power does not change
 *	within one refresh of the chip, so shorter blocks are not independent
 * @row: receives mean time, mean power and their relative standard errors; the mode in @row
 *	is unchanged
 *
 * Power is total energy divided by total time, so a long minibatch has more weight.
 *
 * Return: number of blocks; with fewer than two blocks the errors are 0.
 */
unsigned int jetwatt_block_mean(const double *time_ns, const double *uj, size_t n, double block_ns,
			  struct jetwatt_row *row);

#endif
