// SPDX-License-Identifier: GPL-2.0
#include "sensors/series.h"

#include <linux/errno.h>
#include <linux/mutex.h>

/*
 * The list only grows. A chip or clock that goes away leaves its columns
 * behind (they hold NONE), and gets the same ones when it comes back. So a
 * column never changes its meaning, the length of the list is its generation,
 * and a sample needs nothing but that length to be understood later.
 *
 * A slot is written before the count that covers it is published (release),
 * so readers need no lock (acquire). The mutex is for those who append.
 */
static struct {
	struct mutex lock;
	struct jetwatt_series_desc slot[JETWATT_SERIES_SLOTS];
	unsigned int count;
} series = { .lock = __MUTEX_INITIALIZER(series.lock) };

/**
 * jetwatt_series_slot() - the column of a quantity, a new one if need be
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_SERIES_INDEX
 *
 * Context: may sleep. Return: the column, or -ENOSPC if the table is full.
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
 * jetwatt_series_count() - how many columns there are
 *
 * Context: any. Return: the number; jetwatt_series_at() may be asked for all
 * of them.
 */
unsigned int jetwatt_series_count(void)
{
	/* Pairs with jetwatt_series_slot(): what the count covers is complete. */
	return smp_load_acquire(&series.count);
}

/**
 * jetwatt_series_at() - what a column holds
 * @slot: less than a count returned before
 *
 * Context: any. Return: the description.
 */
struct jetwatt_series_desc jetwatt_series_at(unsigned int slot)
{
	return series.slot[slot];
}
