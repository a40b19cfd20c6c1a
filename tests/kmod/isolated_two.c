// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=3 icount kit-only append="isolcpus=1 nohz_full=2" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * CPUs that isolcpus= and nohz_full= set apart are left alone, unless a client asks for one.
 * Up to 5.17 the kernel takes the second of the two for a mistake.
 */
#include "family.h"

#include <sched.h>

#include "kselftest_harness.h"

/* CPUs that a kernel thread may use, as a mask; 0: there is no such thread. */
static unsigned int cpus_of(const char *comm)
{
	char path[300], text[512], name[32];
	DIR *dir = opendir("/proc");
	unsigned int mask = 0;
	struct dirent *e;
	cpu_set_t set;

	snprintf(name, sizeof(name), "(%s)", comm);
	while (dir && !mask && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (read_file(path, text, sizeof(text)) || !strstr(text, name) ||
		    sched_getaffinity(atoi(text), sizeof(set), &set))
			continue;
		mask = CPU_ISSET(0, &set) | CPU_ISSET(1, &set) << 1 | CPU_ISSET(2, &set) << 2;
	}
	if (dir)
		closedir(dir);
	return mask;
}

TEST(both_left_alone)
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
