/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The trace file's bytes, as man 5 jwt describes them: what writer and reader
 * share.
 */
#ifndef JETWATT_LIB_TRACE_H
#define JETWATT_LIB_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "jetwatt.h"

#define JETWATT_TRACE_MAGIC	"JWTB"
#define JETWATT_TRACE_VERSION	1
#define JETWATT_TRACE_HEADER	32
/* A block is closed when it has so many bytes or spans so much time, so that a
 * reader who follows is a second behind, and a crash costs one. */
#define JETWATT_TRACE_FULL	(64 << 10)
#define JETWATT_TRACE_AGE_NS	1000000000ull
/* No writer makes longer ones: a batch of the most samples and series fits
 * behind a block that is nearly full. */
#define JETWATT_TRACE_MAX	(4 << 20)

/* Largest batch in a trace; the module's own limit is JETWATT_BATCH_MAX. */
#define JETWATT_TRACE_SAMPLES	4096
#define JETWATT_TRACE_SERIES	(4 * JETWATT_RAILS_MAX + JETWATT_CLOCKS_MAX)

enum {
	JETWATT_TRACE_HEAD = 1,		/* flag of a block: begins with all that describes the run */
	JETWATT_TRACE_LAST = 2,		/* the writer has closed the trace */
};

/* Flags of a wait. */
enum {
	JETWATT_TRACE_SAME = 1,		/* of the same process, by the same call as the one before */
	JETWATT_TRACE_LAUNCHED = 2,	/* launches were seen */
	JETWATT_TRACE_BEREFT = 4,	/* others were lost just before it */
};

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
};

/**
 * struct jetwatt_trace_block - the header of a block
 * @flags: JETWATT_TRACE_HEAD, _LAST
 * @number: counts up from 0: a hole is a block that is gone
 * @length: of what follows the header
 * @time_ns: what the times in the block count from
 * @crc: CRC-32C of what follows
 */
struct jetwatt_trace_block {
	uint32_t version, flags, number, length, crc;
	uint64_t time_ns;
};

void jetwatt_trace_block_put(uint8_t *buf, const struct jetwatt_trace_block *b);
/* Return: 0; -EBADMSG: no header. */
int jetwatt_trace_block_get(const uint8_t *buf, struct jetwatt_trace_block *b);

/* Bytes that grow. @failed: no memory; what was put since is not there. */
struct jetwatt_trace_buf {
	uint8_t *byte;
	size_t len, max;
	int failed;
};

void jetwatt_trace_put(struct jetwatt_trace_buf *b, const void *bytes, size_t len);
void jetwatt_trace_put_uint(struct jetwatt_trace_buf *b, uint64_t v);
void jetwatt_trace_put_int(struct jetwatt_trace_buf *b, int64_t v);
void jetwatt_trace_put_text(struct jetwatt_trace_buf *b, const char *text);
void jetwatt_trace_put_record(struct jetwatt_trace_buf *b, enum jetwatt_trace_tag tag,
			      const struct jetwatt_trace_buf *payload);

/* Times: the first from @base_ns, the second as a difference, the others as the
 * difference of that difference: a steady rate costs a byte or two of jitter. */
void jetwatt_trace_put_times(struct jetwatt_trace_buf *b, uint64_t base_ns, const uint64_t *t,
			     uint32_t n);
/* One series: where it has values, then differences in units of their greatest
 * common divisor, which is the chip's own step. */
void jetwatt_trace_put_column(struct jetwatt_trace_buf *b, const int32_t *v, uint32_t n);

/* Bytes that are read. @bad: they ended early or made no sense; reads are 0 then. */
struct jetwatt_trace_view {
	const uint8_t *at, *end;
	int bad;
};

uint64_t jetwatt_trace_get_uint(struct jetwatt_trace_view *v);
uint32_t jetwatt_trace_get_u32(struct jetwatt_trace_view *v);
int64_t jetwatt_trace_get_int(struct jetwatt_trace_view *v);
void jetwatt_trace_get_text(struct jetwatt_trace_view *v, char *buf, size_t size);
struct jetwatt_trace_view jetwatt_trace_get_record(struct jetwatt_trace_view *v, uint32_t *tag);
void jetwatt_trace_get_times(struct jetwatt_trace_view *v, uint64_t base_ns, uint64_t *t,
			     uint32_t n);
void jetwatt_trace_get_column(struct jetwatt_trace_view *v, int32_t *value, uint32_t n);

#endif
