// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * Compare the module's readings with those of the hwmon driver of the same chips at the same time,
 * and test that the module does not affect the hwmon driver.
 */
#include "family.h"

#include "kselftest_harness.h"

static long attribute(unsigned int addr, const char *name)
{
	char dir[128], path[192];

	if (!hwmon(addr, dir, sizeof(dir)))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_number(path);
}

static int set_attribute(unsigned int addr, const char *name, long value)
{
	char dir[128], path[192];

	if (!hwmon(addr, dir, sizeof(dir)))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return write_number(path, value);
}

struct mean {
	double shunt, bus;
	unsigned int shunts, buses;
};

static void add(struct mean *m, const struct batch *b, uint32_t rail)
{
	const int32_t *shunt = series_of(b, JETWATT_SERIES_SHUNT_UV, rail);
	const int32_t *bus = series_of(b, JETWATT_SERIES_BUS_UV, rail);
	uint32_t i;

	for (i = 0; shunt && bus && i < b->count; i++) {
		if (shunt[i] != JETWATT_VALUE_NONE) {
			m->shunt += shunt[i];
			m->shunts++;
		}
		if (bus[i] != JETWATT_VALUE_NONE) {
			m->bus += bus[i];
			m->buses++;
		}
	}
}

static const struct {
	unsigned int addr;
	const char *shunt, *bus;
} rails[] = {
	{ 0x40, "in4_input", "in1_input" }, { 0x40, "in5_input", "in2_input" },
	{ 0x40, "in6_input", "in3_input" }, { 0x41, "in5_input", "in2_input" },
};

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
}

FIXTURE_TEARDOWN(board)
{
	family_close(&self->f);
}

/*
 * The mean shunt and bus voltages over two seconds, as read by the module and by hwmon, must differ
 * by at most one LSB (40 uV and 8 mV).
 */
TEST_F(board, values_agree_with_hwmon)
{
	struct mean ours[4] = {};
	double shunt[4] = {}, bus[4] = {};
	uint64_t end = now_ns() + 2000000000ULL;
	unsigned int n = 0, i;
	struct batch b;

	while (now_ns() < end) {
		ASSERT_TRUE(next_batch(&self->f, 1000, &b));
		for (i = 0; i < 4; i++)
			add(&ours[i], &b, i);
		for (i = 0; i < 4; i++) {
			shunt[i] += attribute(rails[i].addr, rails[i].shunt);
			bus[i] += attribute(rails[i].addr, rails[i].bus);
		}
		n++;
	}
	ASSERT_LT(5, n);
	for (i = 0; i < 4; i++) {
		ASSERT_LT(100, ours[i].shunts);
		ASSERT_LT(20, ours[i].buses);
		TH_LOG("rail %u: shunt %.1f uV, hwmon %.1f; bus %.1f mV, hwmon %.1f", i,
		       ours[i].shunt / ours[i].shunts, shunt[i] / n,
		       ours[i].bus / ours[i].buses / 1000, bus[i] / n);
		/* No shunt voltage must be close to zero, because then the comparison would prove
		 * nothing. */
		EXPECT_LT(100, shunt[i] / n);
		EXPECT_GE(40, ours[i].shunt / ours[i].shunts - shunt[i] / n);
		EXPECT_LE(-40, ours[i].shunt / ours[i].shunts - shunt[i] / n);
		EXPECT_GE(8, ours[i].bus / ours[i].buses / 1000 - bus[i] / n);
		EXPECT_LE(-8, ours[i].bus / ours[i].buses / 1000 - bus[i] / n);
	}
}

/*
 * The first sample of a subscription must have all bus voltages, and every sample must have all
 * shunt voltages.
 */
TEST_F(board, first_sample_is_complete)
{
	const int32_t *v;
	struct batch b;
	uint32_t i, k;

	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	for (i = 0; i < 4; i++) {
		v = series_of(&b, JETWATT_SERIES_BUS_UV, i);
		ASSERT_NE(NULL, v);
		EXPECT_NE(JETWATT_VALUE_NONE, v[0]);
		v = series_of(&b, JETWATT_SERIES_SHUNT_UV, i);
		ASSERT_NE(NULL, v);
		for (k = 0; k < b.count; k++)
			EXPECT_NE(JETWATT_VALUE_NONE, v[k]);
	}
}

