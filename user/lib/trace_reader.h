/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The two parts of the trace reader: trace_reader.c finds blocks, trace_records.c decodes them.
 */
#ifndef JETWATT_LIB_TRACE_READER_H
#define JETWATT_LIB_TRACE_READER_H

#include "lib/crc_marks.h"
#include "lib/trace.h"

/**
 * struct jetwatt_trace_reader - a trace reader
 * @fd: file descriptor of the trace, owned by the caller
 * @calls: callbacks, with @arg
 * @reading: callback for readings of sysfs; may be NULL
 * @counts: callback for counters of work units; may be NULL
 * @byte: buffer for bytes of the trace; the bytes from @head to @len have not been processed
 * @head: index in @byte of the first byte that has not been processed
 * @len: number of bytes in @byte
 * @max: size of @byte
 * @offset: offset of the first byte of @byte in the file
 * @marks: CRC registers at several positions of the bytes read
 * @number: expected sequence number of the next block
 * @state: state for jetwatt_trace_state()
 * @series: list of the series in the batches of the present block
 * @nr_series: number of entries of @series
 * @rail: rails of the trace so far, in the order of their first records
 * @nr_rails: number of entries of @rail
 * @last: last wait of the present block; the next wait is encoded relative to it
 * @value: values of the present batch, series by series
 * @max_values: size of @value
 * @time_ns: times of the batch
 * @next_seq: expected sequence number of the next sample; 0: no sample so far
 * @last_ns: time of the last sample, ns
 */
struct jetwatt_trace_reader {
	int fd;
	struct jetwatt_trace_calls calls;
	jetwatt_reading_fn reading;
	jetwatt_trace_counts_fn counts;
	void *arg;
	uint8_t *byte;
	size_t head, len, max;
	uint64_t offset;
	struct jetwatt_crc_marks marks;
	uint32_t number;
	struct jetwatt_trace_state state;

	struct jetwatt_series_view series[JETWATT_TRACE_SERIES];
	uint32_t nr_series;
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails;
	struct jetwatt_sync last;
	int32_t *value;
	size_t max_values;
	uint64_t time_ns[JETWATT_TRACE_SAMPLES];
	uint64_t next_seq, last_ns;
};

/*
 * Decode the records of a block and call the callbacks. An invalid record counts as damage; the
 * rest of its block is skipped. @time_ns: time, ns, relative to which the times in the block are
 * stored. Return: 0; -ENOMEM.
 */
int jetwatt_trace_records(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			  uint64_t time_ns);

#endif
