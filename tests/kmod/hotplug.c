// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=4 mttcg modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=120 alone
/* CPUs go offline and come back under the sampler. Nothing is said about time here. */
#include "family.h"

#include "kselftest_harness.h"

FIXTURE(cpus) {
	struct family f;
};

FIXTURE_SETUP(cpus)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
}

FIXTURE_TEARDOWN(cpus)
{
	unsigned int cpu;
	char path[64];

	for (cpu = 1; cpu < 4; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
		write_number(path, 1);
	}
	family_close(&self->f);
}

static int online(unsigned int cpu, int on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_number(path, on);
}

/* The last value of the newest batch. */
static int32_t newest(struct family *f, uint32_t kind)
{
	const int32_t *v;
	struct batch b;
	int32_t value = -1;

	while (next_batch(f, value < 0 ? 5000 : 1, &b)) {
		v = series_of(&b, kind, 0);
		if (v)
			value = v[b.count - 1];
	}
	return value;
}

TEST_F(cpus, storm)
{
	unsigned int round, cpu;

	EXPECT_EQ(4, newest(&self->f, JETWATT_SERIES_CORES));
	for (round = 0; round < 5; round++) {
		for (cpu = 1; cpu < 4; cpu++)
			ASSERT_EQ(0, online(cpu, 0));
		sleep_ms(300);
		EXPECT_EQ(1, newest(&self->f, JETWATT_SERIES_CORES));
		EXPECT_LT(0, newest(&self->f, JETWATT_SERIES_CPU_KHZ));
		for (cpu = 1; cpu < 4; cpu++)
			ASSERT_EQ(0, online(cpu, 1));
		sleep_ms(300);
		EXPECT_EQ(4, newest(&self->f, JETWATT_SERIES_CORES));
	}
}

/* The sampler's thread is bound to nothing: CPU 0, on which it began, may go too. */
TEST_F(cpus, first_one_goes)
{
	uint64_t ticks;

	if (online(0, 0))
		SKIP(return, "CPU 0 of this machine stays online");
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	sleep_ms(500);
	EXPECT_LT(ticks, stat_of(&self->f, JETWATT_A_STATS_TICKS));
	EXPECT_EQ(3, newest(&self->f, JETWATT_SERIES_CORES));
	/* The policy's clock is read on a CPU that is there. */
	EXPECT_LT(0, newest(&self->f, JETWATT_SERIES_CPU_KHZ));
	EXPECT_EQ(0, online(0, 1));
}

TEST_HARNESS_MAIN
