// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads a trace: finds the blocks in a stream of bytes. trace_records.c decodes them.
 *
 * An intact header contains the length of its block. If the block is damaged, the search for the
 * next block begins right behind the header. Without an intact header, a block may begin at every
 * byte. Incomplete data at the end of the file is a block that is being written, or was never
 * completed.
 *
 * A malicious trace may contain many headers, each for a long block that includes all later blocks.
 * To limit the cost, the time for the checksums grows with the numbers of bytes and headers, not with
 * the lengths of the blocks (crc_marks.h), and each byte is moved in memory a bounded number of
 * times.
 */
#include "lib/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/trace_reader.h"

#define CHUNK	(64 << 10)	/* minimum free space in the buffer for a read(), bytes */

int jetwatt_trace_reader_new(struct jetwatt_trace_reader **reader, int fd,
			     const struct jetwatt_trace_calls *calls, void *arg)
{
	struct jetwatt_trace_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->fd = fd;
	r->calls = *calls;
	r->arg = arg;
	*reader = r;
	return 0;
}

void jetwatt_trace_reader_free(struct jetwatt_trace_reader *r)
{
	if (!r)
		return;
	jetwatt_crc_marks_free(&r->marks);
	free(r->byte);
	free(r->value);
	free(r);
}

/*
 * Discard the bytes that were processed, except those that checksums need, but only if space is
 * short and more bytes are discarded than have to be moved.
 */
static void discard_processed(struct jetwatt_trace_reader *r)
{
	size_t gone = r->head > JETWATT_CRC_MARK ? r->head - JETWATT_CRC_MARK : 0;

	if (r->max - r->len >= CHUNK || gone <= r->len / 2)
		return;
	memmove(r->byte, r->byte + gone, r->len - gone);
	r->len -= gone;
	r->head -= gone;
	r->offset += gone;
}

/* Read more bytes of the trace. Return: 1 on success; 0: no further bytes at present; or a negative
 * errno. */
static int read_more(struct jetwatt_trace_reader *r)
{
	ssize_t n;

	discard_processed(r);
	if (r->max - r->len < CHUNK) {
		size_t max = 2 * r->max + CHUNK;
		uint8_t *p = realloc(r->byte, max);

		if (!p)
			return -ENOMEM;
		r->byte = p;
		r->max = max;
	}
	do
		n = read(r->fd, r->byte + r->len, r->max - r->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	r->len += n;
	return n > 0;
}

/* Read from the trace until @need unprocessed bytes are in the buffer. Return: as read_more(). */
static int read_at_least(struct jetwatt_trace_reader *r, size_t need)
{
	while (r->len - r->head < need) {
		int err = read_more(r);

		if (err <= 0)
			return err;
	}
	return 1;
}

static void skip_bytes(struct jetwatt_trace_reader *r, size_t n)
{
	r->head += n;
	r->state.skipped += n;
}

/* Skip to the next byte that may begin a header. */
static void skip_to_header(struct jetwatt_trace_reader *r)
{
	const uint8_t *from = r->byte + r->head + 1;
	const uint8_t *at = memchr(from, JETWATT_TRACE_MAGIC[0], r->len - r->head - 1);

	skip_bytes(r, (at ? at - from : (ptrdiff_t)(r->len - r->head - 1)) + 1);
}

/* Find the next intact block. Return: 1 if an intact block is in the buffer; 0 if there is none
 * so far; or a negative errno. */
static int find_block(struct jetwatt_trace_reader *r, struct jetwatt_trace_block *b)
{
	for (;;) {
		const uint8_t *at;
		uint32_t crc;
		int err = read_at_least(r, JETWATT_TRACE_HEADER);

		if (err <= 0)
			return err;
		at = r->byte + r->head;
		if (jetwatt_trace_block_get(at, b)) {
			skip_to_header(r);
			continue;
		}
		if (b->version > JETWATT_TRACE_VERSION)
			return -EPROTO;
		err = read_at_least(r, JETWATT_TRACE_HEADER + b->length);
		if (err <= 0)
			return err;
		at = r->byte + r->head + JETWATT_TRACE_HEADER;
		err = jetwatt_crc_marks_of(&r->marks, at, r->offset + r->head + JETWATT_TRACE_HEADER, b->length,
					   &crc);
		if (err)
			return err;
		if (crc == b->crc)
			return 1;
		r->state.damaged++;
		/* The block may be incomplete, so that the next one begins within its length:
		 * search for the next block right behind the header. */
		skip_bytes(r, JETWATT_TRACE_HEADER);
	}
}

void jetwatt_trace_reader_reading(struct jetwatt_trace_reader *r, jetwatt_reading_fn fn)
{
	r->reading = fn;
}

void jetwatt_trace_reader_counts(struct jetwatt_trace_reader *r, jetwatt_trace_counts_fn fn)
{
	r->counts = fn;
}

int jetwatt_trace_read(struct jetwatt_trace_reader *r)
{
	struct jetwatt_trace_block b = { 0 };
	struct jetwatt_trace_view v;
	int err = find_block(r, &b);

	r->state.tail = r->len - r->head;
	if (err <= 0)
		return err;
	if (r->state.blocks && b.number > r->number)
		r->state.missing += b.number - r->number;
	r->number = b.number + 1;
	r->state.blocks++;
	r->state.version = b.version;
	r->state.ended |= !!(b.flags & JETWATT_TRACE_LAST);
	v.at = r->byte + r->head + JETWATT_TRACE_HEADER;
	v.end = v.at + b.length;
	v.bad = 0;
	r->head += JETWATT_TRACE_HEADER + b.length;
	err = jetwatt_trace_records(r, &v, b.time_ns);
	r->state.tail = r->len - r->head;
	return err ? err : 1;
}

void jetwatt_trace_state(const struct jetwatt_trace_reader *r, struct jetwatt_trace_state *st)
{
	*st = r->state;
}
