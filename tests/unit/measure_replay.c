// SPDX-License-Identifier: GPL-2.0-only
/* The texts of a trace that messages and tables contain do not control the terminal: the trace may come
 * from another machine. */
#include "kselftest_harness.h"

#include "../../user/measure/replay.c"

TEST(texts_without_control_characters)
{
	struct jetwatt_rail rail = { .label = "VDD\033[2J\n_GPU", .id = 3, .in_total = 1 };
	static struct jetwatt_replay r;

	on_rail(&rail, &r);
	on_text("scope", "module\033[31m", &r);
	on_text("library", "/lib/\rlibcuda.so.1", &r);
	on_text("mark.1", "step\007", &r);
	ASSERT_EQ(1, r.session.nr_rails);
	EXPECT_STREQ("VDD?[2J?_GPU", r.session.rail[0].label);
	EXPECT_EQ(3, r.session.rail[0].id);
	EXPECT_STREQ("module?[31m", r.scope);
	EXPECT_STREQ("/lib/?libcuda.so.1", r.session.trace_state.library);
	EXPECT_STREQ("step?", r.session.trace_state.mark[1]);
}

TEST_HARNESS_MAIN
