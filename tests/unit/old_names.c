// SPDX-License-Identifier: GPL-2.0-only
/* Test that programs which use the older names of public constants and members (doc/changes.md)
 * still compile and mean the same. */
#include <stddef.h>

#include <jetwatt.h>

#include "kselftest_harness.h"

TEST(old_names_of_the_backends_are_valid)
{
	struct jetwatt_probe_opts opts = { .tgid = 1, .rungs = JETWATT_RUNG_MODULE };
	enum jetwatt_rung last = JETWATT_RUNG_MARKER;

	EXPECT_EQ(JETWATT_BACKEND_MODULE, opts.backends);
	EXPECT_EQ(offsetof(struct jetwatt_probe_opts, backends), offsetof(struct jetwatt_probe_opts, rungs));
	EXPECT_EQ(JETWATT_BACKEND_MARKER, last);
	EXPECT_EQ(JETWATT_BACKEND_UPROBE, JETWATT_RUNG_UPROBE);
	EXPECT_EQ(JETWATT_BACKEND_TRACEPOINT, JETWATT_RUNG_TRACEPOINT);
	EXPECT_EQ(JETWATT_BACKENDS, JETWATT_RUNGS);
}

TEST_HARNESS_MAIN
