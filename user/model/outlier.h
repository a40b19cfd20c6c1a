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
 * @row: the rows; of several rows of one mode only the first is examined
 * @n: number of rows
 * @outlier: @n flags. 1: the row is an outlier: its power is below 95 % of the expected power. For
 *	each knob in which the row has both neighbours (one level below and one above), take the
 *	geometric mean of their powers; the expected power is the median of these means. A row
 *	without both neighbours in any knob is at a corner of the grid: it is an outlier below 80 %
 *	of the median of the powers extrapolated from the next two rows in each knob. Else 0
 *
 * Return: the number of outliers; -ENOMEM.
 */
long jetwatt_outlier_mark(const struct jetwatt_row *row, size_t n, unsigned char *outlier);

#endif
