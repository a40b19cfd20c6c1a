// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221" timeout=240 alone
/* Test loading and unloading of the module in situations that could prevent it. */
#include "family.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#define STEPS	17	/* number of initialization steps */

FIXTURE(modules) {
	struct family f;
};

FIXTURE_SETUP(modules)
{
	unload("jetwatt");
}

FIXTURE_TEARDOWN(modules)
{
	unload("jetwatt");
	EXPECT_NE(0, access("/sys/module/jetwatt", F_OK));
}

/*
 * Make each step of the module's initialisation fail in turn; the module must undo all steps before
 * it.
 */
TEST_F(modules, every_step_fails)
{
	char params[32];
	int i;

	for (i = 1; i <= STEPS; i++) {
		snprintf(params, sizeof(params), "fail_init=%d", i);
		ASSERT_EQ(-ENOMEM, load("jetwatt", params)) TH_LOG("step %d", i);
		ASSERT_NE(0, access("/sys/kernel/debug/jetwatt", F_OK));
		ASSERT_EQ(-ENOENT, family_open(&self->f));
		family_close(&self->f);
	}
	snprintf(params, sizeof(params), "fail_init=%d", i);
	EXPECT_EQ(0, load("jetwatt", params));
	EXPECT_EQ(0, family_open(&self->f));
	EXPECT_EQ(2, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
	family_close(&self->f);
}

TEST_F(modules, parameters_out_of_range_are_refused)
{
	EXPECT_EQ(-EINVAL, load("jetwatt", "ring=63"));
	EXPECT_EQ(-EINVAL, load("jetwatt", "ring=1048577"));
	ASSERT_EQ(0, load("jetwatt", "ring=100"));
	ASSERT_EQ(0, family_open(&self->f));
	EXPECT_EQ(128, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RING));
	family_close(&self->f);
}

/*
 * A batch of the configured size does not fit into a small ring. The module must then send smaller
 * batches, so that a subscriber that reads in time loses no sample.
 */
TEST_F(modules, batch_larger_than_the_ring_is_not_lost)
{
	uint64_t seq = 0;
	struct batch b;
	int i;

	ASSERT_EQ(0, load("jetwatt", "ring=64"));
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 200));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BATCH, 256));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BATCH_AGE_MS, 10000));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(next_batch(&self->f, 5000, &b));
		EXPECT_EQ(0, b.lost);
		if (seq)
			EXPECT_EQ(seq, b.seq);
		seq = b.seq + b.count;
	}
	family_close(&self->f);
}

/* The module can be unloaded while it has two subscribers, of which only one reads: 200 rounds. */
TEST_F_TIMEOUT(modules, load_and_unload_with_subscribers, 200)
{
	static struct family idle;
	struct batch b;
	int i;

	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, load("jetwatt", "")) TH_LOG("round %d", i);
		ASSERT_EQ(0, family_open(&self->f));
		ASSERT_EQ(0, family_open(&idle));
		ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
		ASSERT_EQ(0, simple(&idle, JETWATT_CMD_SUBSCRIBE));
		ASSERT_TRUE(next_batch(&self->f, 1000, &b));
		ASSERT_EQ(0, unload("jetwatt")) TH_LOG("round %d", i);
		EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_INFO_GET));
		family_close(&self->f);
		family_close(&idle);
	}
}

/*
 * Unload the module, with retries: up to Linux 6.0, the kernel frees the unfinished dump of a
 * closed socket, which holds the module, slightly later.
 */
static int unload_soon(void)
{
	int err, i;

	for (i = 0; i < 100; i++) {
		err = unload("jetwatt");
		if (err != -EWOULDBLOCK)
			break;
		sleep_ms(10);
	}
	return err;
}

/* A dump in progress holds the module until its reader has finished or is gone. */
TEST_F(modules, dump_holds_the_module)
{
	static struct family reader;

	ASSERT_EQ(0, load("jetwatt", ""));
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&reader));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 200));
	sleep_ms(5000);
	ASSERT_EQ(0, send_request(&reader, request(&reader, JETWATT_CMD_SAMPLES_GET), NLM_F_DUMP));
	EXPECT_EQ(-EWOULDBLOCK, unload("jetwatt"));
	EXPECT_EQ(0, receive(&reader, NULL, NULL));
	ASSERT_EQ(0, send_request(&reader, request(&reader, JETWATT_CMD_SAMPLES_GET), NLM_F_DUMP));
	EXPECT_EQ(-EWOULDBLOCK, unload("jetwatt"));
	family_close(&reader);
	EXPECT_EQ(0, unload_soon());
	family_close(&self->f);
}

