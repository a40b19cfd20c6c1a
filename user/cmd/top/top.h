/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt top: power, clocks and jobs of the last seconds, computed from a session of a board or of
 * a replayed trace, and drawn with ncurses.
 */
#ifndef JETWATT_CMD_TOP_TOP_H
#define JETWATT_CMD_TOP_TOP_H

#include <stdio.h>

#include "measure/session.h"
#include "measure/unit_counter.h"
#include "minibatch/phases.h"

#define JETWATT_TOP_JOBS	16
#define JETWATT_TOP_COLUMNS	240
/* Maximum height of a line chart. */
#define JETWATT_TOP_ROWS	4
/* Maximum number of readings of a counter that are stored; one is read each second. */
#define JETWATT_TOP_READINGS	256
#define JETWATT_TOP_SERIES	(JETWATT_KNOBS + JETWATT_TELEMETRY_SLOTS)

/* Numbers of the colours; enum values are those of ncurses' colour pairs. */
enum jetwatt_top_color { JETWATT_TOP_OVER = 1, JETWATT_TOP_TICK, JETWATT_TOP_BARS, JETWATT_TOP_LINES };

enum jetwatt_top_page { JETWATT_TOP_POWER, JETWATT_TOP_HISTORY, JETWATT_TOP_HELP };

/* What the jobs are sorted by. */
enum jetwatt_top_order { JETWATT_TOP_BY_POWER, JETWATT_TOP_BY_ENERGY, JETWATT_TOP_BY_TIME, JETWATT_TOP_BY_PID,
			 JETWATT_TOP_ORDERS };

/**
 * struct jetwatt_top_phase - the minibatches of one phase that ended in the window
 * @joule, @ms: energy and time per minibatch, means; @joule is 0 if it is unknown
 * @per_s: number of minibatches per second: the reciprocal of @ms if the job has only one phase,
 *	else those that ended in the window, divided by its length
 */
struct jetwatt_top_phase {
	double joule, ms, per_s;
};

/**
 * struct jetwatt_top_job - a process that waits for the GPU
 * @pid, @name: the process; @name is as long as its column is wide
 * @phase, @phases: its phases; @phases is 0 if no minibatch ended in the window
 * @watt: share of the total power that is attributed to the process by its GPU time, in W
 * @shared: other processes used the GPU at the same time, so @watt is an estimate
 */
struct jetwatt_top_job {
	uint32_t pid;
	char name[23];
	struct jetwatt_top_phase phase[JETWATT_PHASES_MAX];
	double watt;
	int phases, shared;
};

/**
 * struct jetwatt_top_unit - a counter of work units in the window
 * @name: name of one unit
 * @cost: energy of the total and time per unit, and units per second, between the first and the last
 *	reading in the window; 0: fewer than two readings, or no unit
 */
struct jetwatt_top_unit {
	char name[JETWATT_UNIT_NAME_LEN];
	struct jetwatt_top_phase cost;
};

/**
 * struct jetwatt_top_counters - the latest readings of the counters
 * @of: for each counter, the times and the units since the first reading of its @n latest readings, and
 *	the @value of the last one
 */
struct jetwatt_top_counters {
	struct jetwatt_top_counter {
		uint64_t time_ns[JETWATT_TOP_READINGS];
		double units[JETWATT_TOP_READINGS], value;
		size_t n;
	} of[JETWATT_UNITS_MAX];
};

/**
 * struct jetwatt_top_series - a clock or a telemetry series in the window
 * @title, @unit: name, and unit of the values; @unit is "" for a number
 * @now: the last value; @least, @most: lowest and highest value
 * @value: two values for each column of the chart; NAN: no sample
 */
struct jetwatt_top_series {
	char title[JETWATT_TELEMETRY_NAME_LEN];
	const char *unit;
	double now, least, most, value[2 * JETWATT_TOP_COLUMNS];
};

