/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as a watch: what reads a job's run need not know that it is over.
 */
#ifndef JETWATT_MEASURE_REPLAY_H
#define JETWATT_MEASURE_REPLAY_H

#include "measure/run_energy.h"
#include "measure/session.h"

#define JETWATT_REPLAY_EVENTS	1024

/**
 * struct jetwatt_replay - a trace being read
 * @watch: as it would be at this point of the run
 * @path: of the trace, for messages
 * @board, @kernel, @version, @command: what the trace says, "" if nothing
 * @clocks: the first triple; @end: as recorded; @job: it has been named
 * @early: the last reading before the first sample
 * @event, @nr_events: of the module; those that find no room are counted too
 * @state: what was damaged or is missing
 */
struct jetwatt_replay {
	struct jetwatt_watch watch;
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
};

/* Open the trace @path ("-": standard input) and read its description. Says what
 * is wrong. Return: exit code. */
int jetwatt_replay_open(struct jetwatt_replay *r, const char *path);

/* Hand on the next second or so. Return: 1; 0: there is no more, for now;
 * negative: the exit code, negated, after saying what is wrong. */
int jetwatt_replay_step(struct jetwatt_replay *r);

/**
 * jetwatt_replay_run() - read all of it and add it up
 * @m: to be freed with jetwatt_meter_free(), whatever is returned
 *
 * What was cut off or damaged is noted, the rest counts. Says what is wrong.
 * Return: exit code.
 */
int jetwatt_replay_run(struct jetwatt_replay *r, struct jetwatt_meter *m);

/* No more will come: deliver what is held back, say what is not whole. */
void jetwatt_replay_finish(struct jetwatt_replay *r);

void jetwatt_replay_close(struct jetwatt_replay *r);

#endif
