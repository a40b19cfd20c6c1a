// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt record: write all power samples and waits of a job into a trace file (.jwt), or the
 * contents of the module's black box around a trigger event. The measurement is a session of
 * measure/session.h; the file is written by libjetwatt's trace writer.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/run_figures.h"
#include "cmd/verbs.h"
#include "measure/blackbox.h"
#include "measure/connect.h"
#include "measure/replay.h"
#include "measure/sensor_options.h"
#include "measure/unit_record.h"
#include "measure/wait_job.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/outfile.h"

#ifndef JETWATT_VERSION
#define JETWATT_VERSION "unknown"
#endif

enum { RATE = JETWATT_ARGS_LONG, JSON, FOR, TRIGGER, PRE, POST, PER };

struct record_input {
	struct jetwatt_args args;
	struct jetwatt_sensors_args sensors;
	struct jetwatt_args_job job;
	struct jetwatt_units units;
	const char *out;
	double for_s, rate_hz, pre_s, post_s;
	enum jetwatt_blackbox_trigger trigger;
	int json, around;	/* around: --pre or --post is given */
};

/**
 * struct record - a trace being written
 * @session: the measurement session
 * @writer: the trace writer, on @fd
 * @counters: reads the counters of work units; NULL: there are none
 * @path: name of the file, NULL: standard output
 * @file: the file, until jetwatt_outfile_put() under another name; not open: standard output
 * @fd: its descriptor
 */
struct record {
	struct jetwatt_session session;
	struct jetwatt_trace_writer *writer;
	struct jetwatt_unit_reader *counters;
	const char *path;
	struct jetwatt_outfile file;
	int fd;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write the trace to FILE; -: standard output", 0 },
	{ "pid", 'p', "PID", 0, "Record this running process and its children, until it ends or SIGINT", 0 },
	{ "for", FOR, "SECONDS", 0, "With -p: stop after this time", 0 },
	{ "rate", RATE, "HZ", 0, "Sampling rate; default: the rate set in the module, else the highest possible one", 0 },
	{ "per", PER, "NAME=SOURCE", 0, "Record a counter of the program, for example token=URL#METRIC; see jetwatt-stat(1)", 0 },
	{ "trigger", TRIGGER, "CAUSE", 0,
	  "Record the time before and after an event: oc (over-current), thermal or signal (SIGUSR1)", 0 },
	{ "pre", PRE, "SECONDS", 0, "With --trigger: seconds before the event; default: 10", 0 },
	{ "post", POST, "SECONDS", 0, "With --trigger: seconds after the event; default: 10", 0 },
	{ "json", JSON, NULL, 0, "Print the statistics at the end as JSON", 0 },
	{ 0 }
};

static error_t record_parse(int key, char *arg, struct argp_state *state)
{
	struct record_input *in = state->input;

	switch (key) {
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case FOR:
		in->for_s = jetwatt_args_quantity("--for", arg, "s", 0.1, 1e7);
		break;
	case RATE:
		in->rate_hz = jetwatt_args_quantity("--rate", arg, "Hz", 1, 1e6);
		break;
	case PER:
		jetwatt_units_option(&in->units, arg);
		break;
	case TRIGGER:
		in->trigger = jetwatt_blackbox_parse(arg);
		if (in->trigger == JETWATT_BLACKBOX_NONE)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "known triggers are oc, thermal and signal",
					       "--trigger: unknown trigger %s", arg));
		break;
	case PRE:
		in->pre_s = jetwatt_args_quantity("--pre", arg, "s", 0.1, 3600);
		in->around = 1;
		break;
	case POST:
		in->post_s = jetwatt_args_quantity("--post", arg, "s", 0, 3600);
		in->around = 1;
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		jetwatt_args_command(&in->job, state);
		break;
	case ARGP_KEY_END:
		jetwatt_args_one_job(&in->job, !in->trigger);
		if (in->trigger && in->job.argv)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "start the command first, then run jetwatt record --trigger CAUSE -p PID",
					       "--trigger cannot be combined with a command"));
		if (in->trigger && in->units.nr)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "record the whole run: omit --trigger",
					       "--per cannot be combined with --trigger"));
		if (in->trigger && in->for_s > 0)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE,
					       "with --trigger, the recording ends after one event",
					       "leave out --for; --post SECONDS sets the time after the event",
					       "--for cannot be combined with --trigger"));
		if (in->around && !in->trigger)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "--trigger CAUSE names the event; --for SECONDS ends a recording",
					       "--pre and --post need --trigger"));
		if (!in->out)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "-o FILE",
					       "no output file is given"));
		if (in->for_s > 0 && in->job.argv)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt record -- COMMAND records until the command ends",
					       "--for needs a running job (-p)"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Join the arguments into one line of at most @len - 1 characters. */
