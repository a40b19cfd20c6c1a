/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's harness, with a longer timeout for tests on a busy machine. */
#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300
