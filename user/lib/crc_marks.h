/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * CRC-32C of parts of a stream, which may overlap. Each byte of the stream is processed once, and
 * each part costs fewer than 2 * JETWATT_CRC_MARK further bytes, however long it is. For
 * trace_reader.c.
 */
#ifndef JETWATT_LIB_CRC_MARKS_H
#define JETWATT_LIB_CRC_MARKS_H

#include <stddef.h>
#include <stdint.h>

/* Distance between stored CRC registers, in bytes. */
#define JETWATT_CRC_MARK	64

/**
 * struct jetwatt_crc_marks - CRC registers at several positions of the stream; all zero at first
 * @reg: CRC registers at multiples of JETWATT_CRC_MARK in the stream
 * @first: number of the multiple of JETWATT_CRC_MARK to which @reg[0] belongs
 * @nr: number of registers
 * @max: allocated length of @reg
 */
struct jetwatt_crc_marks {
	uint32_t *reg;
	uint64_t first;
	size_t nr, max;
};

/**
 * jetwatt_crc_marks_of() - compute the CRC-32C of a part
 * @m: the registers
 * @at: the part; JETWATT_CRC_MARK - 1 bytes before the part, or all if there are fewer, must
 *	be in memory
 * @from: stream position of the part; must not decrease from call to call
 * @len: length of the part, bytes
 * @crc: receives the checksum
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_crc_marks_of(struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from, size_t len,
			 uint32_t *crc);
/* Free the registers. */
void jetwatt_crc_marks_free(struct jetwatt_crc_marks *m);

#endif
