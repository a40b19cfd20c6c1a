/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The writer's two halves: blocks (trace_writer.c) and what goes into them
 * (trace_write.c).
 */
#ifndef JETWATT_LIB_TRACE_WRITER_H
#define JETWATT_LIB_TRACE_WRITER_H

#include <sys/types.h>

#include "lib/trace.h"

#define JETWATT_TRACE_KEPT	(2 * JETWATT_RAILS_MAX + JETWATT_MARKS_MAX + 32)

/* A record that describes the run: (tag, key) is written once a head. */
struct jetwatt_trace_kept {
	uint32_t tag;
	char key[JETWATT_TRACE_KEY_LEN];
	struct jetwatt_trace_buf payload;
};

/**
 * struct jetwatt_trace_writer - one open block
 * @block: its records; @time_ns: what its times count from
 * @scratch: the record being made
 * @series, @nr_series: the list that the block's last batch had
 * @last: the block's last wait: the next one is told by differences from it
 * @opened_ns: when the block got its first record, by our own clock
 * @head_ns, @clocks_ns: when these were written last, 0: never
 * @waits: written so far; @lost: told last
 * @readings: values in the last reading
 * @end_of_last: offset in the file behind the last whole block
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

int jetwatt_trace_fail(struct jetwatt_trace_writer *w, int err);
/* A block to put records in; if there is none, one whose times count from @time_ns. */
void jetwatt_trace_open(struct jetwatt_trace_writer *w, uint64_t time_ns);
/* The scratch record becomes one of the block. */
void jetwatt_trace_add(struct jetwatt_trace_writer *w, enum jetwatt_trace_tag tag);
int jetwatt_trace_write_out(struct jetwatt_trace_writer *w);
uint64_t jetwatt_trace_now(void);

#endif
