// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=150
/* Test faults of the bus and of the machine while the sampler runs. */
#include "family.h"

#include <signal.h>
#include <sys/timex.h>

#include "kselftest_harness.h"

#define GPU	"/sys/bus/platform/drivers/jetwatt-sim-gpu/"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"

FIXTURE(board) {
	struct family f, events;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&self->events));
	ASSERT_EQ(0, family_join(&self->events));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(200);
}

FIXTURE_TEARDOWN(board)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->events);
	family_close(&self->f);
}

struct holes {
	uint32_t rail, samples, holes, disorder;
	uint64_t last_ns;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	struct holes *h = arg;
	const int32_t *v;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	v = series_of(&b, JETWATT_SERIES_SHUNT_UV, h->rail);
	for (i = 0; v && i < b.count; i++, h->samples++) {
		h->holes += v[i] == JETWATT_VALUE_NONE;
		h->disorder += b.time_ns[i] <= h->last_ns;
		h->last_ns = b.time_ns[i];
	}
}

static int dump_holes(struct family *f, uint32_t rail, uint64_t seq, struct holes *h)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_SAMPLES_GET);

	*h = (struct holes){ .rail = rail };
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq);
	return dump(f, msg, note, h);
}

/*
 * If the transfer that reads several chips fails in the middle, none of these chips must have a value
 * in this tick.
 */
TEST_F(board, failed_transfer_leaves_no_partial_tick)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;
	uint64_t errors = stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS);
	struct holes h;

	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_nak_late"), 1));
	sleep_ms(500);
	EXPECT_EQ(0, read_number(SIM_KNOB("i2c_nak_late")));
	EXPECT_EQ(errors + 1, stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS));
	for (uint32_t rail = 0; rail < 4; rail++) {
		ASSERT_EQ(0, dump_holes(&self->f, rail, seq, &h));
		EXPECT_EQ(1, h.holes);
	}
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
}

/*
 * The i2c bus is stuck, so each transfer takes a second until it times out. The chips must count as
 * lost after the first timeout, retries must become rare, requests must wait for one retry at most,
 * and the chips must return when the bus is free.
 */
TEST_F(board, stuck_bus_delays_requests_by_one_retry)
{
	uint64_t start, errors = stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS);
	struct family *f = &self->f;

	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 1000));
	EXPECT_NE(NULL, next_event(&self->events, 3000, JETWATT_EVENT_CHIP_LOST));
	EXPECT_NE(NULL, next_event(&self->events, 1000, JETWATT_EVENT_CHIP_LOST));
	EXPECT_EQ(1, chip_of(f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(1, chip_of(f, 1, JETWATT_A_CHIP_LOST));
	sleep_ms(12000);
	errors = stat_of(f, JETWATT_A_STATS_I2C_ERRORS) - errors;
	TH_LOG("%llu timeouts in 13 s", (unsigned long long)errors);
	EXPECT_GE(4, errors);
	start = now_ns();
	EXPECT_EQ(0, simple(f, JETWATT_CMD_SUBSCRIBE));
	EXPECT_EQ(0, simple(f, JETWATT_CMD_CONFIG_GET));
	EXPECT_GT(2500000000, now_ns() - start);
	EXPECT_EQ(0, simple(f, JETWATT_CMD_UNSUBSCRIBE));
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 0));
	EXPECT_NE(NULL, next_event(&self->events, 12000, JETWATT_EVENT_CHIP_BACK));
	EXPECT_NE(NULL, next_event(&self->events, 12000, JETWATT_EVENT_CHIP_BACK));
	EXPECT_LT(5, stat_of(f, JETWATT_A_STATS_MISSED));
}

/* If the module is unloaded while a transfer hangs, unloading waits for that transfer only. */
TEST_F(board, unload_with_a_stuck_bus)
{
	uint64_t start;

	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 1000));
	sleep_ms(300);
	start = now_ns();
	EXPECT_EQ(0, unload("jetwatt"));
	EXPECT_GT(3000000000, now_ns() - start);
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 0));
	ASSERT_EQ(0, load("jetwatt", ""));
	family_close(&self->f);
	family_close(&self->events);
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&self->events));
}

struct gpu {
	int32_t khz;
};

