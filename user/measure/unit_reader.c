// SPDX-License-Identifier: GPL-2.0-only
/* Reads each source at the begin, then 1 s after each reading, and at the end. */
#include "measure/unit_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"

/* Time from the end of a reading of a source to the next one, ns. */
#define INTERVAL_NS	1000000000ull
/* Interval of emptying pipes, ns: a pipe holds 64 KiB, and a program that has filled it waits. */
#define DRAIN_NS	100000000ull

void jetwatt_unit_reader_put(struct jetwatt_unit_reader *r, const struct jetwatt_unit_reading *one,
			     int last)
{
	if (r->n == JETWATT_UNIT_QUEUE && last) {
		r->head = (r->head + 1) % JETWATT_UNIT_QUEUE;
		r->n--;
	}
	if (r->n < JETWATT_UNIT_QUEUE)
		r->queue[(r->head + r->n++) % JETWATT_UNIT_QUEUE] = *one;
}

/* Read a source. @keep: 1: add the reading to the queue; 0: only empty the pipe. */
static void read_source(struct jetwatt_unit_reader *r, int source, int keep)
{
	struct jetwatt_unit_reading one;

	pthread_mutex_lock(&r->lock);
	r->busy_ns = keep ? jetwatt_clock_ns() : 0;
	pthread_mutex_unlock(&r->lock);
	jetwatt_unit_read(r->units, source, r->buf, &one);
	pthread_mutex_lock(&r->lock);
	r->busy_ns = 0;
	if (keep)
		jetwatt_unit_reader_put(r, &one, r->stop);
	pthread_mutex_unlock(&r->lock);
}

/* Wait until @until_ns or @stop. Return: @stop. */
static int wait_until(struct jetwatt_unit_reader *r, uint64_t until_ns)
{
	struct timespec t = { until_ns / 1000000000, until_ns % 1000000000 };
	int stop;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && pthread_cond_timedwait(&r->wake, &r->lock, &t) != ETIMEDOUT)
		;
	stop = r->stop;
	pthread_mutex_unlock(&r->lock);
	return stop;
}

/* Read the sources that are due at @due, or all of them if @last, and empty the pipes. Return: time
 * at which to call this function again. */
static uint64_t read_due(struct jetwatt_unit_reader *r, uint64_t *due, int last)
{
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < r->units->sources; i++) {
		int pipe = r->units->source[i].kind == JETWATT_UNIT_FD;
		int now = last || jetwatt_clock_ns() >= due[i];
		uint64_t drain;

		if (now || pipe)
			read_source(r, i, now);
		drain = jetwatt_clock_ns() + DRAIN_NS;
		if (now)
			due[i] = jetwatt_clock_ns() + INTERVAL_NS;
		next = due[i] < next ? due[i] : next;
		next = pipe && drain < next ? drain : next;
	}
	return next;
}

static void *reader(void *arg)
{
	struct jetwatt_unit_reader *r = arg;
	uint64_t due[JETWATT_UNITS_MAX] = { 0 };

	while (!wait_until(r, read_due(r, due, 0)))
		;
	read_due(r, due, 1);
	pthread_mutex_lock(&r->lock);
	r->done = 1;
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

void jetwatt_unit_reader_init(struct jetwatt_unit_reader *r, struct jetwatt_units *units)
{
	pthread_condattr_t attr;

	memset(r, 0, sizeof(*r));
	r->units = units;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &attr);
	pthread_condattr_destroy(&attr);
}

int jetwatt_unit_reader_start(struct jetwatt_unit_reader *r, struct jetwatt_units *units)
{
	int err;

	/* With stat -r, the last line from a pipe is the count of the run before. */
	for (int i = 0; i < units->sources; i++)
		units->source[i].lines = units->source[i].line_len = 0;
	jetwatt_unit_reader_init(r, units);
	r->buf = malloc(JETWATT_HTTP_REPLY_MAX);
	err = r->buf ? pthread_create(&r->thread, NULL, reader, r) : ENOMEM;
	r->running = !err;
	return -err;
}

void jetwatt_unit_reader_stop(struct jetwatt_unit_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->stop = 1;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
}

int jetwatt_unit_reader_done(struct jetwatt_unit_reader *r)
{
	int done;

	pthread_mutex_lock(&r->lock);
	done = r->done;
	pthread_mutex_unlock(&r->lock);
	return done;
}

int jetwatt_unit_reader_next(struct jetwatt_unit_reader *r, struct jetwatt_unit_reading *next,
			     uint64_t *busy_ns)
{
	int n;

	pthread_mutex_lock(&r->lock);
	n = r->n;
	*busy_ns = r->busy_ns;
	if (n)
		*next = r->queue[r->head];
	pthread_mutex_unlock(&r->lock);
	return n > 0;
}

void jetwatt_unit_reader_drop(struct jetwatt_unit_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->head = (r->head + 1) % JETWATT_UNIT_QUEUE;
	r->n--;
	pthread_mutex_unlock(&r->lock);
}

void jetwatt_unit_reader_free(struct jetwatt_unit_reader *r)
{
	if (r->running) {
		jetwatt_unit_reader_stop(r);
		pthread_join(r->thread, NULL);
	}
	r->running = 0;
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->buf);
	r->buf = NULL;
}
