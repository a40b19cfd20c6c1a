// SPDX-License-Identifier: GPL-2.0-only
#include "out/export_rows.h"

static void write_mean(struct jetwatt_export_rows *rows)
{
	struct jetwatt_power *p = &rows->sum;

	for (uint32_t r = 0; r < p->nr; r++)
		if (rows->nr[r])
			p->uw[r] /= rows->nr[r];
	if (rows->format->power)
		rows->format->power(&rows->e, p, rows->lost);
	rows->open = 0;
	rows->lost = 0;
}

void jetwatt_export_rows_add(struct jetwatt_export_rows *rows, const struct jetwatt_power *p)
{
	struct jetwatt_power *sum = &rows->sum;

	if (rows->open && p->time_ns >= rows->due_ns)
		write_mean(rows);
	if (p->gap && rows->seq)
		rows->lost += p->seq - rows->seq - 1;
	rows->seq = p->seq;
	if (!rows->open) {
		*sum = *p;
		for (uint32_t r = 0; r < p->nr; r++)
			rows->nr[r] = 1;
		rows->due_ns = p->time_ns + rows->every_ns;
		rows->open = 1;
		return;
	}
	sum->gap |= p->gap;
	sum->clock = p->clock;
	sum->temp_mc = p->temp_mc;
	sum->telemetry = p->telemetry;
	/* Average only readings of the sample: a rail that was not read keeps its previous value in
	 * the sample. */
	for (uint32_t r = 0; r < p->nr; r++) {
		if (!(p->valid & 1u << r))
			continue;
		sum->uw[r] = (sum->valid & 1u << r ? sum->uw[r] : 0) + p->uw[r];
		rows->nr[r] = (sum->valid & 1u << r ? rows->nr[r] : 0) + 1;
	}
	sum->valid |= p->valid;
}

void jetwatt_export_rows_end(struct jetwatt_export_rows *rows)
{
	if (rows->open)
		write_mean(rows);
}
