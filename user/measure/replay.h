/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a trace into a session, so that code for a running job also works for a recorded one.
 */
#ifndef JETWATT_MEASURE_REPLAY_H
#define JETWATT_MEASURE_REPLAY_H

#include "measure/run_energy.h"
#include "measure/session.h"
#include "measure/work_units.h"

#define JETWATT_REPLAY_EVENTS	1024

/**
 * struct jetwatt_replay - a trace that is being read
 * @session: the session, in the state that it had at this point of the recorded run
 * @reader: the trace reader
 * @path: path of the trace, for messages
 * @fd: file descriptor of the trace
 * @board, @kernel, @version, @scope, @command: texts from the trace; "": the trace has none
 * @clocks: the first time in the trace for which the times of three clocks are recorded
 * @end: how the run ended
 * @job: 1: the trace has named the measured process
 * @early: the last reading of sysfs before the first sample
 * @event: the first JETWATT_REPLAY_EVENTS events of the module in the trace
 * @nr_events: number of events in the trace, which may exceed JETWATT_REPLAY_EVENTS
 * @state: state of the reader: damaged and missing blocks
 * @units: the counters of work units in the trace
 * @work: their readings; NULL: none so far; @counted: 1: jetwatt_replay_run() processes them
 * @on_counts: called for each record of counters, with session->arg; may be NULL
 */
struct jetwatt_replay {
	struct jetwatt_session session;
	struct jetwatt_trace_reader *reader;
	const char *path;
	int fd;
	char board[64], kernel[128], version[32], scope[32], command[JETWATT_TRACE_TEXT_LEN];
	struct jetwatt_trace_clocks clocks;
	struct jetwatt_trace_end end;
	int job;
	struct jetwatt_reading early;
	struct jetwatt_event event[JETWATT_REPLAY_EVENTS];
	size_t nr_events;
	struct jetwatt_trace_state state;
	struct jetwatt_units units;
	struct jetwatt_work_units *work;
	int counted;
	jetwatt_trace_counts_fn on_counts;
};

/*
 * Open the trace @path ("-": standard input) and read its description. Prints an error. Return:
 * exit code.
 */
int jetwatt_replay_open(struct jetwatt_replay *r, const char *path);

/* Return: 1 if @path is the file that the trace is read from, so that writing to it would delete the
 * trace; else 0. */
int jetwatt_replay_reads(const struct jetwatt_replay *r, const char *path);

/*
 * Read the next block, about one second. Return: 1 on success; 0: the trace has no further block at
 * present; negative: minus the exit code, after printing an error.
 */
int jetwatt_replay_step(struct jetwatt_replay *r);

/**
 * jetwatt_replay_run() - read the whole trace and compute the energy of the recorded run
 * @r: the trace
 * @m: receives the energy of the run; free it with jetwatt_run_energy_free(), also after an error
 *
 * Damaged or missing parts are reported; the rest is used. Prints an error.
 *
 * Return: exit code.
 */
int jetwatt_replay_run(struct jetwatt_replay *r, struct jetwatt_run_energy *m);

/* Report that the trace has no sample. Return: exit code. */
int jetwatt_replay_no_sample(const struct jetwatt_replay *r);

/* After the last block has been read: deliver the records that the join still holds back, report
 * damaged parts of the trace, and without a recorded end let the run end at its last sample. */
void jetwatt_replay_finish(struct jetwatt_replay *r);

/* After jetwatt_replay_run(): compute the figures per work unit. @unit: JETWATT_UNITS_MAX entries.
 * Return: number of counters that have figures. */
int jetwatt_replay_units(const struct jetwatt_replay *r, struct jetwatt_work_unit *unit);

/* Close the trace and the session. */
void jetwatt_replay_close(struct jetwatt_replay *r);

#endif
