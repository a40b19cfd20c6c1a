/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mean time and power of minibatches, and how well they are known.
 */
#ifndef JETWATT_MEASURE_BLOCK_MEAN_H
#define JETWATT_MEASURE_BLOCK_MEAN_H

#include <stddef.h>
#include "model/model.h"

/**
 * jetwatt_mean() - mean time and power, with relative standard errors
 * @time_ns, @uj: of each minibatch, in order
 * @block_ns: minibatches are put together to blocks at least so long, because
 *	power within one refresh of the chip is one value
 *
 * Power is energy by time, so a long minibatch counts for more than a short one.
 * Return: number of blocks; with less than two the errors are 0.
 */
unsigned int jetwatt_mean(const double *time_ns, const double *uj, size_t n, double block_ns,
			  struct jetwatt_row *row);

#endif
