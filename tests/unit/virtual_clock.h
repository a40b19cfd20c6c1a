/* SPDX-License-Identifier: GPL-2.0-only */
/* A clock that the test advances, in place of CLOCK_MONOTONIC. */
#ifndef JETWATT_TESTS_VIRTUAL_CLOCK_H
#define JETWATT_TESTS_VIRTUAL_CLOCK_H

#include "util/clock.h"

static uint64_t clock_ns = 1000000000000;

uint64_t jetwatt_clock_ns(void)
{
	return clock_ns;
}

#endif