static void join_arguments(char **argv, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (int i = 0; argv && argv[i] && at < len; i++)
		at += snprintf(buf + at, len - at, "%s%s", i ? " " : "", argv[i]);
}

static int write_rails(struct record *rec, const struct jetwatt_board *board)
{
	const struct jetwatt_session *w = &rec->session;
	struct jetwatt_rail now[JETWATT_RAILS_MAX];
	int n = jetwatt_rails(w->jw, now, JETWATT_RAILS_MAX), err = 0;

	for (int r = 0; r < w->nr_rails && !err; r++) {
		struct jetwatt_rail rail = r < n ? now[r] : w->rail[r];
		const char *parent = jetwatt_board_parent(board, w->rail[r].label);

		/* Recompute in_total and parent from the board's table; the module's table may be
		 * older. */
		rail.in_total = 0;
		rail.parent = UINT32_MAX;
		for (int i = 0; i < w->nr_total; i++)
			rail.in_total |= w->total[i] == r;
		for (int i = 0; parent && i < w->nr_rails; i++)
			if (!strcmp(w->rail[i].label, parent))
				rail.parent = w->rail[i].id;
		err = jetwatt_trace_write_rail(rec->writer, &rail);
	}
	return err;
}

/* Write the facts that are needed to read the trace without this board: board, kernel, version,
 * command, scope of the total, counters of work units, chips and rails. */
static int write_description(struct record *rec, const struct record_input *in,
			     const struct jetwatt_board *board)
{
	struct jetwatt_chip chip[JETWATT_RAILS_MAX];
	char line[JETWATT_TRACE_TEXT_LEN];
	struct utsname u;
	int n, err;

	uname(&u);
	join_arguments(in->job.argv, line, sizeof(line));
	err = jetwatt_trace_write_text(rec->writer, "board", jetwatt_board_name(board));
	if (!err)
		err = jetwatt_trace_write_text(rec->writer, "kernel", u.release);
	if (!err)
		err = jetwatt_trace_write_text(rec->writer, "version", JETWATT_VERSION);
	if (!err)
		err = jetwatt_trace_write_text(rec->writer, "command", line);
	if (!err)
		err = jetwatt_trace_write_text(rec->writer, "scope", rec->session.scope);
	if (!err)
		err = jetwatt_unit_record_describe(&in->units, rec->writer);
	n = jetwatt_chips(rec->session.jw, chip, JETWATT_RAILS_MAX);
	for (int i = 0; i < n && i < JETWATT_RAILS_MAX && !err; i++)
		err = jetwatt_trace_write_chip(rec->writer, &chip[i]);
	return err ? err : write_rails(rec, board);
}

static int record_unwritable(const struct record *rec, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), err == -ENOSPC ?
				 "free some space, or record to another disk; what was written so far can be read" :
				 "name a file that can be written with -o",
				 "cannot write %s", rec->path ? rec->path : "standard output");
}

/* Called several times per second. The writer has stored samples and waits, so the session's own
 * copies are dropped. */
static void record_poll(void *arg)
{
	struct record *rec = arg;
	struct jetwatt_session *w = &rec->session;
	int err;

	if (rec->counters)
		jetwatt_unit_record_write(rec->counters, rec->writer);
	err = jetwatt_trace_flush(rec->writer, jetwatt_session_waits_lost(w), 0);
	jetwatt_session_discard(w, w->power_ns);
	w->nr_sync = w->nr_mark = 0;
	if (!err || w->why)
		return;
	w->why = record_unwritable(rec, err);
	w->failed = 1;
}

