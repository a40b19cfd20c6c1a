/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the index of a mode in an array of modes, with a hash table. */
#ifndef JETWATT_MODEL_MODE_INDEX_H
#define JETWATT_MODEL_MODE_INDEX_H

#include <stddef.h>

#include "jetwatt.h"

/**
 * struct jetwatt_mode_index - hash table of the modes of an array
 * @slot: index of the mode plus 1; 0: the slot is free
 * @capacity: number of slots, a power of 2
 */
struct jetwatt_mode_index {
	size_t *slot, capacity;
};

/* Allocate a table for up to @n modes. Return: 0, -ENOMEM. */
int jetwatt_mode_index_open(struct jetwatt_mode_index *x, size_t n);
void jetwatt_mode_index_close(struct jetwatt_mode_index *x);
/* Return the index in @mode of the first mode added that equals @m; -1: none, or the table is not
 * allocated. @mode: the array of the added modes. */
long jetwatt_mode_index_find(const struct jetwatt_mode_index *x, const struct jetwatt_mode *mode,
			     const struct jetwatt_mode *m);
/* Add the mode @mode[at], unless an equal one was added before. */
void jetwatt_mode_index_add(struct jetwatt_mode_index *x, const struct jetwatt_mode *mode,
			    size_t at);

#endif
