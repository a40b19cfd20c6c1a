/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a whole grid whose power reads far below their neighbours': they make
 * an optimum that no one can reach again.
 */
#ifndef JETWATT_DIRTY_H
#define JETWATT_DIRTY_H

#include "model/model.h"

/**
 * jetwatt_dirty_mark() - mark the rows not to judge an optimum by
 * @row: @n rows; of a mode that is there twice only the first one is looked at
 * @dirty: @n entries: 1 where the power is below 0.95 of the median, over the
 *	knobs in which the row has a neighbour one step below and one above, of
 *	the geometric mean of these two; else 0
 *
 * Return: how many are marked, -ENOMEM.
 */
long jetwatt_dirty_mark(const struct jetwatt_row *row, size_t n, unsigned char *dirty);

#endif
