// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CRC-32C, four bits at a time. A trace has some kilobytes per second, so an algorithm that
 * processes four bits at a time is fast enough; it needs a table of only sixteen words.
 */
#include "lib/crc32c.h"

#define POLYNOMIAL	0x82f63b78u	/* 0x1edc6f41, reflected */

/* Table of the CRC register after four zero bits, for the register value @n. */
#define SHIFT(n)	((n) >> 1 ^ ((n) & 1 ? POLYNOMIAL : 0))
#define NIBBLE(n)	SHIFT(SHIFT(SHIFT(SHIFT((uint32_t)(n)))))

static const uint32_t table[16] = {
	NIBBLE(0), NIBBLE(1), NIBBLE(2), NIBBLE(3), NIBBLE(4), NIBBLE(5), NIBBLE(6), NIBBLE(7),
	NIBBLE(8), NIBBLE(9), NIBBLE(10), NIBBLE(11), NIBBLE(12), NIBBLE(13), NIBBLE(14), NIBBLE(15),
};

uint32_t jetwatt_crc32c(uint32_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}
