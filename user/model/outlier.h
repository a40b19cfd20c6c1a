/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outliers in a complete grid of measured modes: rows whose power is far below that of the
 * neighbouring modes. An outlier looks like an optimum that no second measurement reproduces, so
 * comparisons with the optimum leave it out (jetwatt eval).
 */
#ifndef JETWATT_OUTLIER_H
#define JETWATT_OUTLIER_H

#include "model/model.h"

/**
 * jetwatt_outlier_mark() - mark outliers of power in a grid of rows
 * @row: the rows; of several rows of one mode and minibatch size only the first is examined. Rows
 *	of several minibatch sizes have the size in @batch
 * @n: number of rows
 * @outlier: @n flags. 1: the row is an outlier; else 0
 *
 * For each knob in which the row has both neighbours (one level below and one above), take the
 * geometric mean of their powers. The row is an outlier if its power is below 95 % of the median of
 * these means.
 * At an edge of the grid these means are few, and next to other outliers they are too low. The row
 * is therefore also an outlier if its power is below 85 % of the median of all estimates: the
 * geometric mean in each knob with both neighbours; the power extrapolated from the next two rows
 * in each other knob; and the power of the same mode at the neighbouring minibatch sizes (geometric
 * mean of both; at the smallest or largest of three or more sizes, that of the next size).
 *
 * Return: the number of outliers; -ENOMEM.
 */
long jetwatt_outlier_mark(const struct jetwatt_row *row, size_t n, unsigned char *outlier);

#endif
