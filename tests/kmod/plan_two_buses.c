// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/two-buses.dtso modules="jetwatt-sim adc_offset_uv=800;ina3221;i2c-dev;jetwatt" timeout=120
/*
 * Test what ticks read from two buses, which are read one after the other: at a rate at which each
 * bus alone has the time to read all shunts, a tick may be too short for both. On each bus, three
 * shunts and one bus voltage take 4 x 48 bits, a sum and one register 2 x 48 bits, at 100 kHz.
 */
#include "chip_register.h"
#include "family.h"

#include "kselftest_harness.h"

/* Make a chip convert as fast as possible, and select all channels for its sum. */
static int prepare(unsigned int bus, uint16_t addr)
{
	return write_register(bus, addr, 0, 0x7007) ?: write_register(bus, addr, 0x0f, 0x7000);
}

/* Number of ticks, and of those with a chip's sum and with its first shunt. */
struct seen {
	uint32_t ticks, sums[2], shunts[2];
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	const int32_t *sum, *shunt;
	struct seen *s = arg;
	struct batch b;
	uint32_t i, chip;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	s->ticks += b.count;
	for (chip = 0; chip < 2; chip++) {
		sum = series_of(&b, JETWATT_SERIES_SUM_UV, chip);
		shunt = series_of(&b, JETWATT_SERIES_SHUNT_UV, 3 * chip);
		for (i = 0; i < b.count; i++) {
			s->sums[chip] += sum && sum[i] != JETWATT_VALUE_NONE;
			s->shunts[chip] += shunt[i] != JETWATT_VALUE_NONE;
		}
	}
}

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(board)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	set_u32(&self->f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 50);
	family_close(&self->f);
}

TEST_F_TIMEOUT(board, ticks_read_what_both_buses_have_time_for, 60)
{
	/* The rates permit to read all shunts of both chips, of one chip, of no chip. */
	static const struct { uint32_t hz, chips; } cases[] = {
		{ 200, 2 }, { 280, 1 }, { 400, 0 },
	};
	uint32_t i, chips;
	struct nl_msg *msg;
	uint64_t missed;
	struct seen s;

	if (slow_kernel())
		SKIP(return, "the CPU of this kernel limits the rate");
	ASSERT_EQ(0, prepare(1, 0x40));
	ASSERT_EQ(0, prepare(7, 0x41));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BUS_SHARE_PCT, 90));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(8000);
	ASSERT_EQ(7, chip_of(&self->f, 0, JETWATT_A_CHIP_SUM_CHANNELS));
	ASSERT_EQ(7, chip_of(&self->f, 1, JETWATT_A_CHIP_SUM_CHANNELS));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, cases[i].hz))
			TH_LOG("%s", self->f.text);
		sleep_ms(1500);
		missed = stat_of(&self->f, JETWATT_A_STATS_MISSED);
		memset(&s, 0, sizeof(s));
		msg = request(&self->f, JETWATT_CMD_SAMPLES_GET);
		nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ,
			    stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1);
		sleep_ms(2000);
		ASSERT_EQ(0, dump(&self->f, msg, note, &s));
		missed = stat_of(&self->f, JETWATT_A_STATS_MISSED) - missed;
		TH_LOG("%u Hz: %u ticks, %llu missed; sums %u and %u, first shunts %u and %u",
		       cases[i].hz, s.ticks, (unsigned long long)missed, s.sums[0], s.sums[1],
		       s.shunts[0], s.shunts[1]);
		EXPECT_GT(cases[i].hz / 20, missed);
		EXPECT_LT(2 * cases[i].hz * 9 / 10, s.ticks);
		chips = (s.shunts[0] > s.ticks * 95 / 100) + (s.shunts[1] > s.ticks * 95 / 100);
		EXPECT_EQ(cases[i].chips, chips);
		chips = (s.sums[0] > s.ticks * 95 / 100) + (s.sums[1] > s.ticks * 95 / 100);
		EXPECT_EQ(2 - cases[i].chips, chips);
	}
}

TEST_HARNESS_MAIN
