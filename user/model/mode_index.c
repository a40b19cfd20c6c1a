// SPDX-License-Identifier: GPL-2.0-only
/* A hash table of modes with linear probing; at least half of its slots are free. */
#include "model/mode_index.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int jetwatt_mode_index_open(struct jetwatt_mode_index *x, size_t n)
{
	x->capacity = 2;
	while (x->capacity < 2 * n)
		x->capacity *= 2;
	x->slot = calloc(x->capacity, sizeof(*x->slot));
	return x->slot ? 0 : -ENOMEM;
}

void jetwatt_mode_index_close(struct jetwatt_mode_index *x)
{
	free(x->slot);
	x->slot = NULL;
}

/* Return: the slot of the mode @m, or the free slot in which it is missing. */
static size_t *mode_slot(const struct jetwatt_mode_index *x, const struct jetwatt_mode *mode,
			 const struct jetwatt_mode *m)
{
	uint64_t h = 0;
	size_t at;

	jetwatt_each_knob(k)
		h = h * 0x9e3779b97f4a7c15ull + jetwatt_mode_get(m, k);
	at = ((h * 0x9e3779b97f4a7c15ull) >> 32) & (x->capacity - 1);
	while (x->slot[at] && !jetwatt_mode_same(&mode[x->slot[at] - 1], m))
		at = (at + 1) & (x->capacity - 1);
	return &x->slot[at];
}

long jetwatt_mode_index_find(const struct jetwatt_mode_index *x, const struct jetwatt_mode *mode,
			     const struct jetwatt_mode *m)
{
	return x->slot ? (long)*mode_slot(x, mode, m) - 1 : -1;
}

void jetwatt_mode_index_add(struct jetwatt_mode_index *x, const struct jetwatt_mode *mode,
			    size_t at)
{
	size_t *slot = mode_slot(x, mode, &mode[at]);

	if (!*slot)
		*slot = at + 1;
}
