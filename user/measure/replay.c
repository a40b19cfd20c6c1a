// SPDX-License-Identifier: GPL-2.0-only
/* Reads a trace into a session, as if the job were running. */
#include "measure/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/unit_record.h"
#include "out/terminal.h"
#include "util/error.h"

/* Maximum time for which the join waits for samples or waits, ms: as when the trace was made. */
#define HOLD_MS	1000

static void set_mark_name(struct jetwatt_probe_state *st, const char *nr, const char *name)
{
	unsigned long i = strtoul(nr, NULL, 10);

	if (i >= JETWATT_MARKS_MAX)
		return;
	jetwatt_terminal_plain(name, st->mark[i], sizeof(st->mark[i]));
	if (st->marks <= i)
		st->marks = i + 1;
}

static void on_text(const char *key, const char *text, void *arg)
{
	struct jetwatt_replay *r = arg;
	const struct {
		const char *key;
		char *to;
		size_t size;
	} known[] = {
		{ "board", r->board, sizeof(r->board) },
		{ "kernel", r->kernel, sizeof(r->kernel) },
		{ "version", r->version, sizeof(r->version) },
		{ "command", r->command, sizeof(r->command) },
	}, plain[] = {
		{ "scope", r->scope, sizeof(r->scope) },
		{ "library", r->session.trace_state.library,
		  sizeof(r->session.trace_state.library) },
	};

	if (!strcmp(key, "rungs"))
		r->session.trace_state.attached = strtoul(text, NULL, 10);
	else if (!strncmp(key, "mark.", 5))
		set_mark_name(&r->session.trace_state, key + 5, text);
	else
		jetwatt_unit_record_text(&r->units, key, text);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(key, known[i].key))
			snprintf(known[i].to, known[i].size, "%s", text);
	/* The texts of these members are in tables and messages. The trace may come from another machine,
	 * so they must not control the terminal. */
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(key, plain[i].key))
			jetwatt_terminal_plain(text, plain[i].to, plain[i].size);
}

static int find_rail(const struct jetwatt_session *w, uint32_t id)
{
	int i = 0;

	while (i < w->nr_rails && w->rail[i].id != id)
		i++;
	return i;
}

/* A trace repeats the descriptions of its rails, with rates that may have changed; the first
 * descriptions determine the order of the rails. */
static void on_rail(const struct jetwatt_rail *rail, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_session *w = &r->session;
	int i = find_rail(w, rail->id);

	if (i == w->nr_rails) {
		if (i == JETWATT_RAILS_MAX || w->join)
			return;
		w->nr_rails++;
		if (rail->in_total)
			w->total[w->nr_total++] = i;
	}
	w->rail[i] = *rail;
	jetwatt_terminal_plain(rail->label, w->rail[i].label, sizeof(w->rail[i].label));
}

static void on_chip(const struct jetwatt_chip *chip, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_session *w = &r->session;
	int i = 0;

	while (i < w->nr_chips && w->chip[i].id != chip->id)
		i++;
	if (i == JETWATT_RAILS_MAX)
		return;
	w->chip[i] = *chip;
	w->nr_chips += i == w->nr_chips;
}

static void on_clocks(const struct jetwatt_trace_clocks *clocks, void *arg)
{
	struct jetwatt_replay *r = arg;

	if (!r->clocks.monotonic_ns)
		r->clocks = *clocks;
}

static void on_job(const struct jetwatt_trace_job *job, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_session *w = &r->session;

	w->pid = job->pid;
	if (r->job)
		return;
	r->job = 1;
	w->begun_ns = job->begun_ns;
	/* Samples before the start of the job do not belong to its run. */
	w->samples = w->lost = 0;
}

static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_session *w = &r->session;

	if (!w->join) {
		if (!w->nr_total || jetwatt_join_new_rails(&w->join, w->rail, w->nr_rails, HOLD_MS))
			return;
		jetwatt_session_join(w);
		if (r->early.time_ns)
			jetwatt_session_reading(&r->early, w);
	}
	jetwatt_session_samples(s, w);
}

