// SPDX-License-Identifier: GPL-2.0-only
/* Draws the screen of jetwatt top with ncurses. */
#include "cmd/top/top.h"

#include <math.h>
#include <ncurses.h>
#include <string.h>

#include "out/terminal.h"

#define CHART_ROWS_MAX	10
#define CHART_ROWS_MIN	3
#define BAR		30
#define LABEL		10	/* columns before a line chart */

/* Print telemetry on one line; the first series that does not fit, and all after it, are left out. */
static void draw_telemetry(const struct jetwatt_top *t, int y)
{
	char title[JETWATT_TELEMETRY_NAME_LEN], text[80];
	int x = 0;

	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, NULL);
		int64_t v = t->telemetry.value[s];

		if (v == JETWATT_TELEMETRY_NONE)
			continue;
		snprintf(text, sizeof(text), "%s %.4g%s%s", jetwatt_telemetry_title(s, title),
			 (double)v / row->per, *row->base ? " " : "", row->base);
		if (x + (int)strlen(text) > COLS)
			break;
		mvprintw(y, x, "%s", text);
		x += (int)strlen(text) + 3;
	}
}

static void draw_heading(const struct jetwatt_top *t, const struct jetwatt_session *w,
			 const struct jetwatt_top_view *view)
{
	int over = view->budget_w > 0 && t->total_w > view->budget_w;
	char cpu[16], gpu[16], emc[16];

	attron(A_BOLD);
	mvprintw(0, 0, "%s %.2f W", w->scope && *w->scope ? w->scope : "total", t->total_w);
	attroff(A_BOLD);
	if (view->budget_w > 0) {
		addch(' ');
		jetwatt_top_bar(view, t->total_w / view->budget_w, BAR, over ? JETWATT_TOP_OVER : JETWATT_TOP_BARS);
		printw(" of %g W%s", view->budget_w, over ? ", over budget" : "");
	} else {
		printw("   peak %.2f W", t->peak_w);
	}
	mvprintw(1, 0, "GPU %s   CPU %u on %s   EMC %s", jetwatt_terminal_clock(t->clock.gpu_hz, gpu),
		 t->clock.cores, jetwatt_terminal_clock(t->clock.cpu_khz * 1000ull, cpu),
		 jetwatt_terminal_clock(t->clock.emc_hz, emc));
	printw("   %.0f Hz%s", t->hz, w->lost ? ", samples lost" : "");
	draw_telemetry(t, 2);
}

static int is_in_total(const struct jetwatt_session *w, int r)
{
	for (int i = 0; i < w->nr_total; i++)
		if (w->total[i] == r)
			return 1;
	return 0;
}

static int draw_rails(const struct jetwatt_top *t, const struct jetwatt_session *w,
		      const struct jetwatt_top_view *view, int y, int last)
{
	for (int r = 0; r < w->nr_rails && y <= last; r++) {
		if (!w->rail[r].enabled)
			continue;
		mvprintw(y++, 0, "%c%-17.17s %7.2f W ", is_in_total(w, r) ? ' ' : '(',
			 w->rail[r].label, t->rail_w[r]);
		jetwatt_top_bar(view, t->total_w > 0 ? t->rail_w[r] / t->total_w : 0, BAR, JETWATT_TOP_BARS);
		if (is_in_total(w, r))
			printw(" %3.0f %%", t->total_w > 0 ? 100 * t->rail_w[r] / t->total_w : 0);
		else
			printw(w->rail[r].parent == UINT32_MAX ? " not counted)" : " in another rail)");
	}
	return y;
}

/* Draw the total power over the window as columns, and a tick below each column in which a minibatch
 * ended. @rows: height of the columns, in lines. Return: the number of the next free line. */
static int draw_chart(const struct jetwatt_top *t, const struct jetwatt_top_view *view, int y,
		      int rows)
{
	double full = 0;

	for (int k = 0; k < t->nr_columns; k++)
		full = fmax(full, t->column[k]);
	full = fmax(full, 1e-3);
	for (int row = 0; row < rows; row++) {
		int over = view->budget_w > 0 && full * (rows - row - 1) / rows >= view->budget_w;
		enum jetwatt_top_color color = over ? JETWATT_TOP_OVER : JETWATT_TOP_BARS;

		mvprintw(y + row, 0, "%6.1f W ", full * (rows - row) / rows);
		jetwatt_top_color(view, color, 1);
		for (int k = 0; k < t->nr_columns; k++)
			jetwatt_top_column(view, t->column[k] / full * rows - (rows - 1 - row));
		jetwatt_top_color(view, color, 0);
	}
	mvprintw(y + rows, 0, "%5.0f s  ", t->window_s);
	jetwatt_top_color(view, JETWATT_TOP_TICK, 1);
	for (int k = 0; k < t->nr_columns; k++)
		addch(t->tick[k] > 1 ? '+' : t->tick[k] ? '|' : ' ');
	jetwatt_top_color(view, JETWATT_TOP_TICK, 0);
	return y + rows + 1;
}

static void draw_phase(const struct jetwatt_top_phase *p, int y)
{
	mvprintw(y, 32, "%9.4g %9.4g %8.3g", p->joule, p->ms, p->per_s);
}

