// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt top: the main loop. The loop reads a board or replays a trace, handles keys, and redraws
 * the screen about ten times per second.
 */
#include "cmd/top/top.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "measure/connect.h"
#include "measure/replay.h"
#include "measure/unit_reader.h"
#include "measure/unit_record.h"
#include "out/terminal.h"
#include "util/clock.h"
#include "util/error.h"

#define POLL_MS		100
#define WINDOW_S	4
#define LABEL_COLUMNS	10

enum { BUDGET = JETWATT_ARGS_LONG, RATE, REPLAY, SPEED, TEGRASTATS, INTERVAL, PER };

struct top_input {
	struct jetwatt_args args;
	const char *replay;
	double budget_w, rate_hz, speed, interval_ms;
	int tegrastats;
	struct jetwatt_units units;
};

static const struct argp_option options[] = {
	{ "budget", BUDGET, "WATTS", 0, "Show the total power relative to this budget", 0 },
	{ "rate", RATE, "HZ", 0, "Sampling rate; default: the rate set in the module, else the highest possible one", 0 },
	{ "per", PER, "NAME=SOURCE", 0, "Show energy and time per unit of a counter of a program, for example token=URL#METRIC; see jetwatt-stat(1)", 0 },
	{ "replay", REPLAY, "TRACE", 0, "Show a recorded run instead of this board", 0 },
	{ "speed", SPEED, "FACTOR", 0, "Speed of the replay relative to the recording; default: 1", 0 },
	{ "tegrastats", TEGRASTATS, NULL, 0, "Print lines as tegrastats does to standard output, until SIGINT or SIGTERM", 0 },
	{ "interval", INTERVAL, "MS", 0, "With --tegrastats: time between two lines; default: 1000", 0 },
	{ 0 }
};

static error_t top_parse(int key, char *arg, struct argp_state *state)
{
	struct top_input *in = state->input;

	switch (key) {
	case BUDGET:
		in->budget_w = jetwatt_args_quantity("--budget", arg, "W", 0.1, 1e4);
		break;
	case RATE:
		in->rate_hz = jetwatt_args_quantity("--rate", arg, "Hz", 1, 1e6);
		break;
	case REPLAY:
		in->replay = arg;
		break;
	case SPEED:
		in->speed = jetwatt_args_quantity("--speed", arg, "", 0.01, 1e6);
		break;
	case TEGRASTATS:
		in->tegrastats = 1;
		break;
	case INTERVAL:
		in->interval_ms = jetwatt_args_quantity("--interval", arg, "ms", 10, 3.6e6);
		break;
	case PER:
		jetwatt_units_option(&in->units, arg);
		break;
	case ARGP_KEY_END:
		if (in->units.nr && (in->replay || in->tegrastats))
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, in->replay ?
					       "a replay shows the counters that the trace contains" : NULL, NULL,
					       "--per cannot be combined with --replay or --tegrastats"));
		if (in->tegrastats && in->replay)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt export --format tegrastats TRACE",
					       "--tegrastats cannot be combined with --replay"));
		if (in->interval_ms > 0 && !in->tegrastats)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "jetwatt top --tegrastats --interval MS",
					       "--interval needs --tegrastats"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Source of the data on the screen: a board or a trace. @units, @counters: counters of work units;
 * @reader: reads those of a running program. */
struct source {
	struct jetwatt_session live, *session;
	struct jetwatt_replay replay;
	struct jetwatt_units *units;
	struct jetwatt_unit_reader reader;
	struct jetwatt_top_counters counters;
	struct jetwatt_board *board;
	double speed, behind_s;
	int over;
};

/* Names of processes: from /proc for the board; for a trace only the job's name is known, because
 * the trace may come from another machine. */
static void live_name(uint32_t pid, char *buf, size_t len, void *arg)
{
	char path[32], comm[24];
	FILE *f;

	(void)arg;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		jetwatt_terminal_plain(comm, buf, len);
	}
	if (f)
		fclose(f);
}