TEST_F(board, sequence_has_no_gaps_and_times_increase)
{
	uint64_t seq = 0, time = 0;
	unsigned int i, k;
	struct batch b;

	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(next_batch(&self->f, 1000, &b));
		if (seq)
			ASSERT_EQ(seq, b.seq);
		for (k = 0; k < b.count; k++) {
			ASSERT_LT(time, b.time_ns[k]);
			time = b.time_ns[k];
		}
		ASSERT_EQ(0, b.lost);
		seq = b.seq + b.count;
	}
	EXPECT_GT(1000000000, now_ns() - time);
}

/*
 * Set the critical limit below the current, restore it, and let only the module read the chip for
 * many ticks. The alarm flag of the chip must still be set afterwards.
 */
TEST_F(board, reads_of_the_module_clear_no_alarm)
{
	long old = attribute(0x40, "curr1_crit");
	uint64_t ticks;

	attribute(0x40, "curr1_crit_alarm");
	attribute(0x40, "curr1_crit_alarm");
	EXPECT_EQ(0, attribute(0x40, "curr1_crit_alarm"));
	ASSERT_EQ(0, set_attribute(0x40, "curr1_crit", 20));
	sleep_ms(50);
	ASSERT_EQ(0, set_attribute(0x40, "curr1_crit", old));
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	sleep_ms(500);
	EXPECT_LT(ticks + 50, stat_of(&self->f, JETWATT_A_STATS_TICKS));
	EXPECT_EQ(1, attribute(0x40, "curr1_crit_alarm"));
	EXPECT_EQ(0, attribute(0x40, "curr1_crit_alarm"));
}

/*
 * When a channel is disabled through hwmon, the module must report its rail as disabled and its
 * values as NONE.
 */
TEST_F(board, disabled_channel_has_no_values)
{
	const int32_t *v;
	struct batch b;
	int i;

	ASSERT_EQ(1, rail_of(&self->f, 1, JETWATT_A_RAIL_ENABLED));
	ASSERT_EQ(0, set_attribute(0x40, "in2_enable", 0));
	sleep_ms(1500);
	for (i = 0; i < 10; i++)
		next_batch(&self->f, 1000, &b);
	EXPECT_EQ(0, rail_of(&self->f, 1, JETWATT_A_RAIL_ENABLED));
	EXPECT_EQ(0, rail_of(&self->f, 1, JETWATT_A_RAIL_READ_MHZ));
	EXPECT_EQ(1, rail_of(&self->f, 0, JETWATT_A_RAIL_ENABLED));
	while (next_batch(&self->f, 50, &b))
		;
	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	v = series_of(&b, JETWATT_SERIES_SHUNT_UV, 1);
	ASSERT_NE(NULL, v);
	EXPECT_EQ(JETWATT_VALUE_NONE, v[b.count - 1]);
	v = series_of(&b, JETWATT_SERIES_SHUNT_UV, 0);
	EXPECT_NE(JETWATT_VALUE_NONE, v[b.count - 1]);
	ASSERT_EQ(0, set_attribute(0x40, "in2_enable", 1));
	sleep_ms(1500);
	EXPECT_EQ(1, rail_of(&self->f, 1, JETWATT_A_RAIL_ENABLED));
}

/*
 * A channel is disabled through hwmon just before the sampler starts. To measure the bus clock, the
 * module then reads the chip's configuration before the sampler thread does, so the thread sees no
 * change of it; the total and the rail graph must nevertheless be updated.
 */
TEST_F(board, channel_disabled_while_parked_leaves_the_total)
{
	int on;

	/* Disable and enable VIN_SYS_5V0, which feeds the fourth rail. */
	for (on = 0; on <= 1; on++) {
		ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
		sleep_ms(700);
		ASSERT_EQ(0, set_attribute(0x40, "in3_enable", on));
		ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
		sleep_ms(1500);
		EXPECT_EQ(on, rail_of(&self->f, 2, JETWATT_A_RAIL_ENABLED));
		EXPECT_EQ(on, rail_of(&self->f, 2, JETWATT_A_RAIL_IN_TOTAL));
		EXPECT_EQ(!on, rail_of(&self->f, 3, JETWATT_A_RAIL_IN_TOTAL));
		EXPECT_EQ(on ? 2 : UINT64_MAX, rail_of(&self->f, 3, JETWATT_A_RAIL_PARENT));
		EXPECT_EQ(on ? JETWATT_SCOPE_MODULE : JETWATT_SCOPE_PARTIAL,
			  number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_TOTAL_SCOPE));
	}
}

TEST_HARNESS_MAIN
