/* SPDX-License-Identifier: GPL-2.0-only */
/* CLOCK_MONOTONIC: samples, waits and traces all use this clock. */
#ifndef JETWATT_UTIL_CLOCK_H
#define JETWATT_UTIL_CLOCK_H

#include <stdint.h>

/* Return CLOCK_MONOTONIC in ns. */
uint64_t jetwatt_clock_ns(void);

#endif
