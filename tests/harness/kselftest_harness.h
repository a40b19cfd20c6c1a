/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's harness, but a machine that has other work as well gets more time for a test. */
#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300
