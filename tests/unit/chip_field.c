// SPDX-License-Identifier: GPL-2.0-only
/* Registers of the sensor chips and their units, compared with the data sheets. */
#include "kmod/sensors/field.h"

#include "kselftest_harness.h"

/* INA3221 (SBOS576): 13 bits in 15:3, 40 uV; INA228 (SLYS021): 20 bits in 23:4, 312.5 nV. */
static const struct jetwatt_field ina3221 = { 2, 3, 13, true, 40000000 };
static const struct jetwatt_field ina228 = { 3, 4, 20, true, 312500 };
static const struct jetwatt_field fine = { 3, 4, 20, true, 78125 };
static const struct jetwatt_field ina228_bus = { 3, 4, 20, false, 195312500 };
static const struct jetwatt_field flags = { 2, 3, 13, false, 4000000000 };

TEST(negative_values)
{
	/* Table 6 of SBOS576: -80 mV is C180h. */
	EXPECT_EQ(-80000000000, jetwatt_field_pv(&ina3221, 0xc180));
	EXPECT_EQ(4095, jetwatt_field_raw(&ina3221, 0x7ff8));
	EXPECT_EQ(-4096, jetwatt_field_raw(&ina3221, 0x8000));
	/* Example of the data sheet, section "Calculate Returned Values": 311040 LSBs are 97.2 mV;
	 * also negated. */
	EXPECT_EQ(97200000000, jetwatt_field_pv(&ina228, 311040 << 4));
	EXPECT_EQ(-97200000000, jetwatt_field_pv(&ina228, 0xb4100 << 4));
	EXPECT_EQ(-1, jetwatt_field_raw(&ina228, 0xfffff0));
	EXPECT_EQ(524287, jetwatt_field_raw(&ina228, 0x7ffff0));
	EXPECT_EQ(-524288, jetwatt_field_raw(&ina228, 0x800000));
	EXPECT_EQ(-40960000000, jetwatt_field_pv(&fine, 0x800000));
}

TEST(neighbouring_bits_are_ignored)
{
	EXPECT_EQ(0, jetwatt_field_pv(&ina228, 0xf));
	EXPECT_EQ(-1, jetwatt_field_raw(&ina228, 0xffffff));
	EXPECT_EQ(3000, jetwatt_field_raw(&flags, 3000 << 3 | 3));
	EXPECT_EQ(0xfffff, jetwatt_field_raw(&ina228_bus, 0xfffff0));
	EXPECT_EQ(1, jetwatt_field_raw(&ina228, 0xab000010));
}

TEST(values_are_rounded)
{
	/* 245760 LSBs are 48 V. */
	EXPECT_EQ(48000000, jetwatt_pv_to(jetwatt_field_pv(&ina228_bus, 245760 << 4),
					  JETWATT_PV_PER_UV));
	EXPECT_EQ(313, jetwatt_pv_to(312500, JETWATT_PV_PER_NV));
	EXPECT_EQ(-313, jetwatt_pv_to(-312500, JETWATT_PV_PER_NV));
	EXPECT_EQ(0, jetwatt_pv_to(312500, JETWATT_PV_PER_UV));
	EXPECT_EQ(1, jetwatt_pv_to(625000, JETWATT_PV_PER_UV));
	EXPECT_EQ(-1, jetwatt_pv_to(-625000, JETWATT_PV_PER_UV));
}

/* The rounding errors of all values of a ramp over many LSBs have a mean close to 0. */
TEST(rounding_has_no_bias)
{
	int64_t sum = 0, raw;

	for (raw = -1600; raw <= 1600; raw++)
		sum += jetwatt_pv_to(jetwatt_field_pv(&ina228, (raw & 0xfffff) << 4),
				     JETWATT_PV_PER_UV);
	EXPECT_EQ(0, sum);
	for (sum = 0, raw = 0; raw < 16000; raw++)
		sum += jetwatt_pv_to(jetwatt_field_pv(&ina228, raw << 4), JETWATT_PV_PER_UV);
	EXPECT_LT(-100, sum - 16000ll * 15999 / 2 * 3125 / 10000);
	EXPECT_GT(1000, sum - 16000ll * 15999 / 2 * 3125 / 10000);
}

/* Values at both ends of the ranges are converted without overflow; UBSan reports an overflow. */
TEST(extremes_do_not_overflow)
{
	/* 204.8 V, more than any chip measures */
	int64_t bus = jetwatt_field_pv(&ina228_bus, 0xfffff0);
	int64_t nw;

	EXPECT_EQ(204799804687500, bus);
	/* 128 V, and 320 mV (the end of the INA219's range) over 1 uOhm; also negated. */
	nw = jetwatt_nw_of(128000000, 320000000, 1);
	EXPECT_EQ(40960000000000000, nw);
	EXPECT_EQ(-nw, jetwatt_nw_of(128000000, -320000000, 1));
	/* 20 V, and one LSB of the INA228 (78 nV, rounded down) over 2 mOhm: 780 uW. */
	EXPECT_EQ(780000, jetwatt_nw_of(20000000, 78, 2000));
	EXPECT_EQ(0, jetwatt_nw_of(20000000, 78, UINT32_MAX));
}

TEST_HARNESS_MAIN
