/* SPDX-License-Identifier: LGPL-2.1-only */
/* The checksum of trace blocks. */
#ifndef JETWATT_LIB_CRC32C_H
#define JETWATT_LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return the CRC-32C (Castagnoli, RFC 3720 appendix B.4) of the @len bytes at @buf. @crc: CRC-32C
 * of the bytes before @buf; 0 if there are none.
 */
uint32_t jetwatt_crc32c(uint32_t crc, const void *buf, size_t len);

#endif