static void note_gpu(struct nlmsghdr *nlh, void *arg)
{
	if (u32_of(nlh, JETWATT_A_CLOCK_KIND) == JETWATT_SERIES_GPU_KHZ)
		((struct gpu *)arg)->khz = u32_of(nlh, JETWATT_A_CLOCK_VALUE);
}

static int32_t gpu_khz(struct family *f)
{
	struct gpu gpu = { -1 };

	return dump(f, request(f, JETWATT_CMD_CLOCK_GET), note_gpu, &gpu) ? -2 : gpu.khz;
}

/*
 * Unbind and bind the GPU's driver while the module reads the GPU clock a hundred times a second.
 */
TEST_F(board, gpu_driver_is_rebound)
{
	char device[64] = "";
	struct dirent *e;
	int i;
	DIR *dir = opendir(GPU);

	while (dir && (e = readdir(dir)))
		if (strstr(e->d_name, ".gpu"))
			snprintf(device, sizeof(device), "%.60s", e->d_name);
	if (dir)
		closedir(dir);
	ASSERT_NE('\0', device[0]);
	EXPECT_LT(100000, gpu_khz(&self->f));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, write_file(GPU "unbind", device));
		EXPECT_EQ(JETWATT_VALUE_NONE, gpu_khz(&self->f));
		sleep_ms(50);
		ASSERT_EQ(0, write_file(GPU "bind", device));
		sleep_ms(1300);
		EXPECT_LT(100000, gpu_khz(&self->f));
	}
}

#define SOME_DAY	1700000000	/* in 2023 */

/*
 * Set the wall clock back and forth; this must not change the times of samples, which use another
 * clock.
 */
TEST_F(board, wall_clock_does_not_change_sample_times)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;
	uint64_t missed = stat_of(&self->f, JETWATT_A_STATS_MISSED);
	struct timespec now, then = { .tv_sec = SOME_DAY };
	struct holes h;
	int i;

	/*
	 * Without an RTC that the kernel reads at boot (JetPack 5 uses rtc1), the year is 1970, and
	 * the clock cannot be set to a time before boot.
	 */
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &now));
	if (now.tv_sec < SOME_DAY)
		ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &then));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &now));
		then = now;
		then.tv_sec += i % 2 ? -86400 : 86400;
		ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &then));
		sleep_ms(100);
	}
	ASSERT_EQ(0, dump_holes(&self->f, 0, seq, &h));
	EXPECT_LE(95, h.samples);
	EXPECT_GE(115, h.samples);
	EXPECT_EQ(0, h.disorder);
	EXPECT_GE(missed + 2, stat_of(&self->f, JETWATT_A_STATS_MISSED));
}

/*
 * Suspend and resume the machine, up to the point where firmware would take over; a subscriber must
 * see nothing but a gap in the times of the samples.
 */
TEST_F(board, suspend_is_a_gap_in_the_sample_times)
{
	/*
	 * With pm_test set, the kernel resumes by itself after this number of seconds, five by default. It
	 * waits in a busy loop, so only one suspend is longer than the limits of the module for values
	 * that are too old.
	 */
	static const struct {
		const char *depth;
		int seconds;
	} test[] = { { "freezer", 1 }, { "devices", 1 }, { "platform", 3 } };
	uint64_t ticks, errors = stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS);
	struct batch b;
	size_t i;

	if (access("/sys/power/pm_test", W_OK))
		SKIP(return, "this kernel cannot simulate suspend");
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, write_file("/sys/power/pm_test", test[i].depth));
		ASSERT_EQ(0, write_number(PM_TEST_DELAY, test[i].seconds));
		EXPECT_EQ(0, write_file("/sys/power/state", "freeze")) TH_LOG("%s", test[i].depth);
		while (next_batch(&self->f, 200, &b) && b.time_ns[b.count - 1] + 300000000 < now_ns())
			;
		ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
		sleep_ms(1000);
		EXPECT_LT(ticks + 80, stat_of(&self->f, JETWATT_A_STATS_TICKS));
		EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	}
	write_file("/sys/power/pm_test", "none");
	EXPECT_EQ(0, write_number(PM_TEST_DELAY, 5));
	EXPECT_EQ(errors, stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

TEST_HARNESS_MAIN
