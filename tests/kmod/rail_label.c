// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/two-buses.dtso modules="jetwatt-sim adc_offset_uv=800;ina3221;i2c-dev;jetwatt" timeout=120
/* Test the labels of rails. Boards with usual labels are tested by the tests board_*. */
#include "family.h"

#include "kselftest_harness.h"

static void note_label(struct nlmsghdr *nlh, void *arg)
{
	if (u32_of(nlh, JETWATT_A_RAIL_ID) == 5)
		snprintf(arg, 64, "%s", text_of(nlh, JETWATT_A_RAIL_LABEL));
}

/* A label that is too long must be truncated, not replaced by "in3". */
TEST(long_label_is_truncated)
{
	char label[64] = "";
	struct family f;

	ASSERT_EQ(0, family_open(&f));
	ASSERT_EQ(0, dump(&f, request(&f, JETWATT_CMD_RAIL_GET), note_label, label));
	EXPECT_STREQ("A_LABEL_OF_SIXTY_BYTES_OF_WHICH_THE_MODULE_KEEP", label);
	family_close(&f);
}

TEST_HARNESS_MAIN
