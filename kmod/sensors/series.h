/* SPDX-License-Identifier: GPL-2.0 */
/* The list of series: which quantity each column of a sample holds. */
#ifndef JETWATT_SERIES_H
#define JETWATT_SERIES_H

#include <linux/types.h>

/*
 * Maximum number of columns: up to 24 rails with two quantities each, sums, and auxiliary series.
 */
#define JETWATT_SERIES_SLOTS	96

/**
 * struct jetwatt_series_desc - the quantity in one column of a sample
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_SERIES_INDEX
 */
struct jetwatt_series_desc {
	u32 kind;
	u32 index;
};

int jetwatt_series_slot(u32 kind, u32 index);
unsigned int jetwatt_series_count(void);
struct jetwatt_series_desc jetwatt_series_at(unsigned int slot);

#endif
