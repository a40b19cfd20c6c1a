// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=3 icount kit-only append="isolcpus=1 nohz_full=2" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * The module's threads avoid CPUs that isolcpus= and nohz_full= isolate, unless a client selects
 * one. Up to 5.17 the kernel rejects the second of both parameters.
 */
#include "family.h"

#include "cpus_of.h"
#include "kselftest_harness.h"

TEST(isolated_cpus_are_avoided)
{
	static struct family f;

	ASSERT_EQ(0, family_open(&f));
	EXPECT_EQ(1, cpus_of("jetwatt"));
	EXPECT_EQ(1, cpus_of("jetwatt-measure"));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 100));
	EXPECT_EQ(1, cpus_of("jetwatt"));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_CPU, 1));
	EXPECT_EQ(2, cpus_of("jetwatt"));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_CPU, 2));
	EXPECT_EQ(4, cpus_of("jetwatt"));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_CPU, JETWATT_CPU_ANY));
	EXPECT_EQ(1, cpus_of("jetwatt"));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 0));
	family_close(&f);
}

TEST_HARNESS_MAIN
