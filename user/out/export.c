// SPDX-License-Identifier: GPL-2.0-only
/* Helpers that the export formats share. */
#include "out/export.h"

#include <string.h>

int64_t jetwatt_export_total(const struct jetwatt_export *e, const struct jetwatt_power *p)
{
	int64_t uw = 0;

	for (int i = 0; i < e->run->nr_total; i++)
		uw += p->uw[e->run->total[i]];
	return uw;
}

const char *jetwatt_export_kind(const struct jetwatt_batch_bound *b)
{
	static const char *const kind[] = { "train", "eval", "other" };

	return kind[b->kind >= 0 && b->kind < 3 ? b->kind : 2];
}

int jetwatt_export_clocks_changed(struct jetwatt_export *e, const struct jetwatt_power *p)
{
	if (!memcmp(&p->clock, &e->clock, sizeof(p->clock)))
		return 0;
	e->clock = p->clock;
	return 1;
}

int jetwatt_export_slot_changed(struct jetwatt_export *e, const struct jetwatt_power *p,
				unsigned int slot)
{
	if (e->last_telemetry.value[slot] == p->telemetry.value[slot])
		return 0;
	e->last_telemetry.value[slot] = p->telemetry.value[slot];
	return 1;
}
