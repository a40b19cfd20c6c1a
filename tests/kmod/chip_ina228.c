// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/chip.dtso chip=ina228 modules="jetwatt-sim;ina3221;i2c-dev;jetwatt" timeout=120
/*
 * Test an INA228, which has values of 20 bits in registers of 24 bits and an LSB of 312.5 or 78.125
 * nV (data sheet SLYS021A).
 */
#define MODEL		"ina228"
#define ADDR		0x41
#define BUS_NR		1
#define SHUNT_UOHM	2000
#define STEP_PV		312500
#define MOST		524287
#define SETTLE_MS	300
#include "chip.inc"

enum { CONFIG, ADC_CONFIG, VSHUNT = 4, VBUS, DIAG_ALRT = 0x0b };

#define ADCRANGE	0x0010
#define MEMSTAT		0x0001
#define CNVRF		0x0002

/*
 * The attributes must describe the configuration that the INA228's hwmon driver sets: three
 * conversions of 1052 us per cycle, averaged over 16 cycles.
 */
TEST_F(chip, attributes_describe_the_configuration)
{
	EXPECT_EQ(1052, chip_says(JETWATT_A_CHIP_SHUNT_US));
	EXPECT_EQ(16, chip_says(JETWATT_A_CHIP_AVERAGES));
	EXPECT_EQ(0, chip_says(JETWATT_A_CHIP_FILTER));
	EXPECT_EQ(19803, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	EXPECT_EQ(STEP_PV, chip_says(JETWATT_A_CHIP_STEP_PV));
	EXPECT_EQ(195312500, chip_says(JETWATT_A_CHIP_BUS_STEP_PV));
	EXPECT_EQ(1000, chip_says(JETWATT_A_CHIP_OFFSET_NV));
	EXPECT_EQ(500, chip_says(JETWATT_A_CHIP_GAIN_PPM));
	/* The data sheet gives no gain error of the bus voltage, so the module must not report this
	 * attribute. */
	EXPECT_EQ(UINT64_MAX, chip_says(JETWATT_A_CHIP_BUS_GAIN_PPM));
	EXPECT_EQ(2000, rail_of(&self->f, self->is.rail, JETWATT_A_RAIL_SHUNT_UOHM));
}

TEST_F(chip, values_have_the_resolution_of_one_lsb)
{
	check_steps(_metadata, &self->f, self->is.rail, STEP_PV, MOST);
}

TEST_F(chip, readings_at_the_ends_of_the_range_are_counted)
{
	check_clipped(_metadata, &self->f, &self->is, STEP_PV, MOST);
}

/*
 * After the chip was switched to a quarter of its range, the module must use the smaller LSB within
 * three seconds.
 */
TEST_F(chip, smaller_range_has_a_smaller_lsb)
{
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, write_reg(CONFIG, ADCRANGE));
	sleep_ms(3000);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(STEP_PV / 4, chip_says(JETWATT_A_CHIP_STEP_PV));
	check_steps(_metadata, &self->f, self->is.rail, STEP_PV / 4., MOST);
	check_clipped(_metadata, &self->f, &self->is, STEP_PV / 4., MOST);
	ASSERT_EQ(0, write_reg(CONFIG, 0));
	sleep_ms(3000);
	EXPECT_EQ(STEP_PV, chip_says(JETWATT_A_CHIP_STEP_PV));
}

/* Number of shunt voltages of @rail that are, and that are not, within 1 uV of @want_uv. */
struct read_back {
	uint32_t rail;
	int32_t want_uv;
	unsigned int right, wrong;
};

static void note_read_back(struct nlmsghdr *nlh, void *arg)
{
	struct read_back *r = arg;
	const int32_t *v;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	v = series_of(&b, JETWATT_SERIES_SHUNT_UV, r->rail);
	for (i = 0; v && i < b.count; i++) {
		if (v[i] == JETWATT_VALUE_NONE)
			continue;
		if (abs(v[i] - r->want_uv) <= 1)
			r->right++;
		else
			r->wrong++;
	}
}

/* Wait until the chip is lost (1) or is not lost (0), for at most 5 s. */
static bool becomes_lost(struct family *f, uint32_t chip, unsigned int lost)
{
	int i;

	for (i = 0; i < 500 && chip_of(f, chip, JETWATT_A_CHIP_LOST) != lost; i++)
		sleep_ms(10);
	return i < 500;
}

/*
 * A chip that was without power may return with another range. The module must then read all
 * configuration registers of the chip before it uses a value.
 */
TEST_F(chip, lost_chip_returns_with_another_range)
{
	struct read_back r = { .rail = self->is.rail, .want_uv = 10000 };
	struct nl_msg *msg = request(&self->f, JETWATT_CMD_SAMPLES_GET);

	ASSERT_EQ(0, force(10000000000, BUS_UV));
	ASSERT_EQ(0, inject("fail_transfer", 100000));
	ASSERT_TRUE(becomes_lost(&self->f, self->is.chip, 1));
	ASSERT_EQ(0, write_reg(CONFIG, ADCRANGE));
	sleep_ms(SETTLE_MS);
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1);
	ASSERT_EQ(0, inject("fail_transfer", 0));
	ASSERT_TRUE(becomes_lost(&self->f, self->is.chip, 0));
	sleep_ms(1500);
	EXPECT_EQ(0, dump(&self->f, msg, note_read_back, &r));
	TH_LOG("%u right, %u wrong", r.right, r.wrong);
	EXPECT_EQ(0, r.wrong);
	EXPECT_LT(100, r.right);
	ASSERT_EQ(0, write_reg(CONFIG, 0));
	sleep_ms(3000);
}

/* Write the configuration register of the board's other chip, an INA3221. */
static int write_other(uint16_t value)
{
	return write_register(1, 0x40, 0, value);
}

/*
 * If the fastest chip has a new value every 12.7 s (1024 averages of three conversions of 4120 us),
 * it limits the rate to 1 Hz, the lowest rate. The other chip is powered down.
 */
TEST_F(chip, chip_slower_than_one_hertz_limits_the_rate)
{
	char said[128];

	ASSERT_EQ(0, write_other(0x7120));
	ASSERT_EQ(0, write_reg(ADC_CONFIG, 0xffff));
	EXPECT_EQ(-ERANGE, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 1000000));
	snprintf(said, sizeof(said), "%s", self->f.text);
	EXPECT_EQ(0, write_other(0x7127));
	EXPECT_EQ(0, write_reg(ADC_CONFIG, 0xfb6a));
	EXPECT_STREQ("at most 1 Hz: no chip converts faster", said);
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
}

/*
 * Test the registers of the simulated chip. A value is in bits 23:4. Reading DIAG_ALRT clears
 * CNVRF, and the next conversion sets it again. CNVRF must then stay set, because the module does
 * not read DIAG_ALRT.
 */
TEST_F(chip, simulated_registers_are_those_of_the_chip)
{
	int64_t diag;

	ASSERT_EQ(0, force(-312500, BUS_UV));
	sleep_ms(SETTLE_MS);
	EXPECT_EQ(0xfffff0, read_reg(VSHUNT, 3));
	EXPECT_EQ((BUS_UV * 16LL / 3125) << 4, read_reg(VBUS, 3));
	diag = read_reg(DIAG_ALRT, 2);
	EXPECT_EQ(MEMSTAT, diag & ~CNVRF);
	sleep_ms(SETTLE_MS);
	EXPECT_EQ(MEMSTAT | CNVRF, read_reg(DIAG_ALRT, 2));
}

TEST_HARNESS_MAIN