static void traced_name(uint32_t pid, char *buf, size_t len, void *arg)
{
	const struct jetwatt_replay *r = arg;

	if ((pid_t)pid == r->session.pid)
		jetwatt_terminal_plain(r->command, buf, len);
}

static int open_live(struct source *s, const struct top_input *in)
{
	struct jetwatt_probe_opts everybody = { 0 };
	int err = jetwatt_open_board(&s->board);

	if (!err)
		err = jetwatt_session_open(&s->live, s->board, in->rate_hz);
	s->session = &s->live;
	if (err || in->tegrastats)
		return err;
	err = jetwatt_probe_open(&s->live.probe, &everybody, jetwatt_session_wait, &s->live);
	/* If no probe is available, show all but the jobs. */
	if (err)
		jetwatt_notice("jobs are not shown: %s", jetwatt_probe_error());
	else if (jetwatt_session_add(&s->live, jetwatt_probe_fd(s->live.probe)))
		return JETWATT_EXIT_FAILED;
	s->live.begun_ns = jetwatt_clock_ns();
	return 0;
}

/* Store a reading of the counters in a trace. */
static void on_counts(const struct jetwatt_trace_counts *c, void *arg)
{
	struct source *s = arg;
	struct jetwatt_unit_reading one;

	if (jetwatt_unit_record_reading(s->units, c, &one))
		jetwatt_top_count(&s->counters, s->units, &one);
}

static int open_replay(struct source *s, const struct top_input *in)
{
	int err = jetwatt_replay_open(&s->replay, in->replay);

	s->session = &s->replay.session;
	s->session->arg = s;
	s->units = &s->replay.units;
	s->replay.on_counts = on_counts;
	return err;
}

/* Begin to read the counters of --per. Return: exit code. */
static int open_counters(struct source *s, struct top_input *in)
{
	int err = jetwatt_units_resolve(&in->units);

	s->units = &in->units;
	if (err || !in->units.nr)
		return err;
	err = jetwatt_unit_reader_start(&s->reader, s->units);
	return !err ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					       "--per: cannot read the counters");
}

static void store_readings(struct source *s)
{
	struct jetwatt_unit_reading one;
	uint64_t busy;

	while (s->reader.running && jetwatt_unit_reader_next(&s->reader, &one, &busy)) {
		jetwatt_unit_reader_drop(&s->reader);
		jetwatt_top_count(&s->counters, s->units, &one);
	}
}

/* Replay as much of the trace as @ms of real time correspond to at the given speed. Return: 0, exit
 * code. */
static int replay_for(struct source *s, int ms)
{
	struct jetwatt_session *w = s->session;
	uint64_t was = w->power_ns;
	int n = 1;

	s->behind_s += s->speed * ms * 1e-3;
	while (s->behind_s > 0 && !s->over && n > 0) {
		n = jetwatt_replay_step(&s->replay);
		if (n < 0)
			return -n;
		if (!n) {
			s->over = s->replay.state.ended || !ms;
			break;
		}
		/* A step replays a whole block, for example one second, so behind_s may become
		 * negative. */
		s->behind_s -= was && w->power_ns > was ? (w->power_ns - was) * 1e-9 : 0;
		was = w->power_ns;
	}
	if (s->over && w->join)
		jetwatt_join_flush(w->join);
	return 0;
}

static int begin_screen(struct jetwatt_top_view *view)
{
	SCREEN *screen;

	/* Set only the character encoding by the locale; numbers keep the decimal point. */
	setlocale(LC_CTYPE, "");
	view->unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "the terminal type in TERM is unknown here",
					 "export TERM=xterm, or use jetwatt stat",
					 "cannot draw on this terminal");
	set_term(screen);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	view->color = view->color && has_colors();
	if (!view->color)
		return 0;
	start_color();
	use_default_colors();
	init_pair(JETWATT_TOP_OVER, COLOR_RED, -1);
	init_pair(JETWATT_TOP_TICK, COLOR_YELLOW, -1);
	init_pair(JETWATT_TOP_BARS, COLOR_GREEN, -1);
	init_pair(JETWATT_TOP_LINES, COLOR_CYAN, -1);
	return 0;
}

