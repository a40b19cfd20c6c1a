// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=90
/* Test the module with sensor chips that fail, disappear and return while the module reads them. */
#include "family.h"

#include "kselftest_harness.h"
#include <signal.h>

#define ADAPTER	"c240000.i2c"
#define SIM_BUS	"/sys/bus/platform/drivers/jetwatt-sim-i2c/"

FIXTURE(board) {
	struct family f, events;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&self->events));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(200);
	ASSERT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	ASSERT_EQ(0, chip_of(&self->f, 1, JETWATT_A_CHIP_LOST));
	ASSERT_EQ(0, family_join(&self->events));
}

FIXTURE_TEARDOWN(board)
{
	write_number(SIM_KNOB("i2c_nak"), 0);
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->f);
	family_close(&self->events);
}

/* Number of samples of @rail, and of those without a shunt voltage (holes). */
struct holes {
	uint32_t rail;
	unsigned int holes, samples;
};

static void note_holes(struct nlmsghdr *nlh, void *arg)
{
	struct holes *h = arg;
	const int32_t *v;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	v = series_of(&b, JETWATT_SERIES_SHUNT_UV, h->rail);
	for (i = 0; v && i < b.count; i++, h->samples++)
		h->holes += v[i] == JETWATT_VALUE_NONE;
}

static unsigned int holes(struct family *f, uint32_t rail, uint64_t seq)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_SAMPLES_GET);
	struct holes h = { .rail = rail };

	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq);
	return dump(f, msg, note_holes, &h) ? ~0U : h.holes;
}

/* After one failed i2c transfer, exactly one tick has no values, and no chip counts as lost. */
TEST_F(board, one_error_loses_no_chip)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;
	uint64_t errors = stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS);

	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_nak"), 1));
	sleep_ms(500);
	EXPECT_EQ(0, read_number(SIM_KNOB("i2c_nak")));
	EXPECT_EQ(errors + 1, stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS));
	EXPECT_EQ(1, holes(&self->f, 0, seq));
	EXPECT_EQ(1, holes(&self->f, 3, seq));
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(NULL, next_event(&self->events, 100, JETWATT_EVENT_CHIP_LOST));
}

/*
 * Both chips must count as lost after ten consecutive errors. The module retries a lost chip once
 * per second: the first retry fails, and the second one succeeds.
 */
TEST_F(board, ten_errors_lose_a_chip)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1, errors0, errors1;
	uint64_t lost_at, back_at;
	struct nlmsghdr *e;

	errors0 = chip_of(&self->f, 0, JETWATT_A_CHIP_ERRORS);
	errors1 = chip_of(&self->f, 1, JETWATT_A_CHIP_ERRORS);
	/* Number of transfers that fail: one for both chips together, then nine for each chip, then
	 * one retry for each chip. */
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_nak"), 1 + 9 + 9 + 2));
	e = next_event(&self->events, 2000, JETWATT_EVENT_CHIP_LOST);
	ASSERT_NE(NULL, e);
	EXPECT_EQ(0, u32_of(e, JETWATT_A_EVENT_CHIP));
	lost_at = u64_of(e, JETWATT_A_EVENT_TIME_NS);
	e = next_event(&self->events, 1000, JETWATT_EVENT_CHIP_LOST);
	ASSERT_NE(NULL, e);
	EXPECT_EQ(1, u32_of(e, JETWATT_A_EVENT_CHIP));
	EXPECT_EQ(1, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(errors0 + 10, chip_of(&self->f, 0, JETWATT_A_CHIP_ERRORS));
	EXPECT_EQ(errors1 + 10, chip_of(&self->f, 1, JETWATT_A_CHIP_ERRORS));

	e = next_event(&self->events, 3000, JETWATT_EVENT_CHIP_BACK);
	ASSERT_NE(NULL, e);
	back_at = u64_of(e, JETWATT_A_EVENT_TIME_NS);
	EXPECT_LE(1900000000, back_at - lost_at);
	EXPECT_GE(2200000000, back_at - lost_at);
	EXPECT_NE(NULL, next_event(&self->events, 1000, JETWATT_EVENT_CHIP_BACK));
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(errors0 + 11, chip_of(&self->f, 0, JETWATT_A_CHIP_ERRORS));
	/* The sampler continued to tick while the chips were lost. */
	EXPECT_LT(seq + 150, stat_of(&self->f, JETWATT_A_STATS_TICKS));
	EXPECT_LT(180, holes(&self->f, 0, seq));
	seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;
	sleep_ms(300);
	EXPECT_EQ(0, holes(&self->f, 0, seq));
	EXPECT_EQ(0, holes(&self->f, 3, seq));
}

