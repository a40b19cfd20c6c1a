/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison of numbers that are not exact. */
#ifndef JETWATT_TESTS_NEAR_H
#define JETWATT_TESTS_NEAR_H

#include <math.h>

#include "kselftest_harness.h"

#define EXPECT_NEAR(want, is, by) EXPECT_LE(fabs((double)(want) - (double)(is)), by)

#endif