static void on_reading(const struct jetwatt_reading *reading, void *arg)
{
	struct jetwatt_replay *r = arg;

	if (!r->session.join)
		r->early = *reading;
	else
		jetwatt_session_reading(reading, &r->session);
}

static void on_counts(const struct jetwatt_trace_counts *c, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_unit_reading one;

	if (r->on_counts)
		r->on_counts(c, r->session.arg);
	if (!jetwatt_unit_record_reading(&r->units, c, &one))
		return;
	if (!r->work)
		r->work = jetwatt_work_units_replay(&r->units, *r->command != 0);
	if (r->work)
		jetwatt_work_units_add(r->work, &one);
	else
		r->session.out_of_memory = 1;
}

static void on_sync(const struct jetwatt_sync *s, void *arg)
{
	struct jetwatt_replay *r = arg;

	if (s->call < JETWATT_SYNC_CALLS)
		r->session.trace_state.seen[s->call]++;
	r->session.trace_state.launches += s->launches;
	if (r->session.join)
		jetwatt_session_wait(s, &r->session);
}

static void on_event(const struct jetwatt_event *e, void *arg)
{
	struct jetwatt_replay *r = arg;

	if (r->nr_events < JETWATT_REPLAY_EVENTS)
		r->event[r->nr_events] = *e;
	r->nr_events++;
}

static void on_end(const struct jetwatt_trace_end *end, void *arg)
{
	struct jetwatt_replay *r = arg;
	struct jetwatt_session *w = &r->session;

	r->end = *end;
	w->ended = 1;
	w->ended_ns = end->ended_ns;
	w->missed = end->missed;
}

static const struct jetwatt_trace_calls calls = {
	.samples = on_samples, .sync = on_sync, .event = on_event, .text = on_text,
	.chip = on_chip, .rail = on_rail, .clocks = on_clocks, .job = on_job, .end = on_end,
};

static int read_failed(const struct jetwatt_replay *r, int err)
{
	if (err == -EPROTO)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "a newer version wrote it",
					 "update jetwatt", "cannot read %s", r->path);
	return jetwatt_error_report(err == -EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
				 strerror(-err), err == -EACCES ?
				 "a trace belongs to the user who recorded it: run as root, or chown it" : NULL,
				 "cannot read %s", r->path);
}

/* A recorder that was late has written the waits of some seconds before the samples, or the other way
 * round. */
int jetwatt_replay_step(struct jetwatt_replay *r)
{
	struct jetwatt_session *w = &r->session;
	int n;

	if (w->join)
		jetwatt_join_pause(w->join, 1);
	n = jetwatt_trace_read(r->reader);
	if (w->join)
		jetwatt_join_pause(w->join, 0);
	jetwatt_trace_state(r->reader, &r->state);
	r->session.waits_lost = r->state.waits_lost + r->state.waits_missing;
	if (n < 0)
		return -read_failed(r, n);
	if (r->session.out_of_memory)
		return -jetwatt_session_error(&r->session);
	return n;
}

int jetwatt_replay_open(struct jetwatt_replay *r, const char *path)
{
	struct jetwatt_session *w = &r->session;
	int n;

	memset(r, 0, sizeof(*r));
	jetwatt_session_init(w);
	w->scope = r->scope;
	r->end.status = -1;
	r->path = strcmp(path, "-") ? path : "standard input";
	r->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (r->fd < 0)
		return read_failed(r, -errno);
	if (jetwatt_trace_reader_new(&r->reader, r->fd, &calls, r))
		return read_failed(r, -ENOMEM);
	jetwatt_trace_reader_reading(r->reader, on_reading);
	jetwatt_trace_reader_counts(r->reader, on_counts);
	do
		n = jetwatt_replay_step(r);
	while (n > 0 && !w->nr_total);
	if (n < 0)
		return -n;
	if (!r->state.blocks)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, r->state.skipped + r->state.tail ?
					 "it contains no block of a trace" : "it is empty",
					 "jetwatt record -o FILE writes traces", "%s is not a trace", r->path);
	if (!w->nr_total)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "the description of the run is missing",
					 "record it again", "cannot determine the rails of %s", r->path);
	return 0;
}

