// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim adc_offset_uv=800;ina3221;i2c-dev;jetwatt" timeout=240
/*
 * The sum of shunts: found out without reading what must not be read, used
 * where it is of use, and not while it is unclear what it is made of.
 *
 * The offset gives every rail a current worth adding up without any job.
 */
#include "family.h"

#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <math.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#define MASK	0x0f	/* Mask/Enable: what the chip adds up */
#define OFFSET	"/sys/module/jetwatt_sim/parameters/adc_offset_uv"
#define START	"/sys/module/jetwatt_sim/parameters/start_us"

/* Behind the driver's back, as firmware might; writing leaves alarms alone. */
static int write_reg(uint8_t reg, uint16_t value)
{
	uint8_t bytes[] = { reg, value >> 8, value & 0xff };
	struct i2c_msg msg = { .addr = 0x40, .len = 3, .buf = bytes };
	struct i2c_rdwr_ioctl_data data = { .msgs = &msg, .nmsgs = 1 };
	int fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0 || ioctl(fd, I2C_RDWR, &data) != 1)
		err = -errno;
	close(fd);
	return err;
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

TEST_F_TIMEOUT(board, found_out, 90)
{
	static const struct { uint16_t scc; uint32_t channels; } cases[] = {
		{ 0x6000, 3 }, { 0x3000, 6 }, { 0x7000, 7 }, { 0x4000, 1 },
	};
	size_t i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, write_reg(MASK, cases[i].scc));
		/* What was known is dropped at the first window that does not say so. */
		sleep_ms(12000);
		EXPECT_EQ(cases[i].channels, sum_of(&self->f));
	}
	/* Nothing is added up: the register is 0 and stands for no channel. */
	ASSERT_EQ(0, write_reg(MASK, 0));
	sleep_ms(12000);
	EXPECT_EQ(UINT32_MAX, sum_of(&self->f));
	/* The second rail draws next to nothing: with it or without it fits alike. */
	ASSERT_EQ(0, write_reg(MASK, 0x6000));
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

/* All samples of the next @ms. */
static int watch(struct family *f, unsigned int ms, struct seen *s)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_SAMPLES_GET);

	memset(s, 0, sizeof(*s));
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, stat_of(f, JETWATT_A_STATS_TICKS) + 1);
	sleep_ms(ms);
	return dump(f, msg, note, s);
}

/* Learn at a rate that is easy, then go where the bus has no time for all shunts. */
TEST_F_TIMEOUT(board, faster_than_all_shunts, 90)
{
	uint32_t all, most = 0;
	struct seen s;

	ASSERT_EQ(0, write_reg(MASK, 0));
	ASSERT_EQ(0, set_hwmon("update_interval", 1));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(3000);
	EXPECT_EQ(UINT32_MAX, sum_of(&self->f));
	all = config_of(&self->f, JETWATT_A_CONFIG_RATE_MAX_HZ);
	if (!slow_kernel())
		EXPECT_EQ(-ERANGE, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, all + 1));

	ASSERT_EQ(0, write_reg(MASK, 0x6000));
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
	/* Four shunts and four voltages take turns. */
	EXPECT_LT(s.ticks / 10, s.shunts);
	EXPECT_GT(s.ticks / 6, s.shunts);
	EXPECT_GT(1, fabs(100 * (s.sum / s.sums / (s.parts / s.shunts) - 1)));
	if (!slow_kernel())
		EXPECT_GE(560, stat_of(&self->f, JETWATT_A_STATS_BUS_PERMILLE));

	/* Nobody reads all shunts in one tick here, and still a change is noticed. */
	ASSERT_EQ(0, write_reg(MASK, 0x3000));
	sleep_ms(20000);
	EXPECT_EQ(6, sum_of(&self->f));

	/* The highest one without a number leaves all shunts in. */
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	if (!slow_kernel())
		EXPECT_EQ(all, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

/*
 * An adapter that takes 400 us to start a transfer has the bus for as long. The share is
 * kept, at no lower rate than that takes, and the rate before is back with the adapter before.
 */
TEST_F_TIMEOUT(board, slow_to_start, 60)
{
	uint32_t before, hz;
	uint64_t share;

	ASSERT_EQ(0, write_reg(MASK, 0));
	ASSERT_EQ(0, set_hwmon("update_interval", 1));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(12000);
	ASSERT_EQ(UINT32_MAX, sum_of(&self->f));
	hz = config_of(&self->f, JETWATT_A_CONFIG_RATE_MAX_HZ);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, hz));
	sleep_ms(4000);
	/* Where the CPU itself takes long to start one, it is less already. */
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
		/* A change of less than a sixteenth is not made. */
		EXPECT_LT(before - before / 16, hz);
		EXPECT_GT(before + before / 16, hz);
	}
}

/* Shunts that the chip averages over seconds: the sum beside them is not. */
TEST_F(board, beside_averaged_shunts)
{
	struct seen s;

	ASSERT_EQ(0, write_reg(MASK, 0x6000));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(8000);
	ASSERT_EQ(3, sum_of(&self->f));
	ASSERT_EQ(0, watch(&self->f, 1000, &s));
	EXPECT_GT(s.ticks / 4, s.sums);
	ASSERT_EQ(0, set_hwmon("samples", 16));
	/* Another configuration: it is found out anew. */
	sleep_ms(12000);
	ASSERT_EQ(3, sum_of(&self->f));
	ASSERT_EQ(0, watch(&self->f, 1000, &s));
	TH_LOG("%u ticks, %u with the sum", s.ticks, s.sums);
	EXPECT_LT(s.ticks * 9 / 10, s.sums);
	EXPECT_LT(s.ticks * 9 / 10, s.shunts);
}

/* Register 0x0F was never read: an alarm that the chip has latched is still there. */
TEST_F(board, alarms_are_left_alone)
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