/**
 * struct jetwatt_top - contents of the screen
 * @now_ns: time of the last sample
 * @window_s: length of the averaging window, which ends at @now_ns, in seconds
 * @total_w: mean total power in the window, in W; @peak_w: highest sample in it, in W
 * @rail_w: mean power of each rail in the window, in W
 * @hz: number of power samples per second in the window
 * @rest_w: total power that is attributed to no process
 * @clock, @telemetry: values of the last sample
 * @column, @nr_columns: mean total power in each column of the chart, negative: no sample
 * @tick: for each column of the chart, number of minibatches that ended in it
 * @job, @nr_jobs: the processes, sorted by power, descending
 * @unit, @nr_units: the counters of work units, see jetwatt_top_units()
 * @series, @nr_series: the clocks and telemetry that the board has, see jetwatt_top_history()
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
	struct jetwatt_top_unit unit[JETWATT_UNITS_MAX];
	int nr_units;
	struct jetwatt_top_series series[JETWATT_TOP_SERIES];
	int nr_series;
};

/**
 * jetwatt_top_gather() - compute the contents of the screen
 * @t: the result
 * @w: the session; its samples from before the window are dropped, and its waits except the latest
 *	ones
 * @window_s: length of the averaging window, in seconds
 * @columns: number of columns in the power chart
 * @name: writes the name of a process to @buf, or leaves it unchanged; may be NULL
 * @arg: passed to @name
 *
 * Return: 0; -ENODATA if no sample has arrived yet; -ENOMEM.
 */
int jetwatt_top_gather(struct jetwatt_top *t, struct jetwatt_session *w, double window_s, int columns,
		       void (*name)(uint32_t pid, char *buf, size_t len, void *arg), void *arg);

/* Store a reading of the counters @u. */
void jetwatt_top_count(struct jetwatt_top_counters *c, const struct jetwatt_units *u,
		       const struct jetwatt_unit_reading *r);

/* Compute the figures of the counters @u, after jetwatt_top_gather(). */
void jetwatt_top_units(struct jetwatt_top *t, const struct jetwatt_session *w,
		       const struct jetwatt_top_counters *c, const struct jetwatt_units *u);

/* Compute the series of the second page, after jetwatt_top_gather(). */
void jetwatt_top_history(struct jetwatt_top *t, const struct jetwatt_session *w);

/* Sort the jobs by power, or by energy or time per minibatch of their first phase, descending; or by
 * process id, ascending. */
void jetwatt_top_sort(struct jetwatt_top *t, enum jetwatt_top_order order);

/**
 * struct jetwatt_top_view - how the screen is drawn
 * @budget_w: power budget in W, 0: none
 * @color: use colours; @unicode: use block and braille characters
 * @page, @order: what is shown, and how the jobs are sorted
 * @paused: 1: the replay is paused; @over: 1: the replay has reached the end of the trace
 * @title: name of the trace, "" for a board
 */
struct jetwatt_top_view {
	double budget_w;
	int color, unicode, paused, over;
	enum jetwatt_top_page page;
	enum jetwatt_top_order order;
	const char *title;
};

/* Switch a colour on or off. */
void jetwatt_top_color(const struct jetwatt_top_view *view, enum jetwatt_top_color color, int on);
/* Draw a bar of @width characters in brackets that is filled to @part, 0 to 1. */
void jetwatt_top_bar(const struct jetwatt_top_view *view, double part, int width, enum jetwatt_top_color color);
/* Draw a cell of a column that is filled to @part, 0 to 1, from its bottom. */
void jetwatt_top_column(const struct jetwatt_top_view *view, double part);
/* Draw a series as a line of @cells columns and @rows lines. */
void jetwatt_top_line(const struct jetwatt_top_view *view, const struct jetwatt_top_series *s, int cells,
		      int y, int x, int rows);

/* Draw on the ncurses screen, at its present size. */
void jetwatt_top_draw(const struct jetwatt_top *t, const struct jetwatt_session *w,
		      const struct jetwatt_top_view *view);

/*
 * Print the samples of a running session as lines of tegrastats to @f, each one a mean over
 * @interval_s, until a signal, a failed write or an error of @w. Return: 0, exit code.
 */
int jetwatt_top_tegrastats(struct jetwatt_session *w, double interval_s, FILE *f);

#endif