/* Write which backends were attached, the CUDA library and the names of marks. They are known only
 * at the end of the run. */
static void write_probe(struct record *rec)
{
	struct jetwatt_probe_state st;
	char key[16], text[16];

	if (!rec->session.probe)
		return;
	jetwatt_probe_state(rec->session.probe, &st);
	snprintf(text, sizeof(text), "%u", st.attached);
	jetwatt_trace_write_text(rec->writer, "rungs", text);
	if (*st.library)
		jetwatt_trace_write_text(rec->writer, "library", st.library);
	for (uint32_t i = 0; i < st.marks && i < JETWATT_MARKS_MAX; i++) {
		snprintf(key, sizeof(key), "mark.%u", i);
		jetwatt_trace_write_text(rec->writer, key, st.mark[i]);
	}
}

/* Complete the trace after the run, even if the run has failed. Return: 0, or an exit code after
 * printing the error. */
static int close_trace(struct record *rec, const struct jetwatt_board *board)
{
	struct jetwatt_session *w = &rec->session;
	struct jetwatt_trace_end end = { w->ended ? w->ended_ns : jetwatt_clock_ns(), 0, 0, -1 };
	int err;

	if (!w->failed)
		jetwatt_session_finish(w, JETWATT_SESSION_LATER_NS);
	end.waits_lost = jetwatt_session_waits_lost(w);
	end.missed = jetwatt_session_missed(w);
	if (w->child.gone)
		end.status = w->child.status;
	/* Write the rails again, now with the sampling rates that the run has reached. */
	write_rails(rec, board);
	write_probe(rec);
	err = jetwatt_trace_finish(rec->writer, &end);
	return err && !w->why ? record_unwritable(rec, err) : 0;
}

/* Read the trace that was just written, if it is a regular file given with -o: print the summary of
 * jetwatt stat, and report counters of --per without readings. */
