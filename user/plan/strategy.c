// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of search strategies.
 */
#include "plan/strategy.h"

#include <string.h>

const struct jetwatt_strategy *jetwatt_strategy_find(const char *name)
{
	static const struct jetwatt_strategy *const all[] = {
		&jetwatt_strategy_auto, &jetwatt_strategy_gmd, &jetwatt_strategy_als,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}