/* The hwmon driver is unbound and bound again: the module continues to read the chip. */
TEST_F(board, hwmon_driver_is_rebound)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;

	ASSERT_EQ(0, write_file("/sys/bus/i2c/drivers/ina3221/unbind", "1-0040"));
	sleep_ms(300);
	EXPECT_EQ(0, holes(&self->f, 0, seq));
	ASSERT_EQ(0, write_file("/sys/bus/i2c/drivers/ina3221/bind", "1-0040"));
	sleep_ms(1000);
	EXPECT_EQ(1, rail_of(&self->f, 0, JETWATT_A_RAIL_ENABLED));
	EXPECT_EQ(0, holes(&self->f, 3, seq));
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(NULL, next_event(&self->events, 10, JETWATT_EVENT_CHIP_LOST));
}

/*
 * The adapter is removed while it is being read: the removal must not hang, and when the adapter
 * returns, the chips have the same ids.
 */
TEST_F(board, removed_adapter_returns_with_the_same_chips)
{
	uint64_t start = now_ns(), seq;
	struct batch b;
	int i;

	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, write_file(SIM_BUS "unbind", ADAPTER));
		EXPECT_GT(1000000000, now_ns() - start);
		EXPECT_NE(NULL, next_event(&self->events, 1000, JETWATT_EVENT_CHIP_LOST));
		EXPECT_EQ(1, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
		EXPECT_EQ(1, chip_of(&self->f, 1, JETWATT_A_CHIP_LOST));
		sleep_ms(300);
		ASSERT_EQ(0, write_file(SIM_BUS "bind", ADAPTER));
		EXPECT_NE(NULL, next_event(&self->events, 2000, JETWATT_EVENT_CHIP_BACK));
		EXPECT_NE(NULL, next_event(&self->events, 2000, JETWATT_EVENT_CHIP_BACK));
		sleep_ms(600);
		EXPECT_EQ(2, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
		EXPECT_EQ(4, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RAILS));
		seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;
		sleep_ms(300);
		EXPECT_EQ(0, holes(&self->f, 0, seq));
		EXPECT_EQ(0, holes(&self->f, 3, seq));
		start = now_ns();
	}
	EXPECT_TRUE(next_batch(&self->f, 1000, &b));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

