/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol buffers, field by field, through a window of fixed size: what is
 * skipped is never read, and nothing is kept. No file can make us large, and one
 * that is all small fields ends at a limit.
 */
#ifndef JETWATT_WIRE_H
#define JETWATT_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { JETWATT_WIRE_VARINT = 0, JETWATT_WIRE_64 = 1, JETWATT_WIRE_BYTES = 2, JETWATT_WIRE_32 = 5 };

/**
 * struct jetwatt_wire - what is read from
 * @fd: a file, or -1: @memory
 * @size: of all of it
 * @window: @len bytes from @at on
 * @left: bytes that may still be looked at
 */
struct jetwatt_wire {
	int fd;
	const unsigned char *memory;
	uint64_t size, at, len, left;
	unsigned char window[1 << 16];
};

/**
 * struct jetwatt_wire_field - one field
 * @value: of a number, as its bits
 * @at, @end: where bytes lie
 */
struct jetwatt_wire_field {
	uint32_t nr;
	int type;
	uint64_t value, at, end;
};

/**
 * jetwatt_wire_next() - the field at *@at, and where the next one is
 * @end: of the message
 *
 * Return: 1; 0: the message ends here; -EBADMSG: no such encoding; -ENODATA: it
 * goes on beyond its end; -E2BIG: more than anybody wants to read; -EIO.
 */
int jetwatt_wire_next(struct jetwatt_wire *w, uint64_t *at, uint64_t end,
		      struct jetwatt_wire_field *f);

/* A number in a packed field, at *@at. @type: of each. Return: as above. */
int jetwatt_wire_number(struct jetwatt_wire *w, uint64_t *at, uint64_t end, int type,
			uint64_t *value);

/* @len bytes from @at on. Return: 0; -ENODATA, -E2BIG, -EIO. */
int jetwatt_wire_bytes(struct jetwatt_wire *w, uint64_t at, void *buf, size_t len);

#endif
