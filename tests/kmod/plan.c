// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim adc_offset_uv=800;ina3221;i2c-dev;jetwatt" timeout=240
/*
 * Test the use of the sum register of the INA3221, which adds up the shunt voltages of selected
 * channels. The module determines from readings which channels the sum includes, because reading
 * Mask/Enable, which selects them, would clear latched alarms. The sampler reads the sum at rates
 * at which a tick cannot read all shunts, and while the chip averages the shunts. While the
 * channels of the sum are unknown, it reads the sum only to determine them.
 *
 * The ADC offset (800 uV) makes every rail read a significant current, although no job runs.
 */
#include "chip_register.h"
#include "family.h"

#include <math.h>

#include "kselftest_harness.h"

#define MASK	0x0f	/* register Mask/Enable: selects the channels of the sum */
#define OFFSET	"/sys/module/jetwatt_sim/parameters/adc_offset_uv"
#define START	"/sys/module/jetwatt_sim/parameters/start_us"

static int write_mask(uint16_t value)
{
	return write_register(1, 0x40, MASK, value);
}

static int set_hwmon(const char *name, long value)
{
	char dir[128], path[192];

	if (!hwmon(0x40, dir, sizeof(dir)))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return write_number(path, value);
}

static uint32_t sum_of(struct family *f)
{
	return chip_of(f, 0, JETWATT_A_CHIP_SUM_CHANNELS);
}

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, set_hwmon("samples", 1));
}

FIXTURE_TEARDOWN(board)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	set_hwmon("samples", 1);
	set_hwmon("update_interval", 7);
	write_number(OFFSET, 800);
	write_number(START, 0);
	family_close(&self->f);
}

TEST_F_TIMEOUT(board, channels_of_the_sum_are_determined, 90)
{
	static const struct { uint16_t scc; uint32_t channels; } cases[] = {
		{ 0x6000, 3 }, { 0x3000, 6 }, { 0x7000, 7 }, { 0x4000, 1 },
	};
	size_t i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, write_mask(cases[i].scc));
		/* The module discards its knowledge of the channels after the first window of
		 * readings that contradicts it, and determines them again. */
		sleep_ms(12000);
		EXPECT_EQ(cases[i].channels, sum_of(&self->f));
	}
	/* If no channel is selected, the sum register is 0, which matches no set of channels. */
	ASSERT_EQ(0, write_mask(0));
	sleep_ms(12000);
	EXPECT_EQ(UINT32_MAX, sum_of(&self->f));
	/* If the second rail draws almost no current, the sum matches both with and without this
	 * rail, so the channels of the sum stay unknown. */
	ASSERT_EQ(0, write_mask(0x6000));
	ASSERT_EQ(0, write_number(OFFSET, -120));
	sleep_ms(12000);
	EXPECT_EQ(UINT32_MAX, sum_of(&self->f));
}

struct seen {
	uint32_t ticks, sums, shunts;
	double sum, parts;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	const int32_t *sum, *shunt[2];
	struct seen *s = arg;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	sum = series_of(&b, JETWATT_SERIES_SUM_UV, 0);
	shunt[0] = series_of(&b, JETWATT_SERIES_SHUNT_UV, 0);
	shunt[1] = series_of(&b, JETWATT_SERIES_SHUNT_UV, 1);
	for (i = 0; i < b.count; i++) {
		s->ticks++;
		if (sum && sum[i] != JETWATT_VALUE_NONE) {
			s->sums++;
			s->sum += sum[i];
		}
		if (shunt[0][i] != JETWATT_VALUE_NONE) {
			s->shunts++;
			s->parts += shunt[0][i];
		}
		if (shunt[1][i] != JETWATT_VALUE_NONE)
			s->parts += shunt[1][i];
	}
}

/* Evaluate all samples of the next @ms milliseconds. */
static int watch(struct family *f, unsigned int ms, struct seen *s)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_SAMPLES_GET);

	memset(s, 0, sizeof(*s));
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, stat_of(f, JETWATT_A_STATS_TICKS) + 1);
	sleep_ms(ms);
	return dump(f, msg, note, s);
}

/*
 * Let the module determine the channels of the sum at a low sampling rate, then set a rate at which
 * a tick cannot read all shunts.
 */
