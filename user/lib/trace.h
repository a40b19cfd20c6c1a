/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The byte format of trace files, shared by writer and reader. jwt(5) describes it.
 */
#ifndef JETWATT_LIB_TRACE_H
#define JETWATT_LIB_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "jetwatt.h"

#define JETWATT_TRACE_MAGIC	"JWTB"
#define JETWATT_TRACE_VERSION	1
#define JETWATT_TRACE_HEADER	32	/* length of a block's header, bytes */
/*
 * A block is written when a record fills it to JETWATT_TRACE_FULL bytes, when
 * jetwatt_trace_flush() finds it JETWATT_TRACE_AGE_NS old, and at the start and end of the trace.
 * Therefore a reader that follows a growing trace is about one second behind, and a crash of the
 * writer loses about one second.
 */
#define JETWATT_TRACE_FULL	(64 << 10)
#define JETWATT_TRACE_AGE_NS	1000000000ull
/*
 * Maximum length of a block, bytes. No block is longer: its last batch has less than 3 MiB, and the
 * rest of the block less than 1 MiB.
 */
#define JETWATT_TRACE_MAX	(4 << 20)

/* Maximum number of samples in a batch of a trace; the module's limit is JETWATT_BATCH_MAX. */
#define JETWATT_TRACE_SAMPLES	4096
#define JETWATT_TRACE_SERIES	(4 * JETWATT_RAILS_MAX + JETWATT_CLOCKS_MAX)

/* Flags of a block. */
enum {
	/* flag of a block that begins with the description of the run */
	JETWATT_TRACE_HEAD = 1,
	/* flag of the last block, after which the writer has closed the trace */
	JETWATT_TRACE_LAST = 2,
};

/* Flags of a wait. */
enum {
	/* flag of a wait's record: cgroup, process, thread and call of the block's previous wait */
	JETWATT_TRACE_SAME = 1,
	JETWATT_TRACE_LAUNCHED = 2,	/* flag of a wait's record: the record contains launches */
	/* flag of a wait's record: the record contains a number of lost waits */
	JETWATT_TRACE_BEREFT = 4,
};

/* Kind of a record. */
enum jetwatt_trace_tag {
	JETWATT_TRACE_CLOCKS = 1,
	JETWATT_TRACE_TEXT,
	JETWATT_TRACE_CHIP,
	JETWATT_TRACE_RAIL,
	JETWATT_TRACE_JOB,
	JETWATT_TRACE_SERIES_LIST,
	JETWATT_TRACE_BATCH,
	JETWATT_TRACE_SYNC,
	JETWATT_TRACE_EVENT,
	JETWATT_TRACE_LOST,
	JETWATT_TRACE_END,
	JETWATT_TRACE_READING,
	JETWATT_TRACE_COUNTS,
};

/**
 * struct jetwatt_trace_block - header of a block
 * @version: version of the trace format
 * @flags: JETWATT_TRACE_HEAD, JETWATT_TRACE_LAST
 * @number: sequence number of the block, from 0; a gap means that blocks are missing
 * @length: length of the block's records, which follow the header, bytes
 * @crc: CRC-32C of these records
 * @time_ns: time, ns, relative to which the times in the block are stored
 */
struct jetwatt_trace_block {
	uint32_t version, flags, number, length, crc;
	uint64_t time_ns;
};

/* Encode a header to JETWATT_TRACE_HEADER bytes. */
void jetwatt_trace_block_put(uint8_t *buf, const struct jetwatt_trace_block *b);
/* Decode a header. Return: 0; -EBADMSG: the bytes are no valid header. */
int jetwatt_trace_block_get(const uint8_t *buf, struct jetwatt_trace_block *b);

/* A growing buffer. @failed: 1 if memory could not be allocated; later bytes are ignored. */
struct jetwatt_trace_buf {
	uint8_t *byte;
	size_t len, max;
	int failed;
};

/* Append bytes, a number, a text, or a record of kind @tag with the bytes of @payload. */
void jetwatt_trace_put(struct jetwatt_trace_buf *b, const void *bytes, size_t len);
void jetwatt_trace_put_uint(struct jetwatt_trace_buf *b, uint64_t v);
void jetwatt_trace_put_int(struct jetwatt_trace_buf *b, int64_t v);
void jetwatt_trace_put_text(struct jetwatt_trace_buf *b, const char *text);
void jetwatt_trace_put_record(struct jetwatt_trace_buf *b, enum jetwatt_trace_tag tag,
			      const struct jetwatt_trace_buf *payload);

/*
 * Append @n times: the first time relative to @base_ns, the second one as the difference from the
 * first, the others as differences of successive differences. At a steady rate, only the jitter
 * remains.
 */
void jetwatt_trace_put_times(struct jetwatt_trace_buf *b, uint64_t base_ns, const uint64_t *t,
			     uint32_t n);
/*
 * Append the @n values of a series: which samples have a value, the greatest common divisor of the
 * differences (usually the LSB of the chip), the first value, and the differences divided by the
 * divisor. Of equal values, only the first is appended.
 */
void jetwatt_trace_put_column(struct jetwatt_trace_buf *b, const int32_t *v, uint32_t n);

/* Bytes to decode. @bad: 1 if the bytes ended too early or were invalid. */
struct jetwatt_trace_view {
	const uint8_t *at, *end;
	int bad;
};

/*
 * Decode what the jetwatt_trace_put_...() functions have encoded. jetwatt_trace_get_text()
 * truncates to @size - 1 bytes and always terminates the string. jetwatt_trace_get_record() returns
 * the payload of the next record and advances @v behind it.
 */
uint64_t jetwatt_trace_get_uint(struct jetwatt_trace_view *v);
uint32_t jetwatt_trace_get_u32(struct jetwatt_trace_view *v);
int64_t jetwatt_trace_get_int(struct jetwatt_trace_view *v);
void jetwatt_trace_get_text(struct jetwatt_trace_view *v, char *buf, size_t size);
struct jetwatt_trace_view jetwatt_trace_get_record(struct jetwatt_trace_view *v, uint32_t *tag);
void jetwatt_trace_get_times(struct jetwatt_trace_view *v, uint64_t base_ns, uint64_t *t,
			     uint32_t n);
void jetwatt_trace_get_column(struct jetwatt_trace_view *v, int32_t *value, uint32_t n);

#endif
