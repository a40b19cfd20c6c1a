// SPDX-License-Identifier: GPL-2.0-only
/* The lines of jetwatt list rails fit into 80 columns. */
#include "kselftest_harness.h"

#include "../../user/cmd/list/rails.c"

TEST(a_rail_without_a_shunt)
{
	static const struct jetwatt_rail rail = { .label = "VDD_CPU_SOC_MSS", .enabled = 1,
						  .read_mhz = 1000000, .fresh_mhz = 200000 };
	static const struct jetwatt_chip chip = { .bus = 12, .addr = 0x40 };
	const struct rail_readings g = { .bus_uv = { 19876543 }, .buses = { 1 }, .rail = &rail, .nr = 1 };
	FILE *saved = stdout, *f;
	char text[200] = "";

	f = fmemopen(text, sizeof(text), "w");
	ASSERT_NE(NULL, f);
	stdout = f;
	print_rail(&g, 0, &chip, 0, NULL);
	stdout = saved;
	fclose(f);
	EXPECT_NE(NULL, strstr(text, "shunt"));
	EXPECT_GE(80, strcspn(text, "\n"));
}

TEST_HARNESS_MAIN