/* Without a chip, the sampler keeps its rate; the module examines the rate once a second. */
TEST_F(board, rate_is_kept_without_chips)
{
	uint32_t hz;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	sleep_ms(1500);
	hz = config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ);
	ASSERT_EQ(0, write_file(SIM_BUS "unbind", ADAPTER));
	sleep_ms(2500);
	EXPECT_EQ(hz, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
	ASSERT_EQ(0, write_file(SIM_BUS "bind", ADAPTER));
	EXPECT_NE(NULL, next_event(&self->events, 2000, JETWATT_EVENT_CHIP_BACK));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

#define MANY	1000

/* Chips that could not be attached are lost until the adapter is bound again. */
TEST_F(board, no_memory_for_a_chip)
{
	ASSERT_EQ(0, write_file(SIM_BUS "unbind", ADAPTER));
	ASSERT_EQ(0, inject("fail_attach", MANY));
	ASSERT_EQ(0, write_file(SIM_BUS "bind", ADAPTER));
	sleep_ms(300);
	/* The module has tried to attach both chips at least once. */
	EXPECT_GE(MANY - 2, injected_left("fail_attach"));
	EXPECT_EQ(0, inject("fail_attach", 0));
	EXPECT_EQ(1, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
	EXPECT_EQ(-ENODEV, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	EXPECT_STREQ("no sensor chip to read", self->f.text);
	EXPECT_EQ(-ENODEV, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, write_file(SIM_BUS "unbind", ADAPTER));
	ASSERT_EQ(0, write_file(SIM_BUS "bind", ADAPTER));
	sleep_ms(300);
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_LOST));
}

/* Numbers of ticks and of missed ticks, and the times in ns before and after they were read. */
struct reckoning {
	uint64_t before, after, ticks, missed;
};

static struct reckoning reckon(struct family *f)
{
	struct reckoning r = { .before = now_ns() };

	r.missed = stat_of(f, JETWATT_A_STATS_MISSED);
	r.ticks = stat_of(f, JETWATT_A_STATS_TICKS);
	r.after = now_ns();
	return r;
}

/* Summary of the events that the module has sent between two readings of the tick counters. */
struct story {
	uint64_t missed_first;	/* missed ticks in the first event that reports any */
	uint64_t due_low, due_high;	/* limits of the number of deadlines */
};

/*
 * If another process keeps the bus busy, the module lowers the sampling rate, and reports this by
 * events. From these events, calculate the lower and upper limit of the number of deadlines between
 * @start and @end: the sum of rate times duration.
 */
static struct story follow(struct family *events, const struct reckoning *start,
			   const struct reckoning *end)
{
	uint64_t t, low = start->after, high = start->before, hz = 0, slack = 3;
	struct story s = {};
	struct nlmsghdr *e = NULL;
	double due_low = 0, due_high = 0;

	while (next_message(events, 10, &e) == JETWATT_CMD_EVENT_NTF) {
		t = u64_of(e, JETWATT_A_EVENT_TIME_NS);
		if (u32_of(e, JETWATT_A_EVENT_KIND) == JETWATT_EVENT_OVERRUN && !s.missed_first)
			s.missed_first = u64_of(e, JETWATT_A_EVENT_VALUE);
		if (u32_of(e, JETWATT_A_EVENT_KIND) != JETWATT_EVENT_CONFIG_CHANGED ||
		    t > end->before)
			continue;
		if (t > start->after) {
			due_low += (t - low) * 1e-9 * hz;
			due_high += (t - high) * 1e-9 * hz;
			low = high = t;
			slack += 2;
		}
		hz = u64_of(e, JETWATT_A_EVENT_VALUE);
	}
	due_low += (end->before - low) * 1e-9 * hz;
	due_high += (end->after - high) * 1e-9 * hz;
	s.due_low = due_low > slack ? due_low - slack : 0;
	s.due_high = due_high + slack;
	return s;
}

/*
 * Another process keeps the bus busy, so that ticks are late. Late ticks are skipped and counted,
 * not repeated, and an event reports their number.
 */
TEST_F(board, late_ticks_are_skipped_and_counted)
{
	struct reckoning start, end;
	uint64_t missed, ticks;
	struct story story;
	char path[128];
	pid_t pid;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 90));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, slow_kernel() ? 300 : 375));
	sleep_ms(100);
	start = reckon(&self->f);
	ASSERT_TRUE(hwmon(0x40, path, sizeof(path)));
	strcat(path, "/in1_input");
	ASSERT_LT(0, read_number(path));
	pid = fork();
	if (!pid)
		for (;;)
			read_number(path);
	sleep_ms(2500);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* The module counts missed ticks only when the sampler continues, so wait for two more
	 * ticks. */
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	EXPECT_TRUE(ticks_reach(&self->f, ticks + 2));
	end = reckon(&self->f);
	story = follow(&self->events, &start, &end);
	missed = end.missed - start.missed;
	ticks = end.ticks - start.ticks;
	TH_LOG("%llu ticks, %llu missed, of %llu to %llu", (unsigned long long)ticks,
	       (unsigned long long)missed, (unsigned long long)story.due_low,
	       (unsigned long long)story.due_high);
	EXPECT_LT(20, missed);
	EXPECT_LE(1, story.missed_first);
	/* An overrun event reports the number of missed ticks since the previous overrun event, so
	 * it is not above the total. */
	EXPECT_LE(story.missed_first, end.missed);
	EXPECT_LE(story.due_low, ticks + missed);
	EXPECT_GE(story.due_high, ticks + missed);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 50));
}

/*
 * Use the module's own fault injection to make one i2c transfer fail before it starts; one tick
 * must lack values.
 */
TEST_F(board, failed_transfer_leaves_one_tick_without_values)
{
	uint64_t seq = stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1;

	ASSERT_EQ(0, inject("fail_transfer", 1));
	sleep_ms(300);
	EXPECT_EQ(1, holes(&self->f, 2, seq));
}

struct emc {
	int32_t value;
};

static void note_emc(struct nlmsghdr *nlh, void *arg)
{
	if (u32_of(nlh, JETWATT_A_CLOCK_KIND) == JETWATT_SERIES_EMC_KHZ)
		((struct emc *)arg)->value = u32_of(nlh, JETWATT_A_CLOCK_VALUE);
}

/*
 * While a clock cannot be read, the module must report the value NONE for it, and the clock again
 * once reading succeeds.
 */
TEST_F(board, unreadable_clock_has_no_value)
{
	struct emc emc = {};

	ASSERT_EQ(0, inject("fail_clock", 100));
	sleep_ms(400);
	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_CLOCK_GET), note_emc, &emc));
	EXPECT_EQ(JETWATT_VALUE_NONE, emc.value);
	ASSERT_EQ(0, inject("fail_clock", 0));
	sleep_ms(400);
	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_CLOCK_GET), note_emc, &emc));
	EXPECT_LT(100000, emc.value);
}

TEST_HARNESS_MAIN
