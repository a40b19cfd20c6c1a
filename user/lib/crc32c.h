/* SPDX-License-Identifier: LGPL-2.1-only */
#ifndef JETWATT_LIB_CRC32C_H
#define JETWATT_LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli, RFC 3720 appendix B.4) of @len bytes; @crc: of what came
 * before them, 0: nothing. */
uint32_t jetwatt_crc32c(uint32_t crc, const void *buf, size_t len);

#endif