int jetwatt_replay_reads(const struct jetwatt_replay *r, const char *path)
{
	struct stat from, to;

	return !stat(path, &to) && S_ISREG(to.st_mode) && !fstat(r->fd, &from) &&
	       from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

int jetwatt_replay_no_sample(const struct jetwatt_replay *r)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, r->state.ended ?
				 "it ends before the first sample" : "it has no sample yet, or is cut off",
				 "let jetwatt record run for some seconds", "no power is recorded in %s", r->path);
}

void jetwatt_replay_finish(struct jetwatt_replay *r)
{
	struct jetwatt_session *w = &r->session;
	const struct jetwatt_trace_state *s = &r->state;

	if (w->join)
		jetwatt_join_flush(w->join);
	if (s->damaged || s->missing || s->skipped)
		jetwatt_notice("%s: %" PRIu64 " blocks are damaged, %" PRIu64 " missing, %" PRIu64
				   " bytes were skipped", r->path, s->damaged, s->missing, s->skipped);
	if (!s->ended)
		jetwatt_notice("%s was not closed: it ends with its last complete block%s", r->path,
				   s->tail ? "; an incomplete block after it is ignored" : "");
	if (w->failed_rail >= 0)
		jetwatt_notice("%s: rail %s stopped answering", r->path,
			       w->rail[w->failed_rail].label);
	if (!w->ended) {
		w->ended = 1;
		w->ended_ns = w->power_ns;
	}
}

/* Process the readings of counters, from the first one on. */
static void run_units(struct jetwatt_replay *r, struct jetwatt_run_energy *m)
{
	if (!r->counted)
		jetwatt_work_units_start(r->work, m);
	r->counted = 1;
	jetwatt_work_units_run(r->work);
}

/* Begin the run at the start of the job, or at the first sample if there is none from before: samples
 * at the start of the trace may be missing, or not contain every rail. */
static void begin_run(struct jetwatt_replay *r, struct jetwatt_run_energy *m)
{
	struct jetwatt_session *w = &r->session;

	if (!r->job || w->power[0].time_ns > w->begun_ns)
		w->begun_ns = w->power[0].time_ns;
	jetwatt_run_energy_begin(m, w);
}

int jetwatt_replay_run(struct jetwatt_replay *r, struct jetwatt_run_energy *m)
{
	struct jetwatt_session *w = &r->session;
	int begun = 0, n;

	memset(m, 0, sizeof(*m));
	do {
		if (!begun && r->job && w->nr_power) {
			begin_run(r, m);
			begun = 1;
		}
		if (begun && r->work)
			run_units(r, m);
		if (begun)
			jetwatt_run_energy_run(m);
		n = jetwatt_replay_step(r);
	} while (n > 0);
	if (n < 0)
		return -n;
	jetwatt_replay_finish(r);
	if (!w->nr_power)
		return jetwatt_replay_no_sample(r);
	if (!begun)
		begin_run(r, m);
	if (r->work) {
		run_units(r, m);
		jetwatt_work_units_end(r->work, w->ended_ns);
	}
	n = jetwatt_run_energy_end(m, w->ended_ns);
	return !n ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-n), NULL,
					  "cannot compute the energy of %s", r->path);
}

int jetwatt_replay_units(const struct jetwatt_replay *r, struct jetwatt_work_unit *unit)
{
	return r->work ? jetwatt_work_units_results(r->work, unit) : 0;
}

void jetwatt_replay_close(struct jetwatt_replay *r)
{
	jetwatt_work_units_free(r->work);
	jetwatt_trace_reader_free(r->reader);
	jetwatt_session_close(&r->session);
	if (r->fd > STDERR_FILENO)
		close(r->fd);
}