static int print_summary(const struct record *rec, const struct record_input *in)
{
	struct jetwatt_replay replay;
	struct jetwatt_run_energy m;
	struct stat st;
	int err, print = !in->args.quiet || in->json;

	if (!rec->path || (!print && !in->units.nr) || fstat(rec->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	err = jetwatt_replay_open(&replay, rec->path);
	memset(&m, 0, sizeof(m));
	if (!err)
		err = jetwatt_replay_run(&replay, &m);
	if (!err && print)
		err = jetwatt_run_figures(&replay, &m, in->json, &in->args);
	if (!err && replay.work)
		err = jetwatt_work_units_check(replay.work);
	jetwatt_run_energy_free(&m);
	jetwatt_replay_close(&replay);
	return err;
}

/* Replace an existing file by the trace, now that the job runs or the black box is watched: other
 * programs can read the trace while it is written. Return: 0; exit code after printing the error. */
static int put_trace(struct record *rec)
{
	int err = jetwatt_outfile_put(&rec->file);

	return err ? record_unwritable(rec, err) : 0;
}

/* Wait for the trigger, write the samples of the module's black box and of the in->post_s seconds after
 * the trigger, and print the summary. */
static int record_blackbox(const struct record_input *in, struct record *rec)
{
	struct jetwatt_session *w = &rec->session;
	struct jetwatt_probe_opts everybody = { 0 };
	int err = in->job.pid ? jetwatt_session_job(w, &in->job) : 0;

	if (!in->job.pid && jetwatt_probe_open(&w->probe, &everybody, jetwatt_session_wait, w))
		jetwatt_notice("recording power only, no waits of jobs: %s",
				   jetwatt_probe_error());
	else if (!in->job.pid && jetwatt_session_add(w, jetwatt_probe_fd(w->probe)))
		return JETWATT_EXIT_FAILED;
	if (!err)
		err = put_trace(rec);
	if (!err)
		err = jetwatt_blackbox_record(w, rec->writer, in->trigger, in->pre_s, in->post_s);
	return err ? err : print_summary(rec, in);
}

static int start_counters(struct record *rec, struct jetwatt_units *units)
{
	int err;

	rec->counters = calloc(1, sizeof(*rec->counters));
	err = rec->counters ? jetwatt_unit_reader_start(rec->counters, units) : -ENOMEM;
	return !err ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					       "--per: cannot read the counters");
}

static int record_run(struct record_input *in, struct record *rec,
		      const struct jetwatt_board *board)
{
	struct jetwatt_session *w = &rec->session;
	struct jetwatt_trace_job job;
	int err = write_description(rec, in, board), late;

	/* Write to the file before the job starts, so that a full disk is found early. */
	if (!err)
		err = jetwatt_trace_flush(rec->writer, 0, 1);
	if (err)
		return record_unwritable(rec, err);
	if (in->trigger)
		return record_blackbox(in, rec);
	w->recorder = rec->writer;
	jetwatt_events(w->jw, jetwatt_trace_write_event, rec->writer);
	err = jetwatt_session_job(w, &in->job) ?: put_trace(rec);
	if (err)
		return err;
	job = (struct jetwatt_trace_job){ w->begun_ns, w->pid };
	jetwatt_trace_write_job(rec->writer, &job);
	if (in->units.nr)
		err = start_counters(rec, &in->units);
	if (!err)
		err = jetwatt_wait_job(w, in->for_s, record_poll, rec);
	if (!err && rec->counters) {
		jetwatt_unit_record_last(rec->counters, w);
		jetwatt_unit_record_write(rec->counters, rec->writer);
	}
	late = close_trace(rec, board);
	w->recorder = NULL;
	if (!err)
		err = late ? late : print_summary(rec, in);
	return err ? err : jetwatt_wait_job_exit(w);
}

int jetwatt_cmd_record(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_sensors_argp, offsetof(struct record_input, sensors) }, { NULL, 0 },
	};
	struct record_input in = { .pre_s = 10, .post_s = 10 };
	struct record rec = { .fd = STDOUT_FILENO };
	struct jetwatt_board *board = NULL;
	int err, late;

	jetwatt_args_parse_with("record",
				"-o FILE -p PID\n-o FILE -- COMMAND [ARGUMENT...]\n-o FILE --trigger CAUSE",
				"Record all samples and waits of a job in a trace (.jwt).\v"
				"With a command, record returns the exit status of the command. jetwatt "
				"report, export, compare and top read the trace, also while it is being "
				"written.", options, record_parse, group, argc, argv, &in);
	err = jetwatt_open_board(&board);
	if (err)
		return err;
	jetwatt_session_init(&rec.session);
	err = jetwatt_units_resolve(&in.units);
	if (!err)
		err = jetwatt_sensors_apply(&in.sensors, board);
	if (!err)
		err = jetwatt_session_open(&rec.session, board, in.rate_hz);
	if (err)
		goto out;
	/* A new file has mode 0600: a power trace can reveal what was computed, so other users must
	 * not read it. */
	if (strcmp(in.out, "-")) {
		rec.path = in.out;
		err = jetwatt_outfile_open(&rec.file, in.out, 0600);
		rec.fd = err ? -1 : fileno(rec.file.f);
	}
	if (!err)
		err = jetwatt_trace_writer_new(&rec.writer, rec.fd);
	err = err ? record_unwritable(&rec, err) : record_run(&in, &rec, board);
out:
	jetwatt_session_end_command(&rec.session);
	jetwatt_session_close(&rec.session);
	late = jetwatt_sensors_restore(&in.sensors, board);
	err = err ? err : late;
	if (rec.counters)
		jetwatt_unit_reader_free(rec.counters);
	free(rec.counters);
	jetwatt_units_forget(&in.units);
	jetwatt_trace_writer_free(rec.writer);
	jetwatt_outfile_end(&rec.file, err);
	jetwatt_board_close(board);
	return err;
}
