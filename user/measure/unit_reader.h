/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that reads counters of work units once per second, and the queue of its readings. A
 * reading may take a second, and its time must not depend on when the session's loop runs, so the
 * loop does not read the counters itself.
 */
#ifndef JETWATT_MEASURE_UNIT_READER_H
#define JETWATT_MEASURE_UNIT_READER_H

#include <pthread.h>

#include "measure/unit_counter.h"

/* Number of readings in the queue; only a session that has not run for several seconds has more. */
#define JETWATT_UNIT_QUEUE	64

/**
 * struct jetwatt_unit_reader - the thread and its queue
 * @units: what is read
 * @thread: the thread; @running: it was started and has not been joined
 * @buf: buffer of the thread
 * @lock: protects the members below
 * @wake: signalled if @stop changes
 * @stop: 1: the thread reads all sources once more and ends
 * @done: 1: it has done so
 * @busy_ns: begin of the reading in progress; 0: there is none
 * @queue: the oldest reading is @head, and there are @n of them
 */
struct jetwatt_unit_reader {
	struct jetwatt_units *units;
	pthread_t thread;
	int running;
	char *buf;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int stop, done;
	uint64_t busy_ns;
	struct jetwatt_unit_reading queue[JETWATT_UNIT_QUEUE];
	int head, n;
};

/* Start the thread. Its first readings begin at once. Call jetwatt_unit_reader_free() also after an
 * error. Return: 0; a negative errno. */
int jetwatt_unit_reader_start(struct jetwatt_unit_reader *r, struct jetwatt_units *units);

/* Request that the thread reads all sources once more and ends. */
void jetwatt_unit_reader_stop(struct jetwatt_unit_reader *r);
/* Return: 1 if it has done so. */
int jetwatt_unit_reader_done(struct jetwatt_unit_reader *r);

/*
 * Get the oldest reading of the queue, which stays there. @busy_ns: begin of the reading that is in
 * progress; 0: there is none. Readings that begin later have later times. Return: 1; 0: the queue is
 * empty.
 */
int jetwatt_unit_reader_next(struct jetwatt_unit_reader *r, struct jetwatt_unit_reading *next,
			     uint64_t *busy_ns);
/* Remove the oldest reading. */
void jetwatt_unit_reader_drop(struct jetwatt_unit_reader *r);

/* End the thread and free its memory. */
void jetwatt_unit_reader_free(struct jetwatt_unit_reader *r);

#endif
