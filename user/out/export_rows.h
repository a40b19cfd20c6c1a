/* SPDX-License-Identifier: GPL-2.0-only */
/* Merges samples of an interval into a row: first time, mean power, last clocks and telemetry. */
#ifndef JETWATT_OUT_EXPORT_ROWS_H
#define JETWATT_OUT_EXPORT_ROWS_H

#include "out/export.h"

/**
 * struct jetwatt_export_rows - an export whose samples are merged into rows
 * @e, @format: the export
 * @every_ns: length of the interval of a row, ns; 0: one row for each sample
 * @due_ns: end of the interval of the present row
 * @seq: sequence number of the last sample
 * @lost: number of samples missing since the previous row
 * @sum: the present row, valid if @open; power is a sum over @nr readings of each rail
 */
struct jetwatt_export_rows {
	struct jetwatt_export e;
	const struct jetwatt_export_format *format;
	uint64_t every_ns, due_ns, seq, lost;
	struct jetwatt_power sum;
	unsigned int nr[JETWATT_RAILS_MAX];
	int open;
};

/* Add a sample, after writing the present row if its interval is over. */
void jetwatt_export_rows_add(struct jetwatt_export_rows *r, const struct jetwatt_power *p);
/* Write the last row, which may cover less than an interval. */
void jetwatt_export_rows_end(struct jetwatt_export_rows *r);

#endif
