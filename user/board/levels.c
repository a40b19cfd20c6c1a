// SPDX-License-Identifier: GPL-2.0-only
/* Levels of a knob, and functions about paths that several knobs use. */
#include "board/knobs.h"

#include <string.h>

int jetwatt_levels_table(const uint64_t *from, uint64_t *v)
{
	int n = 0;

	for (; from && from[n] && n < JETWATT_BOARD_FREQS_MAX; n++)
		v[n] = from[n];
	return n;
}

void jetwatt_levels_set_missing(struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v)
{
	b->level[k][0] = v;
	b->nr_levels[k] = 1;
}

uint64_t jetwatt_levels_top(const struct jetwatt_board *b, enum jetwatt_knob k)
{
	return b->nr_levels[k] ? b->level[k][b->nr_levels[k] - 1] : 0;
}

int jetwatt_board_levels(const struct jetwatt_board *b, enum jetwatt_knob k, const uint64_t **v)
{
	*v = b->level[k];
	return b->nr_levels[k];
}

bool jetwatt_path_contains(const char *path, const char * const *part)
{
	while (*part && !strstr(path, *part))
		part++;
	return *part;
}

bool jetwatt_path_ends(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end);
}
