// SPDX-License-Identifier: GPL-2.0-only
/* Which backend of the probe is named as the one that has seen the waits. */
#include "kselftest_harness.h"
#include "measure/probe_report.h"

static uint32_t backend(uint32_t attached, uint64_t marks, enum jetwatt_sync_call call,
			uint64_t waits)
{
	struct jetwatt_probe_state st = { .attached = attached };

	st.seen[JETWATT_SYNC_MARK] = st.seen[JETWATT_SYNC_MARK_BEGIN] = marks;
	st.seen[call] = waits;
	return jetwatt_probe_report_backend(&st);
}

#define UPROBE		JETWATT_BACKEND_UPROBE
#define TRACEPOINT	JETWATT_BACKEND_TRACEPOINT
#define MODULE		JETWATT_BACKEND_MODULE
#define MARKER		JETWATT_BACKEND_MARKER

TEST(marks_replace_no_other_kind)
{
	EXPECT_EQ(UPROBE, backend(UPROBE | MARKER, 100, JETWATT_SYNC_STREAM, 10));
	EXPECT_EQ(UPROBE, backend(UPROBE | MARKER, 100, JETWATT_SYNC_COPY, 10));
	EXPECT_EQ(UPROBE, backend(UPROBE | MARKER, 100, JETWATT_SYNC_QUERY, 10));
	EXPECT_EQ(UPROBE, backend(UPROBE | MARKER, 100, JETWATT_SYNC_CALLBACK, 10));
	EXPECT_EQ(TRACEPOINT, backend(TRACEPOINT | MARKER, 100, JETWATT_SYNC_HELPER, 10));
	EXPECT_EQ(MODULE, backend(MODULE | MARKER, 100, JETWATT_SYNC_HELPER, 10));
}

TEST(marks_alone)
{
	EXPECT_EQ(MARKER, backend(UPROBE | MARKER, 1, JETWATT_SYNC_STREAM, 0));
	EXPECT_EQ(MARKER, backend(MARKER, 1, JETWATT_SYNC_STREAM, 0));
}

TEST(no_waits)
{
	EXPECT_EQ(TRACEPOINT, backend(TRACEPOINT | MARKER, 0, JETWATT_SYNC_STREAM, 0));
	EXPECT_EQ(0, backend(0, 0, JETWATT_SYNC_STREAM, 0));
}

TEST_HARNESS_MAIN
