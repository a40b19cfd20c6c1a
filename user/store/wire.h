/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of protocol buffers, field by field, for onnx.c. The reader reads a file through a window
 * of fixed size, and skips a field without reading it, so memory use does not depend on the file. A
 * limit on the bytes read bounds the time for a file of many small fields.
 */
#ifndef JETWATT_WIRE_H
#define JETWATT_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Wire types of the encoding. */
enum { JETWATT_WIRE_VARINT = 0, JETWATT_WIRE_64 = 1, JETWATT_WIRE_BYTES = 2, JETWATT_WIRE_32 = 5 };

/**
 * struct jetwatt_wire - a file or memory from which protocol buffers are read
 * @fd: a file, or -1: @memory
 * @memory: the bytes, if @fd is -1
 * @size: total number of bytes of the file or the memory
 * @at, @len: position and number of the bytes in @window
 * @left: number of bytes that may still be read
 * @window: the part of the file that is in memory
 */
struct jetwatt_wire {
	int fd;
	const unsigned char *memory;
	uint64_t size, at, len, left;
	unsigned char window[1 << 16];
};

/**
 * struct jetwatt_wire_field - one field
 * @nr: field number
 * @type: wire type
 * @value: the bits of the number in the field
 * @at, @end: position of the contents of a field of bytes, and of the byte behind it
 */
struct jetwatt_wire_field {
	uint32_t nr;
	int type;
	uint64_t value, at, end;
};

/**
 * jetwatt_wire_next() - read the field at *@at, and advance *@at to the next one
 * @end: end of the message
 *
 * Return: 1 on success; 0: end of the message; -EBADMSG: not a valid encoding; -ENODATA: the field
 * extends beyond the end of the message or file; -E2BIG: the limit of bytes is reached; other
 * negative errno.
 */
int jetwatt_wire_next(struct jetwatt_wire *w, uint64_t *at, uint64_t end,
		      struct jetwatt_wire_field *f);

/* Read a number of a packed field at *@at. @type: wire type of the numbers. Return: as
 * jetwatt_wire_next(). */
int jetwatt_wire_number(struct jetwatt_wire *w, uint64_t *at, uint64_t end, int type,
			uint64_t *value);

/* Copy @len bytes from position @at. Return: 0; -ENODATA: there are fewer bytes; other errors as
 * jetwatt_wire_next(). */
int jetwatt_wire_bytes(struct jetwatt_wire *w, uint64_t at, void *buf, size_t len);

#endif
