/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The reader's two halves: blocks (trace_reader.c) and what is in them
 * (trace_records.c).
 */
#ifndef JETWATT_LIB_TRACE_READER_H
#define JETWATT_LIB_TRACE_READER_H

#include "lib/crc_marks.h"
#include "lib/trace.h"

/**
 * struct jetwatt_trace_reader - bytes read and not used up, and where we are
 * @byte, @head, @len, @max: the bytes from @head to @len are at hand; @offset: of the first of @byte
 *	in the file
 * @marks: checksums of what is at hand
 * @number: the next block's, if none is missing
 * @series, @nr_series: of the block's batches
 * @last: the block's last wait
 * @value, @max_values: the batch's, series by series
 * @time_ns: the batch's
 * @next_seq: of the next sample, if none is missing; 0: none was read yet
 * @last_ns: time of the sample before
 */
struct jetwatt_trace_reader {
	int fd;
	struct jetwatt_trace_calls calls;
	jetwatt_reading_fn reading;
	void *arg;
	uint8_t *byte;
	size_t head, len, max;
	uint64_t offset;
	struct jetwatt_crc_marks marks;
	uint32_t number;
	struct jetwatt_trace_state state;

	struct jetwatt_series_view series[JETWATT_TRACE_SERIES];
	uint32_t nr_series;
	struct jetwatt_sync last;
	int32_t *value;
	size_t max_values;
	uint64_t time_ns[JETWATT_TRACE_SAMPLES];
	uint64_t next_seq, last_ns;
};

/* Hand on a block's records; one that makes no sense is counted as damage and
 * ends its block. Return: 0; -ENOMEM. */
int jetwatt_trace_records(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			  uint64_t time_ns);

#endif
