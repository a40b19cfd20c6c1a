// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of predictors, filled from JETWATT_PREDICTORS of predictor.h.
 */
#include "model/predictor.h"

#include <string.h>

#define ADDRESS(name)	&jetwatt_predictor_##name,

static const struct jetwatt_predictor *const table[] = { JETWATT_PREDICTORS(ADDRESS) };

const struct jetwatt_predictor *jetwatt_predictor_at(size_t i)
{
	return i < sizeof(table) / sizeof(*table) ? table[i] : NULL;
}

const struct jetwatt_predictor *jetwatt_predictor_find(const char *name)
{
	const struct jetwatt_predictor *p;

	for (size_t i = 0; (p = jetwatt_predictor_at(i)); i++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

struct jetwatt_mode jetwatt_predictor_highest(const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_mode highest = { 0 };

	for (size_t i = 0; i < n; i++)
		jetwatt_mode_raise(&highest, &row[i].mode);
	return highest;
}
