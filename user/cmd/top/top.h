/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt top: power, clocks and jobs of the last seconds, computed from a session of a board or of
 * a replayed trace, and drawn with ncurses.
 */
#ifndef JETWATT_CMD_TOP_TOP_H
#define JETWATT_CMD_TOP_TOP_H

#include <stdio.h>

#include "measure/session.h"
#include "minibatch/phases.h"

#define JETWATT_TOP_JOBS	16
#define JETWATT_TOP_COLUMNS	240

/**
 * struct jetwatt_top_phase - the minibatches of one phase that ended in the window
 * @joule, @ms: energy and time per minibatch, means; @joule is 0 if it is unknown
 * @per_s: number of minibatches per second: while the job is in the phase if it has only one, else in
 *	the window
 */
struct jetwatt_top_phase {
	double joule, ms, per_s;
};

/**
 * struct jetwatt_top_job - a process that waits for the GPU
 * @pid, @name: the process
 * @phase, @phases: its phases; @phases is 0 if no minibatch ended in the window
 * @watt: share of the total power that is attributed to the process by its GPU time, in W
 * @shared: other processes used the GPU at the same time, so @watt is an estimate
 */
struct jetwatt_top_job {
	uint32_t pid;
	char name[24];
	struct jetwatt_top_phase phase[JETWATT_PHASES_MAX];
	double watt;
	int phases, shared;
};

/**
 * struct jetwatt_top - contents of the screen
 * @now_ns: time of the last sample
 * @window_s: length of the averaging window, which ends at @now_ns, in seconds
 * @total_w: mean total power in the window, in W; @peak_w: highest sample of the total power, in W
 * @rail_w: mean power of each rail in the window, in W
 * @hz: number of power samples per second in the window
 * @rest_w: total power that is attributed to no process
 * @clock, @telemetry: values of the last sample
 * @column, @nr_columns: mean total power in each column of the chart, negative: no sample
 * @tick: for each column of the chart, number of minibatches that ended in it
 * @job, @nr_jobs: the processes, sorted by power, descending
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

/**
 * jetwatt_top_gather() - compute the contents of the screen
 * @t: the result
 * @w: the session; its samples and waits from before the window are dropped
 * @window_s: length of the averaging window, in seconds
 * @columns: number of columns in the power chart
 * @name: writes the name of a process to @buf, or leaves it unchanged; may be NULL
 * @arg: passed to @name
 *
 * Return: 0; -ENODATA if no sample has arrived yet; -ENOMEM.
 */
int jetwatt_top_gather(struct jetwatt_top *t, struct jetwatt_session *w, double window_s, int columns,
		       void (*name)(uint32_t pid, char *buf, size_t len, void *arg), void *arg);

/**
 * struct jetwatt_top_view - how the screen is drawn
 * @budget_w: power budget in W, 0: none
 * @color: use colours
 * @paused: 1: the replay is paused; @over: 1: the replay has reached the end of the trace
 * @title: name of the trace, "" for a board
 */
struct jetwatt_top_view {
	double budget_w;
	int color, paused, over;
	const char *title;
};

/* Draw on the ncurses screen, at its present size. */
void jetwatt_top_draw(const struct jetwatt_top *t, const struct jetwatt_session *w,
		      const struct jetwatt_top_view *view);

/*
 * Print the samples of a running session as lines of tegrastats to @f, each one a mean over
 * @interval_s, until a signal. Return: exit code.
 */
int jetwatt_top_tegrastats(struct jetwatt_session *w, double interval_s, FILE *f);

#endif
