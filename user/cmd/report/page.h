/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page of a run needs, gathered while the run goes by: its memory does
 * not grow with the run's length, but for what each minibatch took.
 */
#ifndef JETWATT_CMD_REPORT_PAGE_H
#define JETWATT_CMD_REPORT_PAGE_H

#include "measure/replay.h"
#include "measure/summary.h"
#include "out/run_page.h"

#define JETWATT_PAGE_COLUMNS	1240

/**
 * struct jetwatt_page_data - columns that get wider as they run out
 * @width_ns: of a column; @nr: so many are in use
 */
struct jetwatt_page_data {
	const struct jetwatt_watch *watch;
	struct jetwatt_page_column column[JETWATT_PAGE_COLUMNS];
	uint64_t width_ns;
	size_t nr;
};

/* Gather from @r's watch from here on. */
void jetwatt_page_gather(struct jetwatt_page_data *d, struct jetwatt_replay *r);

/* Write the page to @f. Return: 0, -EIO, -ENOMEM. */
int jetwatt_page_make(FILE *f, const struct jetwatt_page_data *d, const struct jetwatt_replay *r,
		      const struct jetwatt_summary *s);

#endif
