// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim bus_hz=400000;ina3221;jetwatt" timeout=90 alone
/*
 * Test the wake-up latency of the sampler thread on a guest with one CPU, which is idle or runs
 * tasks that never sleep. The guest runs in virtual time, so the latency is caused by the guest's
 * scheduler and the module, and not by the host. Also test the highest rates of the sampler.
 */
#include "family.h"

#include "kselftest_harness.h"
#include <signal.h>

static unsigned int spin(pid_t *pid, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pid[i] = fork();
		if (!pid[i])
			for (;;)
				;
	}
	return n;
}

static void stop(pid_t *pid, unsigned int n)
{
	while (n--) {
		kill(pid[n], SIGKILL);
		waitpid(pid[n], NULL, 0);
	}
}

/* Return: CPU time of the sampler thread so far, in nanoseconds. */
static uint64_t thread_ns(void)
{
	char path[64], text[128];
	unsigned int pid;

	for (pid = 2; pid < 2000; pid++) {
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		if (read_file(path, text, sizeof(text)) || strcmp(text, "jetwatt"))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/schedstat", pid);
		if (!read_file(path, text, sizeof(text)))
			return strtoull(text, NULL, 10);
	}
	return 0;
}

FIXTURE(sampler) {
	struct family f;
};

FIXTURE_SETUP(sampler)
{
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(sampler)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->f);
}

FIXTURE_VARIANT(sampler) {
	unsigned int spinning;
};

FIXTURE_VARIANT_ADD(sampler, idle) { .spinning = 0 };
FIXTURE_VARIANT_ADD(sampler, one) { .spinning = 1 };
FIXTURE_VARIANT_ADD(sampler, four) { .spinning = 4 };

/*
 * Ten seconds at 400 Hz. Take the latency from the sampler's histogram and, independently, from the
 * times of the samples, whose distances must not exceed the period by half of it.
 */
TEST_F(sampler, wakes_in_time)
{
	uint64_t ticks, missed, end, period = 2500000, worst = 0, gap, last = 0, n = 0, lost = 0;
	uint64_t ours;
	struct timespec before, after;
	struct batch b;
	pid_t pid[4];
	uint32_t i;
	double cpu;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 400));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	spin(pid, variant->spinning);
	missed = stat_of(&self->f, JETWATT_A_STATS_MISSED);
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	ours = thread_ns();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	end = now_ns() + 10000000000ULL;
	while (now_ns() < end) {
		ASSERT_TRUE(next_batch(&self->f, 2000, &b));
		for (i = 0; i < b.count; i++, n++) {
			gap = b.time_ns[i] - last;
			if (last && gap > period && gap - period > worst)
				worst = gap - period;
			last = b.time_ns[i];
		}
		lost = b.lost;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	ours = thread_ns() - ours;
	cpu = (after.tv_sec - before.tv_sec) * 1e9 + after.tv_nsec - before.tv_nsec;
	stop(pid, variant->spinning);
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS) - ticks;
	missed = stat_of(&self->f, JETWATT_A_STATS_MISSED) - missed;
	TH_LOG("sampler thread, including the simulated bus: %llu ns a tick",
	       (unsigned long long)(ours / (ticks ?: 1)));
	TH_LOG("%u spinning: %llu ticks, %llu missed, late p50 %llu ns, p99 %llu, max %llu; "
	       "widest gap +%llu ns; reader %.0f ns a sample", variant->spinning,
	       (unsigned long long)ticks, (unsigned long long)missed,
	       (unsigned long long)stat_of(&self->f, JETWATT_A_STATS_LATE_P50_NS),
	       (unsigned long long)stat_of(&self->f, JETWATT_A_STATS_LATE_P99_NS),
	       (unsigned long long)stat_of(&self->f, JETWATT_A_STATS_LATE_MAX_NS),
	       (unsigned long long)worst, cpu / (n ?: 1));
	EXPECT_LT(0, ours);
	EXPECT_EQ(0, missed);
	EXPECT_EQ(0, lost);
	EXPECT_LE(3990, ticks);
	EXPECT_LT(0, stat_of(&self->f, JETWATT_A_STATS_LATE_P50_NS));
	if (slow_kernel())
		return;
	EXPECT_GE(4100, ticks);
	EXPECT_GE(131072, stat_of(&self->f, JETWATT_A_STATS_LATE_P99_NS));
	/* A tick that missed its deadline would be late by a whole period. */
	EXPECT_GT(period / 2, worst);
}

/*
 * Set the conversion interval of both chips to @ms[0] and @ms[1] milliseconds by the attribute
 * update_interval of the hwmon driver, and return the previous intervals in @ms.
 */
static bool swap_intervals(long *ms)
{
	char dir[96], path[128];
	long old;
	int i;

	for (i = 0; i < 2; i++) {
		if (!hwmon(0x40 + i, dir, sizeof(dir)))
			return false;
		snprintf(path, sizeof(path), "%s/update_interval", dir);
		old = read_number(path);
		if (old < 0 || write_number(path, ms[i]))
			return false;
		ms[i] = old;
	}
	return true;
}