static void draw_jobs(const struct jetwatt_top *t, int y, int last)
{
	if (y > last)
		return;
	attron(A_REVERSE);
	mvprintw(y++, 0, "%-8s %-22s %9s %9s %8s %14s", "PID", "JOB", "J/batch", "ms/batch", "batch/s",
		 "W");
	attroff(A_REVERSE);
	for (int i = 0; i < t->nr_jobs && y <= last; i++) {
		const struct jetwatt_top_job *j = &t->job[i];

		mvprintw(y, 0, "%-8u %-22s ", j->pid, j->name);
		if (j->phases == 1)
			draw_phase(&j->phase[0], y);
		mvprintw(y++, 60, " %s%7.2f %3.0f %%", j->shared ? "~" : " ", j->watt,
			 t->total_w > 0 ? 100 * j->watt / t->total_w : 0);
		for (int k = 0; k < j->phases && j->phases > 1 && y <= last; k++) {
			mvprintw(y, 0, "%-8s phase %d", "", k + 1);
			draw_phase(&j->phase[k], y++);
		}
	}
	if (y <= last)
		mvprintw(y++, 0, "%-8s %-22s %29s %7.2f %3.0f %%", "-", "no process on the GPU", "",
			 fmax(t->rest_w, 0),
			 t->total_w > 0 ? 100 * fmax(t->rest_w, 0) / t->total_w : 0);
	for (int i = 0; i < t->nr_units && y <= last; i++, y++) {
		mvprintw(y, 0, "%-8s %-22.22s ", "per", t->unit[i].name);
		if (t->unit[i].cost.ms > 0)
			draw_phase(&t->unit[i].cost, y);
		else
			mvprintw(y, 32, "none counted in %.0f s", t->window_s);
	}
}

/* Return: number of lines that the jobs need, without their heading and the line of the power that
 * is attributed to no job. */
static int job_lines(const struct jetwatt_top *t)
{
	int n = t->nr_jobs;

	for (int i = 0; i < t->nr_jobs; i++)
		n += t->job[i].phases > 1 ? t->job[i].phases : 0;
	return n;
}

/* Draw the second page on the lines @y to @last. */
static void draw_history(const struct jetwatt_top *t, const struct jetwatt_top_view *view, int y, int last)
{
	int room = t->nr_series ? (last - y + 1) / t->nr_series - 1 : 0;
	int rows = room > JETWATT_TOP_ROWS ? JETWATT_TOP_ROWS : room < 1 ? 1 : room;

	for (int i = 0; i < t->nr_series && y + rows <= last; i++) {
		const struct jetwatt_top_series *s = &t->series[i];

		mvprintw(y, 0, "%-*s ", LABEL - 1, s->title);
		attron(A_BOLD);
		printw("%.5g %s", s->now, s->unit);
		attroff(A_BOLD);
		if (s->most > s->least)
			printw("   %.5g to %.5g in %.0f s", s->least, s->most, t->window_s);
		else
			printw("   unchanged in %.0f s", t->window_s);
		jetwatt_top_color(view, JETWATT_TOP_LINES, 1);
		jetwatt_top_line(view, s, t->nr_columns, y + 1, LABEL, rows);
		jetwatt_top_color(view, JETWATT_TOP_LINES, 0);
		y += rows + 1;
	}
	if (!t->nr_series)
		mvaddstr(y, 0, "this board reports no clock and no temperature");
}

static void draw_help(int y)
{
	static const char * const keys[][2] = {
		{ "q", "quit" },
		{ "h ?", "this page, and back" },
		{ "tab", "power and jobs, or clocks and temperatures over time" },
		{ "s", "sort the jobs by the next column: W, J/batch, ms/batch, PID" },
		{ "+ -", "double or halve the window, over which the powers are means" },
		{ "space", "pause or continue the replay of a trace" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		mvprintw(y++, 0, "%-8s%s", keys[i][0], keys[i][1]);
	mvaddstr(++y, 0, "(RAIL    not part of the total: supplied by another rail, or not counted");
	mvaddstr(++y, 0, "|        a minibatch ended in this column of the chart; + several");
	mvaddstr(++y, 0, "~ W      estimate: another process used the GPU at the same time");
	mvaddstr(++y, 0, "per      J and ms per unit that a program counts, and units per second (--per)");
}

static void draw_power(const struct jetwatt_top *t, const struct jetwatt_session *w,
		       const struct jetwatt_top_view *view)
{
	int lines = job_lines(t) + 1 + t->nr_units, rows = LINES - 8 - w->nr_rails - (lines > 2 ? lines : 2), y;

	rows = rows > CHART_ROWS_MAX ? CHART_ROWS_MAX : rows;
	y = draw_rails(t, w, view, 3, LINES - 2);
	if (rows >= CHART_ROWS_MIN)
		y = draw_chart(t, view, y + 1, rows);
	draw_jobs(t, y + (rows >= CHART_ROWS_MIN), LINES - 2);
}

void jetwatt_top_draw(const struct jetwatt_top *t, const struct jetwatt_session *w,
		      const struct jetwatt_top_view *view)
{
	static const char * const order[] = { "W", "J/batch", "ms/batch", "PID" };

	erase();
	draw_heading(t, w, view);
	if (view->page == JETWATT_TOP_HISTORY)
		draw_history(t, view, 3, LINES - 2);
	else if (view->page == JETWATT_TOP_HELP)
		draw_help(4);
	else
		draw_power(t, w, view);
	mvprintw(LINES - 1, 0, "q quit  h help  tab page  s sort: %s%s%s", order[view->order],
		 *view->title ? "  space pause  " : "", view->title);
	if (view->over || view->paused)
		printw("  (%s)", view->over ? "end" : "paused");
	refresh();
}
