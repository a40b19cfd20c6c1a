// SPDX-License-Identifier: LGPL-2.1-only
#include "lib/rail_label.h"

#include <stdio.h>
#include <string.h>

void jetwatt_rail_label_unique(struct jetwatt_rail *rails, int n)
{
	struct jetwatt_rail *rail = &rails[n];
	char id[16];
	size_t len;

	for (int i = 0; i < n; i++) {
		if (strcmp(rails[i].label, rail->label))
			continue;
		len = (size_t)snprintf(id, sizeof(id), " (%u)", rail->id);
		if (strlen(rail->label) + len < sizeof(rail->label))
			strcat(rail->label, id);
		else
			strcpy(rail->label + sizeof(rail->label) - 1 - len, id);
		return;
	}
}
