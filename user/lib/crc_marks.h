/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * CRC-32C of any part of a stream, also of parts that overlap, for a cost that does not depend on
 * how long they are: every byte of the stream goes into the checksum once.
 */
#ifndef JETWATT_LIB_CRC_MARKS_H
#define JETWATT_LIB_CRC_MARKS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes before a part that have to be at hand. */
#define JETWATT_CRC_MARK	64

/**
 * struct jetwatt_crc_marks - the checksum's register at some places of the stream
 * @reg: at every multiple of JETWATT_CRC_MARK from @first on, @nr of them
 */
struct jetwatt_crc_marks {
	uint32_t *reg;
	uint64_t first;
	size_t nr, max;
};

/**
 * jetwatt_crc_marks_of() - CRC-32C of a part
 * @at: the part; JETWATT_CRC_MARK - 1 bytes before it, or all that there are, are at hand
 * @from: where it begins in the stream; never before the last one that was asked for
 *
 * Return: 0; -ENOMEM.
 */
int jetwatt_crc_marks_of(struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from, size_t len,
			 uint32_t *crc);
void jetwatt_crc_marks_free(struct jetwatt_crc_marks *m);

#endif