/* Return: 1: quit; 0: continue. */
static int handle_key(int c, double *window_s, struct jetwatt_top_view *view)
{
	switch (c) {
	case 'h':
	case '?':
		view->page = view->page == JETWATT_TOP_HELP ? JETWATT_TOP_POWER : JETWATT_TOP_HELP;
		break;
	case '\t':
		view->page = view->page == JETWATT_TOP_POWER ? JETWATT_TOP_HISTORY : JETWATT_TOP_POWER;
		break;
	case 's':
		view->order = (view->order + 1) % JETWATT_TOP_ORDERS;
		break;
	case 'q':
		return 1;
	case '+':
		*window_s = *window_s < 60 ? 2 * *window_s : *window_s;
		break;
	case '-':
		*window_s = *window_s > 1 ? *window_s / 2 : *window_s;
		break;
	case ' ':
		/* Only a replay can be paused. */
		view->paused = *view->title && !view->paused;
		break;
	}
	return 0;
}

static int top_loop(struct source *s, const struct top_input *in)
{
	struct jetwatt_top_view view = { .budget_w = in->budget_w, .color = in->args.color,
					 .title = in->replay ? in->replay : "" };
	struct jetwatt_session *w = s->session;
	static struct jetwatt_top top;
	double window_s = WINDOW_S;
	int err = begin_screen(&view), c = 0;

	if (err)
		return err;
	while (!err) {
		/* If a trace is shown, wait for a key here; if a board is shown,
		 * jetwatt_session_run() waits. */
		timeout(in->replay ? POLL_MS : 0);
		do {
			c = getch();
		} while (c != ERR && !handle_key(c, &window_s, &view));
		if (c != ERR)
			break;
		if (!in->replay && jetwatt_session_run(w, POLL_MS) && (w->failed || w->stop))
			break;
		if (in->replay && !view.paused)
			err = replay_for(s, POLL_MS);
		view.over = s->over;
		if (!w->nr_power) {
			if (s->over)
				break;
			mvaddstr(0, 0, "waiting for the first sample; q quits");
			continue;
		}
		if (jetwatt_top_gather(&top, w, window_s, COLS - LABEL_COLUMNS,
				       in->replay ? traced_name : live_name, &s->replay))
			continue;
		store_readings(s);
		jetwatt_top_units(&top, w, &s->counters, s->units);
		jetwatt_top_sort(&top, view.order);
		if (view.page == JETWATT_TOP_HISTORY)
			jetwatt_top_history(&top, w);
		jetwatt_top_draw(&top, w, &view);
	}
	endwin();
	if (c != ERR || err)
		return err;
	return in->replay ? jetwatt_replay_no_sample(&s->replay) : jetwatt_session_error(w);
}

int jetwatt_cmd_top(int argc, char **argv)
{
	static struct source s;
	struct top_input in = { .speed = 1 };
	int err;

	jetwatt_args_parse("top", "", "Show rails, clocks and jobs, live or from a trace.\v"
			   "Keys: h shows the keys, q quits, tab shows clocks and temperatures over time.", options,
			   top_parse, argc, argv, &in);
	if (!in.tegrastats && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "standard input or output is not a terminal",
					 "use ssh -t, or in a script jetwatt stat or jetwatt top --tegrastats",
					 "top needs a terminal");
	jetwatt_session_init(&s.live);
	s.replay.fd = -1;
	s.speed = in.speed;
	if (in.replay) {
		err = open_replay(&s, &in);
	} else {
		err = open_live(&s, &in);
		err = err ? err : open_counters(&s, &in);
	}
	if (!err && in.tegrastats)
		err = jetwatt_top_tegrastats(s.session, in.interval_ms > 0 ? in.interval_ms * 1e-3 : 1, stdout);
	else if (!err)
		err = top_loop(&s, &in);
	if (in.replay)
		jetwatt_replay_close(&s.replay);
	if (s.reader.units)
		jetwatt_unit_reader_free(&s.reader);
	jetwatt_units_forget(&in.units);
	jetwatt_session_close(&s.live);
	jetwatt_board_close(s.board);
	return err;
}
