// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=4 mttcg modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=120 alone
/* CPUs go offline and online while the sampler runs. This test does not check timing. */
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

/* Return: the last value of series @kind in the newest batch of samples. */
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

/*
 * Return: number of online CPUs in the samples, as soon as it is @want or after 10 s, because a
 * busy host delays the change.
 */
static int32_t cores_until(struct family *f, int32_t want)
{
	uint64_t end = now_ns() + 10000000000ULL;
	int32_t n;

	do
		n = newest(f, JETWATT_SERIES_CORES);
	while (n != want && now_ns() < end);
	return n;
}

TEST_F_TIMEOUT(cpus, number_of_cores_follows_repeated_hotplug, 100)
{
	unsigned int round, cpu;

	EXPECT_EQ(4, newest(&self->f, JETWATT_SERIES_CORES));
	for (round = 0; round < 5; round++) {
		for (cpu = 1; cpu < 4; cpu++)
			ASSERT_EQ(0, online(cpu, 0));
		EXPECT_EQ(1, cores_until(&self->f, 1));
		EXPECT_LT(0, newest(&self->f, JETWATT_SERIES_CPU_KHZ));
		for (cpu = 1; cpu < 4; cpu++)
			ASSERT_EQ(0, online(cpu, 1));
		EXPECT_EQ(4, cores_until(&self->f, 4));
	}
}

/* The sampler thread is not pinned to CPU 0, so it continues when CPU 0 goes offline. */
TEST_F(cpus, cpu0_goes_offline)
{
	uint64_t ticks;

	if (online(0, 0))
		SKIP(return, "CPU 0 of this machine stays online");
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	EXPECT_EQ(3, cores_until(&self->f, 3));
	EXPECT_TRUE(ticks_reach(&self->f, ticks + 1));
	/* The module must read the clock of a CPU cluster on one of its CPUs that is online. */
	EXPECT_LT(0, newest(&self->f, JETWATT_SERIES_CPU_KHZ));
	EXPECT_EQ(0, online(0, 1));
}

TEST_HARNESS_MAIN
