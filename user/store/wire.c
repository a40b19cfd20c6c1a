// SPDX-License-Identifier: GPL-2.0-only
/* Reads protocol buffers. The encoding is described in protobuf.dev/programming-guides/encoding. */
#include "store/wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Make the byte at @at available in the window of the reader. Return: 0; negative errno. */
static int wire_load(struct jetwatt_wire *w, uint64_t at)
{
	ssize_t n;

	if (at >= w->at && at - w->at < w->len)
		return 0;
	if (at >= w->size)
		return -ENODATA;
	w->at = at;
	w->len = 0;
	n = pread(w->fd, w->window, sizeof(w->window), (off_t)at);
	if (n < 0)
		return -errno;
	if (!n)		/* The file was truncated while it was being read. */
		return -ENODATA;
	w->len = (uint64_t)n;
	return 0;
}

int jetwatt_wire_bytes(struct jetwatt_wire *w, uint64_t at, void *buf, size_t len)
{
	unsigned char *to = buf;

	if (at > w->size || len > w->size - at)
		return -ENODATA;
	if (len > w->left)
		return -E2BIG;
	w->left -= len;
	if (w->fd < 0) {
		memcpy(to, w->memory + at, len);
		return 0;
	}
	while (len) {
		int err = wire_load(w, at);
		uint64_t part;

		if (err)
			return err;
		part = w->at + w->len - at;
		if (part > len)
			part = len;
		memcpy(to, w->window + (at - w->at), part);
		to += part;
		at += part;
		len -= part;
	}
	return 0;
}

static int wire_varint(struct jetwatt_wire *w, uint64_t *at, uint64_t end, uint64_t *value)
{
	*value = 0;
	for (int shift = 0; shift < 70; shift += 7) {
		unsigned char c;
		int err = *at >= end ? -ENODATA : jetwatt_wire_bytes(w, *at, &c, 1);

		if (err)
			return err;
		++*at;
		if (shift < 64)
			*value |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return 1;
	}
	return -EBADMSG;
}

int jetwatt_wire_number(struct jetwatt_wire *w, uint64_t *at, uint64_t end, int type,
			uint64_t *value)
{
	unsigned int len = type == JETWATT_WIRE_64 ? 8 : 4;
	unsigned char b[8];
	int err;

	if (*at >= end)
		return 0;
	if (type == JETWATT_WIRE_VARINT)
		return wire_varint(w, at, end, value);
	if (type != JETWATT_WIRE_64 && type != JETWATT_WIRE_32)
		return -EBADMSG;
	if (end - *at < len)
		return -ENODATA;
	err = jetwatt_wire_bytes(w, *at, b, len);
	if (err)
		return err;
	*at += len;
	*value = 0;
	while (len--)
		*value = *value << 8 | b[len];
	return 1;
}

int jetwatt_wire_next(struct jetwatt_wire *w, uint64_t *at, uint64_t end,
		      struct jetwatt_wire_field *f)
{
	uint64_t tag, len;
	int rc;

	if (*at >= end)
		return 0;
	rc = wire_varint(w, at, end, &tag);
	if (rc < 0)
		return rc;
	f->type = tag & 7;
	f->nr = (uint32_t)(tag >> 3);
	if (!f->nr || tag >> 32)
		return -EBADMSG;
	if (f->type != JETWATT_WIRE_BYTES) {
		f->at = *at;
		rc = jetwatt_wire_number(w, at, end, f->type, &f->value);
		f->end = *at;
		return rc ? rc : -ENODATA;
	}
	rc = wire_varint(w, at, end, &len);
	if (rc < 0)
		return rc;
	if (len > end - *at)
		return -ENODATA;
	f->at = *at;
	*at = f->end = f->at + len;
	return 1;
}
