/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that reads counters of work units about once per second, and the queue of its readings.
 * A reading may take a second, and its time must not depend on when the session's loop runs, so the
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
 * @units: the counters and their sources
 * @thread: the thread; @running: 1: the thread was started and has not been joined
 * @buf: memory in which the thread stores the text that it reads from a source
 * @lock: protects the members below
 * @wake: signalled if @stop changes
 * @stop: 1: the thread reads all sources once more and ends
 * @done: 1: the thread has read all sources for the last time
 * @busy_ns: begin of the reading in progress; 0: there is none
 * @queue: ring of @n readings; @head: index of the oldest reading
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

/* Initialise a reader without a thread, whose readings jetwatt_unit_reader_put() adds. */
void jetwatt_unit_reader_init(struct jetwatt_unit_reader *r, struct jetwatt_units *units);
/* Add a reading to the queue. If the queue is full, the reading is dropped; @last: 1: it replaces the
 * oldest one instead. */
void jetwatt_unit_reader_put(struct jetwatt_unit_reader *r, const struct jetwatt_unit_reading *one,
			     int last);

/* Start the thread. The first readings of the thread begin at once. Call jetwatt_unit_reader_free()
 * also after an error. Return: 0; a negative errno. */
int jetwatt_unit_reader_start(struct jetwatt_unit_reader *r, struct jetwatt_units *units);

/* Request that the thread reads all sources once more and ends. */
void jetwatt_unit_reader_stop(struct jetwatt_unit_reader *r);
/* Return: 1 if the thread has read all sources once more after jetwatt_unit_reader_stop(). */
int jetwatt_unit_reader_done(struct jetwatt_unit_reader *r);

/*
 * Get the oldest reading of the queue without removing it. @busy_ns: set to the begin of the
 * reading in progress; 0: there is none. All readings that the queue does not contain yet have
 * times after @busy_ns. Return: 1; 0: the queue is empty.
 */
int jetwatt_unit_reader_next(struct jetwatt_unit_reader *r, struct jetwatt_unit_reading *next,
			     uint64_t *busy_ns);
/* Remove the oldest reading. */
void jetwatt_unit_reader_drop(struct jetwatt_unit_reader *r);

/* End the thread and free its memory. */
void jetwatt_unit_reader_free(struct jetwatt_unit_reader *r);

#endif
