// SPDX-License-Identifier: GPL-2.0
/* The list of series: which quantity each column of a sample holds. */
#include "sensors/series.h"

#include <linux/errno.h>
#include <linux/mutex.h>

/*
 * The list only grows. The columns of a chip or auxiliary series that disappears stay and hold
 * JETWATT_VALUE_NONE; the chip or series gets the same columns again when it returns. Therefore a
 * column never changes its meaning, and to decode a sample later, only the length of the list at
 * the time of the sample is needed.
 *
 * A slot is written before series.count is increased with release semantics. Readers load
 * series.count with acquire semantics, so they need no lock. series.lock serialises writers.
 */
static struct {
	struct mutex lock;
	struct jetwatt_series_desc slot[JETWATT_SERIES_SLOTS];
	unsigned int count;
} series = { .lock = __MUTEX_INITIALIZER(series.lock) };

/**
 * jetwatt_series_slot() - return the column of a quantity, and add a column if it has none
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_SERIES_INDEX
 *
 * Context: takes series.lock; may sleep. Return: the column, or -ENOSPC if the table is full.
 */
int jetwatt_series_slot(u32 kind, u32 index)
{
	unsigned int i;
	int ret = -ENOSPC;

	mutex_lock(&series.lock);
	for (i = 0; i < series.count; i++)
		if (series.slot[i].kind == kind && series.slot[i].index == index)
			break;
	if (i < JETWATT_SERIES_SLOTS) {
		if (i == series.count) {
			series.slot[i].kind = kind;
			series.slot[i].index = index;
			/* Pairs with jetwatt_series_count(). */
			smp_store_release(&series.count, i + 1);
		}
		ret = i;
	}
	mutex_unlock(&series.lock);
	return ret;
}

/**
 * jetwatt_series_count() - return the number of columns
 *
 * Context: any. Return: number of columns; jetwatt_series_at() accepts all column numbers below it.
 */
unsigned int jetwatt_series_count(void)
{
	/* Pairs with jetwatt_series_slot(): slots with an index below series.count are complete. */
	return smp_load_acquire(&series.count);
}

/**
 * jetwatt_series_at() - return the quantity that a column holds
 * @slot: number of the column, less than a value that jetwatt_series_count() has returned
 *
 * Context: any. Return: the description.
 */
struct jetwatt_series_desc jetwatt_series_at(unsigned int slot)
{
	return series.slot[slot];
}