/*
 * It must be possible to unload the module at any time, also while the sampler is in the middle of
 * a tick.
 */
TEST_F(modules, unload_at_any_time)
{
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, load("jetwatt", ""));
		ASSERT_EQ(0, family_open(&self->f));
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 200));
		usleep(i * 700);
		ASSERT_EQ(0, unload("jetwatt"));
		family_close(&self->f);
	}
}

/*
 * Load the board's drivers (jetwatt-sim) after the module, unload them before it, and load them
 * again.
 */
TEST_F(modules, board_comes_later)
{
	struct batch b;

	ASSERT_EQ(0, unload("ina3221"));
	ASSERT_EQ(0, unload("jetwatt_sim"));
	ASSERT_EQ(0, load("jetwatt", ""));
	ASSERT_EQ(0, family_open(&self->f));
	EXPECT_EQ(0, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
	EXPECT_EQ(-ENODEV, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	EXPECT_STREQ("no sensor chip to read", self->f.text);
	EXPECT_EQ(-ENODEV, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 10));

	ASSERT_EQ(0, load("jetwatt-sim", ""));
	sleep_ms(200);
	EXPECT_EQ(2, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
	EXPECT_EQ(4, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RAILS));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	EXPECT_NE(NULL, series_of(&b, JETWATT_SERIES_SHUNT_UV, 3));
	/* It must be possible to unload the driver of the clocks and the i2c adapter while the
	 * module uses them. */
	sleep_ms(1200);
	while (next_batch(&self->f, 50, &b))
		;
	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	EXPECT_NE(NULL, series_of(&b, JETWATT_SERIES_GPU_KHZ, 0));
	EXPECT_NE(NULL, series_of(&b, JETWATT_SERIES_EMC_KHZ, 0));
	EXPECT_NE(NULL, series_of(&b, JETWATT_SERIES_CPU_KHZ, 0));
	ASSERT_EQ(0, unload("jetwatt_sim"));
	EXPECT_EQ(1, chip_of(&self->f, 1, JETWATT_A_CHIP_LOST));
	ASSERT_EQ(0, load("jetwatt-sim", ""));
	sleep_ms(200);
	EXPECT_EQ(0, chip_of(&self->f, 1, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(2, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
	family_close(&self->f);
	ASSERT_EQ(0, load("ina3221", ""));
}

static int perf_open_total(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config = 1 };

	attr.type = read_number("/sys/bus/event_source/devices/jetwatt/type");
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * A perf event is open before the chips are attached, on a bus that is four times as fast as its
 * device tree says. Nothing has read the chips before the sampler starts, so the module must
 * measure the bus first: its first rate must not be that of the slow bus (208 Hz).
 */
TEST_F(modules, bus_is_measured_when_chips_come_late)
{
	struct nlmsghdr *e;
	uint64_t hz = 0;
	int perf;

	ASSERT_EQ(0, unload("jetwatt_sim"));
	ASSERT_EQ(0, load("jetwatt", "idle_hz=0"));
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_join(&self->f));
	perf = perf_open_total();
	ASSERT_LE(0, perf) TH_LOG("%s", strerror(errno));
	ASSERT_EQ(0, load("jetwatt-sim", "tell_hz=0 bus_hz=400000"));
	while (!hz) {
		e = next_event(&self->f, 3000, JETWATT_EVENT_CONFIG_CHANGED);
		ASSERT_NE(NULL, e);
		hz = u64_of(e, JETWATT_A_EVENT_VALUE);
	}
	TH_LOG("first rate: %llu Hz", (unsigned long long)hz);
	EXPECT_LT(300, hz);
	close(perf);
	family_close(&self->f);
	ASSERT_EQ(0, unload("jetwatt"));
	ASSERT_EQ(0, unload("jetwatt_sim"));
	ASSERT_EQ(0, load("jetwatt-sim", ""));
}

TEST_HARNESS_MAIN
