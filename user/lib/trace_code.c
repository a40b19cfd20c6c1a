// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Encodes and decodes numbers, texts, records, and the header of a block. An encoded number has
 * seven bits per byte, least significant bits first. A signed number is folded to an unsigned one
 * (zigzag), so that small numbers of either sign are short.
 */
#include "lib/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/crc32c.h"

void jetwatt_trace_put(struct jetwatt_trace_buf *b, const void *bytes, size_t len)
{
	if (b->failed)
		return;
	if (b->max - b->len < len) {
		size_t max = b->max ? b->max : 256;
		uint8_t *p;

		while (max - b->len < len)
			max *= 2;
		p = realloc(b->byte, max);
		if (!p) {
			b->failed = 1;
			return;
		}
		b->byte = p;
		b->max = max;
	}
	memcpy(b->byte + b->len, bytes, len);
	b->len += len;
}

void jetwatt_trace_put_uint(struct jetwatt_trace_buf *b, uint64_t v)
{
	uint8_t byte[10];
	int n = 0;

	for (; v >= 0x80; v >>= 7)
		byte[n++] = v | 0x80;
	byte[n++] = v;
	jetwatt_trace_put(b, byte, n);
}

void jetwatt_trace_put_int(struct jetwatt_trace_buf *b, int64_t v)
{
	jetwatt_trace_put_uint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void jetwatt_trace_put_text(struct jetwatt_trace_buf *b, const char *text)
{
	size_t len = strlen(text);

	jetwatt_trace_put_uint(b, len);
	jetwatt_trace_put(b, text, len);
}

void jetwatt_trace_put_record(struct jetwatt_trace_buf *b, enum jetwatt_trace_tag tag,
			      const struct jetwatt_trace_buf *payload)
{
	if (payload->failed) {
		b->failed = 1;
		return;
	}
	jetwatt_trace_put_uint(b, tag);
	jetwatt_trace_put_uint(b, payload->len);
	jetwatt_trace_put(b, payload->byte, payload->len);
}

/* Ten bytes hold 70 bits. A number that does not fit into 64 bits is invalid. */
uint64_t jetwatt_trace_get_uint(struct jetwatt_trace_view *v)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 70 && v->at < v->end; shift += 7) {
		uint64_t bits = *v->at & 0x7f;

		if (shift == 63 && bits > 1)
			break;
		value |= bits << shift;
		if (!(*v->at++ & 0x80))
			return value;
	}
	v->bad = 1;
	v->at = v->end;
	return 0;
}

uint32_t jetwatt_trace_get_u32(struct jetwatt_trace_view *v)
{
	uint64_t value = jetwatt_trace_get_uint(v);

	if (value <= UINT32_MAX)
		return value;
	v->bad = 1;
	return 0;
}

int64_t jetwatt_trace_get_int(struct jetwatt_trace_view *v)
{
	uint64_t value = jetwatt_trace_get_uint(v);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

void jetwatt_trace_get_text(struct jetwatt_trace_view *v, char *buf, size_t size)
{
	uint64_t len = jetwatt_trace_get_uint(v), n;

	buf[0] = '\0';
	if (len > (size_t)(v->end - v->at)) {
		v->bad = 1;
		v->at = v->end;
		return;
	}
	n = len < size ? len : size - 1;
	memcpy(buf, v->at, n);
	buf[n] = '\0';
	v->at += len;
}

struct jetwatt_trace_view jetwatt_trace_get_record(struct jetwatt_trace_view *v, uint32_t *tag)
{
	struct jetwatt_trace_view payload = { 0 };
	uint64_t len;

	*tag = jetwatt_trace_get_u32(v);
	len = jetwatt_trace_get_uint(v);
	if (len > (size_t)(v->end - v->at)) {
		v->bad = 1;
		v->at = v->end;
	}
	if (v->bad)
		return payload;
	payload.at = v->at;
	payload.end = v->at += len;
	return payload;
}

static void put_le(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = v >> 8 * i;
}

static uint64_t get_le(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

void jetwatt_trace_block_put(uint8_t *buf, const struct jetwatt_trace_block *b)
{
	memcpy(buf, JETWATT_TRACE_MAGIC, 4);
	put_le(buf + 4, b->version, 2);
	put_le(buf + 6, b->flags, 2);
	put_le(buf + 8, b->number, 4);
	put_le(buf + 12, b->length, 4);
	put_le(buf + 16, b->time_ns, 8);
	put_le(buf + 24, b->crc, 4);
	put_le(buf + 28, jetwatt_crc32c(0, buf, 28), 4);
}

int jetwatt_trace_block_get(const uint8_t *buf, struct jetwatt_trace_block *b)
{
	if (memcmp(buf, JETWATT_TRACE_MAGIC, 4) || get_le(buf + 28, 4) != jetwatt_crc32c(0, buf, 28))
		return -EBADMSG;
	b->version = get_le(buf + 4, 2);
	b->flags = get_le(buf + 6, 2);
	b->number = get_le(buf + 8, 4);
	b->length = get_le(buf + 12, 4);
	b->time_ns = get_le(buf + 16, 8);
	b->crc = get_le(buf + 24, 4);
	return b->length > JETWATT_TRACE_MAX ? -EBADMSG : 0;
}