/*
 * Since 6.7, the kernel frees hundreds of pages from the per-CPU page lists every second, and
 * disables interrupts for 0.2 ms at a time on this slow CPU. A tick takes 0.7 ms of its period of 1
 * ms, which leaves only 0.3 ms. If the lists have a fixed share of memory, the kernel does not free
 * their pages.
 */
static void keep_spare_pages(void)
{
	write_number("/proc/sys/vm/percpu_pagelist_high_fraction", 8);
}

/*
 * Take a thousand samples per second: the test sets the chips to conversions of 140 us through the
 * hwmon driver's attributes, and the module must then permit this rate.
 */
TEST(thousand_samples_per_second)
{
	static struct family f;
	uint64_t ticks, missed, n = 0, end;
	long ms[2] = { 0, 0 };
	struct batch b;

	keep_spare_pages();
	ASSERT_EQ(0, family_open(&f));
	EXPECT_EQ(-ERANGE, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 1000));
	ASSERT_TRUE(swap_intervals(ms));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 70));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 1000)) TH_LOG("%s", f.text);
	ASSERT_EQ(0, simple(&f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&f, 1000, &b));
	ticks = stat_of(&f, JETWATT_A_STATS_TICKS);
	missed = stat_of(&f, JETWATT_A_STATS_MISSED);
	for (end = now_ns() + 5000000000ULL; now_ns() < end; n += b.count)
		ASSERT_TRUE(next_batch(&f, 1000, &b));
	ticks = stat_of(&f, JETWATT_A_STATS_TICKS) - ticks;
	missed = stat_of(&f, JETWATT_A_STATS_MISSED) - missed;
	TH_LOG("%llu ticks, %llu missed; read %llu mHz, fresh %llu; bus %llu permille, a tick %llu ns",
	       (unsigned long long)ticks, (unsigned long long)missed,
	       (unsigned long long)rail_of(&f, 0, JETWATT_A_RAIL_READ_MHZ),
	       (unsigned long long)rail_of(&f, 0, JETWATT_A_RAIL_FRESH_MHZ),
	       (unsigned long long)stat_of(&f, JETWATT_A_STATS_BUS_PERMILLE),
	       (unsigned long long)stat_of(&f, JETWATT_A_STATS_TICK_NS));
	EXPECT_EQ(0, b.lost);
	if (!slow_kernel()) {
		EXPECT_EQ(0, missed);
		EXPECT_LE(4990, ticks);
		EXPECT_LE(995000, rail_of(&f, 0, JETWATT_A_RAIL_FRESH_MHZ));
	}
	EXPECT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 50));
	EXPECT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 0));
	EXPECT_TRUE(swap_intervals(ms));
	family_close(&f);
}

/*
 * Set a sampling rate that buses and chips permit, but that this CPU is too slow for: the module
 * must find the highest possible rate within seconds and keep it.
 */
TEST(rate_is_limited_by_the_cpu)
{
	static struct family f;
	uint64_t ticks, missed;
	uint32_t granted, kept, most = 0;
	long ms[2] = { 0, 0 };

	ASSERT_EQ(0, family_open(&f));
	ASSERT_TRUE(swap_intervals(ms));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 90));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 500));
	/* Request slightly less than the reported limit, because the module measures the duration
	 * of transfers again at each request. */
	granted = config_of(&f, JETWATT_A_CONFIG_RATE_MAX_HZ) * 31 / 32;
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, granted)) TH_LOG("%s", f.text);
	sleep_ms(4000);
	kept = config_of(&f, JETWATT_A_CONFIG_ACTIVE_HZ);
	ticks = stat_of(&f, JETWATT_A_STATS_TICKS);
	missed = stat_of(&f, JETWATT_A_STATS_MISSED);
	sleep_ms(4000);
	ticks = stat_of(&f, JETWATT_A_STATS_TICKS) - ticks;
	missed = stat_of(&f, JETWATT_A_STATS_MISSED) - missed;
	EXPECT_EQ(-ERANGE, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, granted));
	TH_LOG("%u Hz granted, %u kept: %llu ticks, %llu missed; then \"%s\"", granted, kept,
	       (unsigned long long)ticks, (unsigned long long)missed, f.text);
	EXPECT_NE(NULL, strstr(f.text, "CPU"));
	EXPECT_EQ(1, sscanf(f.text, "at most %u Hz", &most));
	EXPECT_LT(most, granted);
	/* The module lowers the active rate only if it is more than a sixteenth above the possible
	 * one. */
	EXPECT_LE(kept, granted);
	EXPECT_GE(most + most / 15, kept);
	if (!slow_kernel()) {
		/* The active rate is at most a sixteenth above the possible one, so at most a
		 * sixteenth of the ticks is missed. On a busy host, the possible rate changes from
		 * second to second. */
		EXPECT_GE(ticks / 15, missed);
		EXPECT_LE(kept * 4 - kept / 4, ticks);
	}
	EXPECT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 50));
	EXPECT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 0));
	EXPECT_TRUE(swap_intervals(ms));
	family_close(&f);
}

TEST_HARNESS_MAIN