TEST_F_TIMEOUT(board, sum_allows_a_higher_rate, 90)
{
	uint32_t all, most = 0, hz;
	struct seen s;

	ASSERT_EQ(0, write_mask(0));
	ASSERT_EQ(0, set_hwmon("update_interval", 1));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(3000);
	EXPECT_EQ(UINT32_MAX, sum_of(&self->f));
	all = config_of(&self->f, JETWATT_A_CONFIG_RATE_MAX_HZ);
	if (!slow_kernel())
		EXPECT_EQ(-ERANGE, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, all + 1));

	ASSERT_EQ(0, write_mask(0x6000));
	sleep_ms(8000);
	ASSERT_EQ(3, sum_of(&self->f));
	ASSERT_EQ(-ERANGE, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 1000000));
	ASSERT_EQ(1, sscanf(self->f.text, "at most %u Hz", &most));
	TH_LOG("%u Hz with all shunts, %u Hz with the sum", all, most);
	EXPECT_LT(2 * all, most);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, most));
	EXPECT_EQ(most, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
	sleep_ms(1500);
	ASSERT_EQ(0, watch(&self->f, 3000, &s));
	TH_LOG("%u ticks, %u with the sum, %u with the first shunt; share %llu permille", s.ticks,
	       s.sums, s.shunts, (unsigned long long)stat_of(&self->f, JETWATT_A_STATS_BUS_PERMILLE));
	EXPECT_LT(s.ticks * 99 / 100, s.sums);
	/* Beside the sum, each tick reads one of the four shunts and four bus voltages, in turn, so
	 * each shunt is read in about every eighth tick. */
	EXPECT_LT(s.ticks / 10, s.shunts);
	EXPECT_GT(s.ticks / 6, s.shunts);
	EXPECT_GT(1, fabs(100 * (s.sum / s.sums / (s.parts / s.shunts) - 1)));
	if (!slow_kernel())
		EXPECT_GE(560, stat_of(&self->f, JETWATT_A_STATS_BUS_PERMILLE));

	/* At this rate no tick reads all shunts, but the module must still detect that other
	 * channels were selected for the sum. */
	ASSERT_EQ(0, write_mask(0x3000));
	sleep_ms(20000);
	EXPECT_EQ(6, sum_of(&self->f));

	/* If a client requests no particular rate, the module selects the highest rate at which
	 * each tick reads all shunts. */
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	hz = config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ);
	/* The module measures how long transfers take, and they may take longer by now. */
	if (!slow_kernel()) {
		EXPECT_LT(all * 9 / 10, hz);
		EXPECT_GT(all * 11 / 10, hz);
	}
	sleep_ms(500);
	ASSERT_EQ(0, watch(&self->f, 1000, &s));
	TH_LOG("%u Hz without a request: %u ticks, %u with the first shunt", hz, s.ticks, s.shunts);
	EXPECT_LT(hz / 2, s.ticks);
	EXPECT_LT(s.ticks * 99 / 100, s.shunts);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

/*
 * An i2c adapter takes 400 us to start each transfer and keeps the bus busy meanwhile. The module
 * must lower the sampling rate so that it still uses the configured share of the bus, and restore
 * the rate when the adapter is fast again.
 */
TEST_F_TIMEOUT(board, slow_adapter_keeps_its_share, 60)
{
	uint32_t before, hz, most;
	uint64_t share;

	ASSERT_EQ(0, write_mask(0));
	ASSERT_EQ(0, set_hwmon("update_interval", 1));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(12000);
	ASSERT_EQ(UINT32_MAX, sum_of(&self->f));
	hz = config_of(&self->f, JETWATT_A_CONFIG_RATE_MAX_HZ);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, hz));
	sleep_ms(4000);
	/* If the CPU delays transfers, the module may have lowered the rate already, so read the
	 * active rate. */
	before = config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ);
	ASSERT_EQ(0, write_number(START, 400));
	sleep_ms(6000);
	hz = config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ);
	share = stat_of(&self->f, JETWATT_A_STATS_BUS_PERMILLE);
	TH_LOG("%u Hz, slow to start %u Hz; share %llu permille", before, hz,
	       (unsigned long long)share);
	if (!slow_kernel()) {
		EXPECT_GE(530, share);
		EXPECT_LE(470, share);
		EXPECT_GT(before, hz);
	}
	ASSERT_EQ(0, write_number(START, 0));
	sleep_ms(6000);
	hz = config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ);
	if (!slow_kernel()) {
		/* Transfers may take a little longer than before, and the module does not change
		 * the rate by less than a sixteenth. So the restored rate may differ by a sixteenth
		 * from the possible rate. */
		most = config_of(&self->f, JETWATT_A_CONFIG_RATE_MAX_HZ);
		TH_LOG("fast again: %u Hz of %u Hz", hz, most);
		EXPECT_LE(most - most / 16 - 1, hz);
		EXPECT_GE(most + most / 16 + 1, hz);
		EXPECT_LT(before * 9 / 10, hz);
		EXPECT_GT(before * 11 / 10, hz);
	}
}

/*
 * At 100 Hz, if the chip averages the shunt voltages, the module must read the sum in each tick, too,
 * because the sum is not averaged.
 */
TEST_F(board, sum_is_read_beside_averaged_shunts)
{
	struct seen s;

	ASSERT_EQ(0, write_mask(0x6000));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(8000);
	ASSERT_EQ(3, sum_of(&self->f));
	ASSERT_EQ(0, watch(&self->f, 1000, &s));
	EXPECT_GT(s.ticks / 4, s.sums);
	ASSERT_EQ(0, set_hwmon("samples", 16));
	/* The configuration of the chip has changed, so the module determines the channels of the
	 * sum again. */
	sleep_ms(12000);
	ASSERT_EQ(3, sum_of(&self->f));
	ASSERT_EQ(0, watch(&self->f, 1000, &s));
	TH_LOG("%u ticks, %u with the sum", s.ticks, s.sums);
	EXPECT_LT(s.ticks * 9 / 10, s.sums);
	EXPECT_LT(s.ticks * 9 / 10, s.shunts);
}

/*
 * The module must never read register 0x0F (Mask/Enable), so an alarm that the chip has latched
 * stays set.
 */
TEST_F(board, alarms_stay_set)
{
	char dir[128], path[160];

	ASSERT_TRUE(hwmon(0x40, dir, sizeof(dir)));
	snprintf(path, sizeof(path), "%s/curr1_crit", dir);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	ASSERT_EQ(0, write_number(path, 10));
	sleep_ms(100);
	ASSERT_EQ(0, write_number(path, 80000));
	sleep_ms(5000);
	snprintf(path, sizeof(path), "%s/curr1_crit_alarm", dir);
	EXPECT_EQ(1, read_number(path));
	EXPECT_EQ(0, read_number(path));
}

TEST_HARNESS_MAIN
