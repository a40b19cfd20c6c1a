// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/chip.dtso chip=ina226 modules="jetwatt-sim;ina3221;i2c-dev;jetwatt" timeout=120
/*
 * Test an INA226, which averages whole cycles of conversions and has an LSB of 2.5 uV (data sheet
 * SBOS547).
 */
#define MODEL		"ina226"
#define ADDR		0x41
#define BUS_NR		1
#define SHUNT_UOHM	2000
#define STEP_PV		2500000
#define MOST		32767
#define SETTLE_MS	100
#include "chip.inc"

enum { CONFIG, SHUNT, BUS, POWER, CURRENT, CAL, MASK };

#define CVRF		0x0008
#define OVF		0x0004

/*
 * The attributes must describe the configuration that the INA226's hwmon driver sets: two
 * conversions of 1100 us per cycle, averaged over 16 cycles.
 */
TEST_F(chip, attributes_describe_the_configuration)
{
	EXPECT_EQ(1100, chip_says(JETWATT_A_CHIP_SHUNT_US));
	EXPECT_EQ(16, chip_says(JETWATT_A_CHIP_AVERAGES));
	EXPECT_EQ(0, chip_says(JETWATT_A_CHIP_FILTER));
	EXPECT_EQ(28409, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	EXPECT_EQ(STEP_PV, chip_says(JETWATT_A_CHIP_STEP_PV));
	EXPECT_EQ(1250000000, chip_says(JETWATT_A_CHIP_BUS_STEP_PV));
	EXPECT_EQ(10000, chip_says(JETWATT_A_CHIP_OFFSET_NV));
	EXPECT_EQ(1000, chip_says(JETWATT_A_CHIP_GAIN_PPM));
	EXPECT_EQ(7500, chip_says(JETWATT_A_CHIP_BUS_OFFSET_UV));
	EXPECT_EQ(1000, chip_says(JETWATT_A_CHIP_BUS_GAIN_PPM));
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
 * After another program has changed the averages and the conversion times (1024 cycles of 332 us
 * for the bus voltage and 140 us for the shunt voltage), the attributes must describe the new ones
 * within three seconds. In power-down the chip has no new values.
 */
TEST_F(chip, attributes_follow_the_configuration)
{
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, write_reg(CONFIG, 0x4e87));
	sleep_ms(3000);
	EXPECT_EQ(140, chip_says(JETWATT_A_CHIP_SHUNT_US));
	EXPECT_EQ(1024, chip_says(JETWATT_A_CHIP_AVERAGES));
	EXPECT_EQ(2068, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	ASSERT_EQ(0, write_reg(CONFIG, 0x4520));
	sleep_ms(3000);
	EXPECT_EQ(0, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	ASSERT_EQ(0, write_reg(CONFIG, 0x4527));
	sleep_ms(3000);
	EXPECT_EQ(28409, chip_says(JETWATT_A_CHIP_REFRESH_MHZ));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

/* Test the registers of the simulated chip. The bus voltage has 15 bits. */
TEST_F(chip, simulated_registers_are_those_of_the_chip)
{
	ASSERT_EQ(0, force(-2500000, BUS_UV));
	sleep_ms(SETTLE_MS);
	EXPECT_EQ(0xffff, read_reg(SHUNT, 2));
	EXPECT_EQ(0xffff, read_reg(CURRENT, 2));
	EXPECT_EQ(BUS_UV / 1250, read_reg(BUS, 2));
	ASSERT_EQ(0, force(0, 48000000));
	sleep_ms(SETTLE_MS);
	EXPECT_EQ(0x7fff, read_reg(BUS, 2));
}

/*
 * Reading the mask/enable register clears CVRF, and the next cycle sets it again. In power-down
 * there is no next cycle, so CVRF must stay set, because the module does not read this register.
 */
TEST_F(chip, module_does_not_clear_the_conversion_ready_flag)
{
	read_reg(MASK, 2);
	EXPECT_EQ(0, read_reg(MASK, 2));
	sleep_ms(SETTLE_MS);
	ASSERT_EQ(0, write_reg(CONFIG, 0x4520));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	sleep_ms(3000);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(CVRF, read_reg(MASK, 2));
	EXPECT_EQ(0, read_reg(MASK, 2));
	ASSERT_EQ(0, write_reg(CONFIG, 0x4527));
}

/* An overflow of the chip's own calculation must not change the module's values. */
TEST_F(chip, overflow_of_the_calculation_changes_no_value)
{
	int32_t shunt_uv, bus_uv;

	ASSERT_EQ(0, write_reg(CAL, 0x7fff));
	ASSERT_EQ(0, force(80000000000, BUS_UV));
	ASSERT_TRUE(values(&self->f, self->is.rail, &shunt_uv, &bus_uv));
	EXPECT_EQ(OVF, read_reg(MASK, 2) & OVF);
	EXPECT_EQ(80000, shunt_uv);
	EXPECT_EQ(BUS_UV, bus_uv);
	ASSERT_EQ(0, write_reg(CAL, 2048));
}

TEST_HARNESS_MAIN
