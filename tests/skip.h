/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <unistd.h>

/* SKIP() of a fixture's setup: behind one that only returns the harness runs the test all
 * the same. 255 is what it takes for a test that was skipped. */
#define SKIP_TEST(...)	SKIP(_exit(255), __VA_ARGS__)

#endif
