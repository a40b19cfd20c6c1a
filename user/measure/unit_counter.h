/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of a program's own work units, such as tokens, and where they are read: --per NAME=SOURCE.
 */
#ifndef JETWATT_MEASURE_UNIT_COUNTER_H
#define JETWATT_MEASURE_UNIT_COUNTER_H

#include <stdint.h>

#include "util/http_get.h"
#include "util/prometheus.h"

#define JETWATT_UNITS_MAX	8
#define JETWATT_UNIT_NAME_LEN	24

/**
 * struct jetwatt_unit_source - a source from which one or more counters are read at the same time
 * @text: URL or path as the user wrote it, or fd:N
 * @kind: kind of the source that @text names
 * @url: the server, if @kind is JETWATT_UNIT_HTTP
 * @fd: the descriptor, if @kind is JETWATT_UNIT_FD
 * @line, @line_len: the start of the next line from @fd, until its newline arrives
 * @last: the count in the last complete line; @lines: 1: @last is valid; 0: no line is complete
 *	yet; -EINVAL: the last complete line was not a number, or too long
 */
struct jetwatt_unit_source {
	char text[JETWATT_HTTP_URL_LEN];
	enum { JETWATT_UNIT_HTTP, JETWATT_UNIT_FILE, JETWATT_UNIT_FD } kind;
	struct jetwatt_http_url url;
	int fd;
	char line[64];
	size_t line_len;
	double last;
	int lines;
};

/**
 * struct jetwatt_unit - a counter
 * @name: name of one unit, as in "J/NAME"
 * @source: index of the counter's source
 * @metric: the metric as the user wrote it; "": the source has only this counter
 * @selector: @metric, parsed
 */
struct jetwatt_unit {
	char name[JETWATT_UNIT_NAME_LEN];
	int source;
	char metric[JETWATT_HTTP_URL_LEN];
	struct jetwatt_prometheus_selector selector;
};

/* All counters of a measurement. Counters with the same URL or file share a source, so the program
 * gets one request for all of them. */
struct jetwatt_units {
	struct jetwatt_unit unit[JETWATT_UNITS_MAX];
	int nr;
	struct jetwatt_unit_source source[JETWATT_UNITS_MAX];
	int sources;
};

/**
 * struct jetwatt_unit_reading - the counters of one source at one time
 * @source: index of the source
 * @begin_ns, @end_ns: time before and after reading; the counters had these values at some time
 *	between the two
 * @err: 0; a negative errno: the source could not be read or parsed, and no counter has a value
 * @why: the reason, if @err is not 0
 * @value: count of each counter of the source; NAN: the source does not have this counter, or its
 *	value is not a finite number
 */
struct jetwatt_unit_reading {
	int source;
	uint64_t begin_ns, end_ns;
	int err;
	char why[80];
	double value[JETWATT_UNITS_MAX];
};

/* Handle the option --per NAME=SOURCE. Any other @arg ends the process with status 2. */
void jetwatt_units_option(struct jetwatt_units *u, const char *arg);

/* Look up the hosts of the URLs, before the job starts. Prints an error. Return: exit code. */
int jetwatt_units_resolve(struct jetwatt_units *u);

/* Free the addresses of the hosts. */
void jetwatt_units_forget(struct jetwatt_units *u);

/*
 * Read a source. Takes at most JETWATT_UNIT_TIMEOUT_MS, and more only for a file on storage that
 * does not respond. @buf: JETWATT_HTTP_REPLY_MAX bytes.
 */
void jetwatt_unit_read(struct jetwatt_units *u, int source, char *buf,
		       struct jetwatt_unit_reading *r);
#define JETWATT_UNIT_TIMEOUT_MS	1000

#endif
