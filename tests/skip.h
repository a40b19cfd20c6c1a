/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <unistd.h>

/* SKIP() for the setup of a fixture. SKIP(return) does not suffice there: the harness would still
 * run the test. The harness counts a test as skipped if the test's process exits with status
 * 255. */
#define SKIP_TEST(...)	SKIP(_exit(255), __VA_ARGS__)

#endif
