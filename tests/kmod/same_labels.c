// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/same-labels.dtso modules="jetwatt-sim;ina3221" timeout=60 alone
/* Test the names of perf events of rails that have the same label. */
#include "family.h"

#include "kselftest_harness.h"

#define EVENTS	"/sys/bus/event_source/devices/jetwatt/events/"

/*
 * The event of a rail whose label was used before gets a number at the end of its name. If the label
 * of another rail ends in the same number, the names must still differ, or the PMU is not
 * registered.
 */
TEST(each_rail_has_an_event)
{
	static const char *const names[] = {
		"energy_total", "energy_vdd_aux_3", "energy_vdd_aux", "energy_vdd_aux_4",
	};
	char path[128], text[64];
	int i;

	ASSERT_EQ(0, load("jetwatt", ""));
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), EVENTS "%s", names[i]);
		ASSERT_EQ(0, read_file(path, text, sizeof(text))) TH_LOG("%s", path);
		EXPECT_EQ(1 + i, strtol(text + strlen("event="), NULL, 0));
	}
	EXPECT_EQ(0, unload("jetwatt"));
}

TEST_HARNESS_MAIN
