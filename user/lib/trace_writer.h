/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The two parts of the trace writer: trace_writer.c writes blocks, trace_write.c encodes records.
 */
#ifndef JETWATT_LIB_TRACE_WRITER_H
#define JETWATT_LIB_TRACE_WRITER_H

#include <sys/types.h>

#include "lib/trace.h"

/* Maximum number of records that describe a run. */
#define JETWATT_TRACE_KEPT	(2 * JETWATT_RAILS_MAX + JETWATT_MARKS_MAX + 32)

/* A record that describes the run, identified by its tag and key; it is written with each
 * description of the run. */
struct jetwatt_trace_kept {
	uint32_t tag;
	char key[JETWATT_TRACE_KEY_LEN];
	struct jetwatt_trace_buf payload;
};

/**
 * struct jetwatt_trace_writer - a trace writer, with the block that is being filled
 * @fd: file descriptor, owned by the caller
 * @err: first error; 0: none
 * @finished: 1: the last block, which marks the end of the trace, was written
 * @block: header and records of the block that is being filled
 * @scratch: the record that is being encoded
 * @time_ns: time, ns, relative to which the times in the block are stored
 * @opened_ns: time at which the present block was begun, ns
 * @head_ns: time at which the description of the run was last added to a block, ns; 0: never
 * @clocks_ns: time at which a record of the clocks was last added to a block, ns; 0: never
 * @number: sequence number of the present block
 * @flags: flags of the present block
 * @series: list of the series in the last batch of the present block
 * @nr_series: number of entries of @series
 * @last: last wait of the present block; the next wait is encoded relative to it
 * @waits: number of waits added to blocks
 * @lost: number of lost waits, as last reported by the caller
 * @written: number of bytes written
 * @readings: number of values in the last reading of sysfs
 * @end_of_last: file offset behind the last complete block; -1: unknown, or not a file
 * @kept: records that describe the run
 * @nr_kept: number of entries of @kept
 */
struct jetwatt_trace_writer {
	int fd, err, finished;
	struct jetwatt_trace_buf block, scratch;
	uint64_t time_ns, opened_ns, head_ns, clocks_ns;
	uint32_t number, flags;
	struct { uint32_t kind, index; } series[JETWATT_TRACE_SERIES];
	uint32_t nr_series;
	struct jetwatt_sync last;
	uint64_t waits, lost, written;
	uint32_t readings;
	off_t end_of_last;
	struct jetwatt_trace_kept kept[JETWATT_TRACE_KEPT];
	int nr_kept;
};

/* Store the error @err, unless an earlier error is stored. Return: the stored error. */
int jetwatt_trace_fail(struct jetwatt_trace_writer *w, int err);
/* Begin a block whose times are relative to @time_ns, unless a block has been begun already. */
void jetwatt_trace_open(struct jetwatt_trace_writer *w, uint64_t time_ns);
/* Append the record in @scratch to the block, with the tag @tag. */
void jetwatt_trace_add(struct jetwatt_trace_writer *w, enum jetwatt_trace_tag tag);
/* Write the block. Return: 0; or the first error of the writer, as a negative errno. */
int jetwatt_trace_write_out(struct jetwatt_trace_writer *w);
/* Return CLOCK_MONOTONIC, ns. */
uint64_t jetwatt_trace_now(void);

#endif
