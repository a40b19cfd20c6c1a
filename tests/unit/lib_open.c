// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt_open() without memory. */
#include <stdlib.h>

static void *test_calloc(size_t n, size_t size);
#define calloc(n, size)	test_calloc(n, size)
#include "../../user/lib/open.c"
#undef calloc

#include "kselftest_harness.h"

static void *test_calloc(size_t n, size_t size)
{
	(void)n;
	(void)size;
	return NULL;
}

TEST(failed_open_has_its_own_text)
{
	struct jetwatt *jw = (void *)1;

	jetwatt_error_keep("text of an earlier error");
	EXPECT_EQ(-ENOMEM, jetwatt_open(&jw));
	EXPECT_EQ(NULL, jw);
	EXPECT_STREQ("out of memory", jetwatt_error(NULL));
}

TEST_HARNESS_MAIN
