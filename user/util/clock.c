// SPDX-License-Identifier: GPL-2.0-only
/* Read CLOCK_MONOTONIC. */
#include "util/clock.h"

#include <time.h>

uint64_t jetwatt_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}
