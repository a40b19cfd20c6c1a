/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collects the data of the HTML page while a trace is replayed. The memory for these data does not
 * grow with the length of the run, except for a record per minibatch.
 */
#ifndef JETWATT_CMD_REPORT_PAGE_H
#define JETWATT_CMD_REPORT_PAGE_H

#include "measure/replay.h"
#include "measure/summary.h"
#include "out/run_page.h"

#define JETWATT_PAGE_COLUMNS	1240

/**
 * struct jetwatt_page_data - power and clocks over time, in columns of equal width
 * @session: the replayed session
 * @column: sums of the samples in each column
 * @width_ns: width of a column; it is doubled when the array is full
 * @nr: number of entries of @column in use
 */
struct jetwatt_page_data {
	const struct jetwatt_session *session;
	struct jetwatt_page_column column[JETWATT_PAGE_COLUMNS];
	uint64_t width_ns;
	size_t nr;
};

/* Start collecting data for the page: install a callback for power samples in @r. Call this
 * function before the trace is replayed. */
void jetwatt_page_gather(struct jetwatt_page_data *d, struct jetwatt_replay *r);

/* Write the page to @f. Return: 0; -EIO: a write failed; -ENOMEM. */
int jetwatt_page_make(FILE *f, const struct jetwatt_page_data *d, const struct jetwatt_replay *r,
		      const struct jetwatt_summary *s);

#endif
