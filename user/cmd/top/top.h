/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last seconds of a board in figures: what top shows. Gathered from a watch,
 * be it of a board or of a trace.
 */
#ifndef JETWATT_CMD_TOP_TOP_H
#define JETWATT_CMD_TOP_TOP_H

#include "measure/session.h"

#define JETWATT_TOP_JOBS	16
#define JETWATT_TOP_COLUMNS	240

/**
 * struct jetwatt_top_job - a process that waits for the GPU
 * @joule, @ms: per minibatch, means over the window; 0: no minibatch in it
 * @watt: its share of the total, by the GPU's time that it has; @shared: it is an
 *	estimate, because others had the GPU too
 */
struct jetwatt_top_job {
	uint32_t pid;
	char name[24];
	double joule, ms, watt;
	int shared;
};

/**
 * struct jetwatt_top - a moment
 * @now_ns: the last sample's time; @window_s: means are over so much before it
 * @total_w: mean; @peak_w: highest sample; @rail_w: means of all rails
 * @clock, @telemetry: as last read; @hz: samples a second
 * @column, @nr_columns: mean total power along the window, negative: no sample;
 *	@tick: minibatches that ended in that column
 * @job, @nr_jobs: by watts; @rest_w: while nobody had the GPU
 */
struct jetwatt_top {
	uint64_t now_ns;
	double window_s, total_w, peak_w, rail_w[JETWATT_RAILS_MAX], hz, rest_w;
	struct jetwatt_mode clock;
	struct jetwatt_telemetry telemetry;
	double column[JETWATT_TOP_COLUMNS];
	int tick[JETWATT_TOP_COLUMNS], nr_columns;
	struct jetwatt_top_job job[JETWATT_TOP_JOBS];
	int nr_jobs;
};

/* Fill @t from what @w has of the last @window_s; drops what is older. @columns:
 * of the time line. @name: of a process, may leave @buf as it is. Return: 0;
 * -ENODATA: no sample yet; -ENOMEM. */
int jetwatt_top_gather(struct jetwatt_top *t, struct jetwatt_watch *w, double window_s, int columns,
		       void (*name)(uint32_t pid, char *buf, size_t len, void *arg), void *arg);

/**
 * struct jetwatt_top_look - how it is shown
 * @budget_w: 0: none; @color: may be used; @title: of a trace, "" live
 * @paused, @over: the trace stands still; it is at its end
 */
struct jetwatt_top_look {
	double budget_w;
	int color, paused, over;
	const char *title;
};

/* Draw on the ncurses screen, whatever its size. */
void jetwatt_top_draw(const struct jetwatt_top *t, const struct jetwatt_watch *w,
		      const struct jetwatt_top_look *look);

#endif
