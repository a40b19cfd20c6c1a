// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/igx-orin.dtso modules="jetwatt-sim;ina3221;i2c-dev;jetwatt" timeout=120
/*
 * Test the INA219 of IGX Orin's carrier board, which has an LSB of 10 uV in all four ranges (data
 * sheet SBOS448G).
 */
#define MODEL		"ina219"
#define ADDR		0x44
#define BUS_NR		7
#define SHUNT_UOHM	2000
#define STEP_PV		10000000
#define MOST		32000
#define SETTLE_MS	150
#include "chip.inc"

enum { CONFIG, SHUNT, BUS, POWER, CURRENT, CAL };

#define DEFAULT		0x399f		/* 320 mV, 12 bits, both voltages alternately */
#define CNVR		0x0002
#define OVF		0x0001

TEST_F(chip, attributes_describe_the_configuration)
{
	EXPECT_EQ(532, chip_says(JETWATT_A_CHIP_SHUNT_US));
	EXPECT_EQ(1, chip_says(JETWATT_A_CHIP_AVERAGES));
	EXPECT_EQ(939849, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	EXPECT_EQ(STEP_PV, chip_says(JETWATT_A_CHIP_STEP_PV));
	EXPECT_EQ(4000000000, chip_says(JETWATT_A_CHIP_BUS_STEP_PV));
	EXPECT_EQ(200000, chip_says(JETWATT_A_CHIP_OFFSET_NV));
	EXPECT_EQ(5000, chip_says(JETWATT_A_CHIP_GAIN_PPM));
	EXPECT_EQ(5000, chip_says(JETWATT_A_CHIP_BUS_GAIN_PPM));
	EXPECT_EQ(2000, rail_of(&self->f, self->is.rail, JETWATT_A_RAIL_SHUNT_UOHM));
	EXPECT_EQ(0, rail_of(&self->f, self->is.rail, JETWATT_A_RAIL_IN_TOTAL));
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
 * Another gain of the INA219 changes its range, but not its LSB; another averaging changes its
 * conversion time and refresh rate.
 */
TEST_F(chip, gain_and_averaging_are_followed)
{
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, write_reg(CONFIG, (DEFAULT & ~0x1878) | 12 << 3));
	sleep_ms(3000);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(STEP_PV, chip_says(JETWATT_A_CHIP_STEP_PV));
	EXPECT_EQ(100000, chip_says(JETWATT_A_CHIP_OFFSET_NV));
	EXPECT_EQ(8510, chip_says(JETWATT_A_CHIP_SHUNT_US));
	EXPECT_EQ(1000000000 / (8510 + 532), chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	check_steps(_metadata, &self->f, self->is.rail, STEP_PV, 4000);
	check_clipped(_metadata, &self->f, &self->is, STEP_PV, 4000);
	ASSERT_EQ(0, write_reg(CONFIG, DEFAULT));
	sleep_ms(3000);
}

/*
 * When the chip's power register overflows, the chip sets a flag in the low bits of the bus voltage
 * register, which must not change the voltage that the module reports.
 */
TEST_F(chip, overflow_flag_does_not_change_the_voltage)
{
	int32_t shunt_uv, bus_uv;

	ASSERT_EQ(0, force(-20000LL * STEP_PV, BUS_UV));
	ASSERT_EQ(0, write_reg(CAL, 0xfffe));
	sleep_ms(SETTLE_MS);
	ASSERT_EQ((BUS_UV / 4000) << 3 | CNVR | OVF, read_reg(BUS, 2));
	ASSERT_TRUE(values(&self->f, self->is.rail, &shunt_uv, &bus_uv));
	EXPECT_EQ(-200000, shunt_uv);
	EXPECT_EQ(BUS_UV, bus_uv);
	ASSERT_EQ(0, write_reg(CAL, 4096));
	sleep_ms(SETTLE_MS);
	EXPECT_EQ((BUS_UV / 4000) << 3 | CNVR, read_reg(BUS, 2));
}

TEST_HARNESS_MAIN
