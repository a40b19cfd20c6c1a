// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the auxiliary series: the values of a sample that are not from a sensor chip (clock
 * rates, GPU load, temperatures, online CPUs). aux_read.c reads them.
 */
#include "sampler/aux_series.h"

#include <linux/jetwatt.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include "event.h"
#include "sensors/series.h"

/* @lock serialises additions. A series is complete, except @cpus, before @nr is increased. */
static struct {
	struct mutex lock;
	struct jetwatt_aux series[JETWATT_CLOCKS_MAX];
	unsigned int nr;
} aux = { .lock = __MUTEX_INITIALIZER(aux.lock) };

/**
 * jetwatt_aux_add() - return an auxiliary series, and add it if it does not exist
 * @kind: enum jetwatt_series
 * @index: index of the series, see enum jetwatt_series
 * @label: name for display
 *
 * Context: takes aux.lock; sleeps. Return: the series; NULL if aux.series or the list of
 * columns is full.
 */
struct jetwatt_aux *jetwatt_aux_add(u32 kind, u32 index, const char *label)
{
	struct jetwatt_aux *series = NULL;
	unsigned int i;
	int slot;

	mutex_lock(&aux.lock);
	for (i = 0; i < aux.nr && !series; i++)
		if (aux.series[i].kind == kind && aux.series[i].index == index)
			series = &aux.series[i];
	if (series || aux.nr == JETWATT_CLOCKS_MAX)
		goto unlock;
	slot = jetwatt_series_slot(kind, index);
	if (slot < 0)
		goto unlock;
	series = &aux.series[aux.nr];
	series->kind = kind;
	series->index = index;
	series->slot = slot;
	series->value = JETWATT_VALUE_NONE;
	strscpy(series->label, label, sizeof(series->label));
	/* Pairs with jetwatt_aux_count(). */
	smp_store_release(&aux.nr, aux.nr + 1);
	jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, 0);
unlock:
	mutex_unlock(&aux.lock);
	return series;
}

/**
 * jetwatt_aux_count() - return the number of auxiliary series
 *
 * Context: any. Return: number of auxiliary series; the number never decreases.
 */
unsigned int jetwatt_aux_count(void)
{
	/* Pairs with jetwatt_aux_add(). */
	return smp_load_acquire(&aux.nr);
}

/**
 * jetwatt_aux_at() - return an auxiliary series by its index
 * @i: index of the series, less than a value that jetwatt_aux_count() has returned
 *
 * Context: any. Return: the series.
 */
struct jetwatt_aux *jetwatt_aux_at(unsigned int i)
{
	return &aux.series[i];
}
