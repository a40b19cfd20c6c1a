// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim adc_noise=300 noise_power=0;i2c-dev"
/*
 * Self-test of the simulated INA3221 against its data sheet (SBOS576), through /dev/i2c-1: default
 * values, sequence and duration of conversions, averaging, flags, modes.
 */
#include "test_board.h"

#include "kselftest_harness.h"

#define CHIP	0x40

enum { CONFIG, SHUNT1, BUS1, SHUNT2, BUS2, SHUNT3, BUS3, CRIT1, WARN1, SUM = 0x0d, SUM_LIMIT,
       MASK, PV_HIGH, PV_LOW };

/*
 * Fields of the register CONFIG: enabled channels, averaging, the conversion times of shunt and
 * bus, and mode.
 */
#define ALL		0x7000
#define CH1		0x4000
#define AVG(code)	((code) << 9)
#define CT(code)	((code) << 6 | (code) << 3)
#define BOTH		7
#define ONCE		3
#define RESET		0x8000

#define CVRF		0x0001

FIXTURE(chip) { };

FIXTURE_SETUP(chip)
{
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, RESET));
	sleep_us(3000);		/* enough for the rails to settle, as no job runs */
}

FIXTURE_TEARDOWN(chip)
{
	put(PARAM "adc_offset_uv", "0");
}

TEST_F(chip, defaults)
{
	static const struct { uint8_t reg; uint16_t value; } want[] = {
		{ MASK, 0x0002 },	/* read first, because the chip sets CVRF after 6.6 ms */
		{ CONFIG, 0x7127 },
		{ 0x07, 0x7ff8 }, { 0x08, 0x7ff8 }, { 0x09, 0x7ff8 }, { 0x0a, 0x7ff8 },
		{ 0x0b, 0x7ff8 }, { 0x0c, 0x7ff8 }, { SUM_LIMIT, 0x7ffe },
		{ PV_HIGH, 0x2710 }, { PV_LOW, 0x2328 }, { 0xfe, 0x5449 }, { 0xff, 0x3220 },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		EXPECT_EQ(want[i].value, reg_read(CHIP, want[i].reg)) {
			TH_LOG("register 0x%02x", want[i].reg);
		}
}

TEST_F(chip, limits_keep_what_is_written_and_reset_forgets_it)
{
	EXPECT_EQ(0, reg_write(CHIP, CRIT1, 0x1237));
	EXPECT_EQ(0x1230, reg_read(CHIP, CRIT1));	/* the register has no bits 2:0 */
	EXPECT_EQ(0, reg_write(CHIP, SHUNT1, 0x1238));
	EXPECT_NE(0x1238, reg_read(CHIP, SHUNT1));
	EXPECT_EQ(0, reg_write(CHIP, CONFIG, RESET));
	EXPECT_EQ(0x7ff8, reg_read(CHIP, CRIT1));
}

/*
 * Return: duration in us of one cycle of conversions, measured from writing CONFIG until the
 * conversion-ready flag (CVRF) is set.
 */
static double cycle_us(uint16_t config)
{
	uint64_t begin;
	int i;

	if (reg_write(CHIP, CONFIG, config))
		return -1;
	begin = now_ns();
	for (i = 0; i < 100000; i++)
		if (reg_read(CHIP, MASK) & CVRF)
			return (now_ns() - begin) / 1e3;
	return -1;
}

TEST_F(chip, a_cycle_takes_as_long_as_the_data_sheet_says)
{
	static const struct { uint16_t config; double us; } want[] = {
		{ ALL | CT(4) | BOTH, 6600 },
		{ CH1 | CT(4) | BOTH, 2200 },
		{ CH1 | 0x1000 | CT(4) | BOTH, 4400 },
		{ ALL | CT(7) | BOTH, 49464 },
		{ ALL | CT(5) | 5, 6348 },		/* shunts only */
		{ ALL | CT(6) | 6, 12468 },		/* buses only */
		{ ALL | 7 << 6 | 0 << 3 | BOTH, 3 * (8244 + 140) },
		{ ALL | AVG(7) | CT(4) | BOTH, 6600 },	/* averaging adds no delay */
	};
	size_t i;

	if (slow_kernel())
		SKIP(return, "reading a register takes as long as a conversion");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		double us = cycle_us(want[i].config);

		/* Reading the flag CVRF takes 0.48 ms on the bus and gets its state at the end of
		 * the read, so permit an error of about 1 ms. */
		EXPECT_GE(us, want[i].us - 300);
		EXPECT_LE(us, want[i].us + 1100) {
			TH_LOG("CONFIG 0x%04x: %.0f us", want[i].config, us);
		}
	}
}

TEST_F(chip, cvrf_is_cleared_by_reading_it_and_by_writing_config)
{
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(4) | BOTH));
	sleep_us(8000);
	EXPECT_EQ(CVRF, reg_read(CHIP, MASK) & CVRF);
	EXPECT_EQ(0, reg_read(CHIP, MASK) & CVRF);
	sleep_us(8000);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(4) | BOTH));
	EXPECT_EQ(0, reg_read(CHIP, MASK) & CVRF);
	sleep_us(8000);
	reg_read(CHIP, CONFIG);
	reg_read(CHIP, SHUNT1);
	EXPECT_EQ(CVRF, reg_read(CHIP, MASK) & CVRF);	/* not by other registers */
}

TEST_F(chip, averaging_is_a_recursive_filter)
{
	/* With an averaging of 16, the filter starts from zero, and after n conversions its output
	 * is 1 - (15/16)^n of the value. */
	double full, part, want;
	int n;

	full = steps(reg_read(CHIP, BUS1));
	ASSERT_GT(full, 2000);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, RESET));
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, CH1 | AVG(2) | CT(7) | BOTH));
	sleep_us(8 * 2 * 8244 + 4000);		/* 8 cycles and part of the ninth */
	part = steps(reg_read(CHIP, BUS1));
	n = 8;
	want = full * (1 - pow(15.0 / 16, n));
	EXPECT_LT(fabs(part - want), 0.01 * full) {
		TH_LOG("%.0f of %.0f, should be %.0f", part, full, want);
	}
}

TEST_F(chip, crit_compares_single_conversions_and_warn_the_average)
{
	int shunt = steps(reg_read(CHIP, SHUNT1));

	if (slow_kernel())
		SKIP(return, "reading a register takes as long as a conversion");
	ASSERT_GT(shunt, 10);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, RESET));
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | AVG(7) | CT(0) | BOTH));
	ASSERT_EQ(0, reg_write(CHIP, CRIT1, (shunt / 2) << 3));
	ASSERT_EQ(0, reg_write(CHIP, WARN1, (shunt / 2) << 3));
	sleep_us(20000);
	/* After 24 conversions with an averaging of 1,024, the average is far below the limit, so
	 * only the flag for the critical limit is set. */
	EXPECT_EQ(0x0200, reg_read(CHIP, MASK) & 0x03f8);
	EXPECT_LT(steps(reg_read(CHIP, SHUNT1)), shunt / 2);
	/* Reading the register has cleared the critical alert flag; the next conversion must set it
	 * again. */
	sleep_us(2000);
	EXPECT_EQ(0x0200, reg_read(CHIP, MASK) & 0x03f8);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(0) | BOTH));
	sleep_us(2000);
	EXPECT_EQ(0x0220, reg_read(CHIP, MASK) & 0x03f8);
}

TEST_F(chip, one_shot_converts_once)
{
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(4) | ONCE));
	sleep_us(8000);
	EXPECT_EQ(CVRF, reg_read(CHIP, MASK) & CVRF);
	sleep_us(20000);
	EXPECT_EQ(0, reg_read(CHIP, MASK) & CVRF);
	EXPECT_GT(steps(reg_read(CHIP, BUS1)), 2000);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(4) | ONCE));
	sleep_us(8000);
	EXPECT_EQ(CVRF, reg_read(CHIP, MASK) & CVRF);
}

TEST_F(chip, power_down_freezes_the_values)
{
	int i, before, changed = 0;

	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(0)));
	before = reg_read(CHIP, SHUNT3);
	for (i = 0; i < 50; i++) {
		sleep_us(1000);
		changed += reg_read(CHIP, SHUNT3) != before;
	}
	EXPECT_EQ(0, changed);
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(0) | BOTH));
	for (i = 0; i < 50; i++) {
		sleep_us(1000);
		changed += reg_read(CHIP, SHUNT3) != before;
	}
	EXPECT_GT(changed, 10);
}

TEST_F(chip, a_disabled_channel_keeps_its_value)
{
	int i, before, changed = 0;

	ASSERT_EQ(0, reg_write(CHIP, CONFIG, 0x3000 | CT(0) | BOTH));
	before = reg_read(CHIP, SHUNT1);
	for (i = 0; i < 50; i++) {
		sleep_us(1000);
		changed += reg_read(CHIP, SHUNT1) != before;
	}
	EXPECT_EQ(0, changed);
}

TEST_F(chip, the_sum_is_of_single_conversions_of_the_chosen_channels)
{
	const uint8_t regs[] = { SHUNT1, SHUNT2, SHUNT3, SUM };
	uint16_t v[4];

	/* After a change of the configuration, averaged values rise slowly from zero, but the sum
	 * register has its full value at once. */
	EXPECT_EQ(0, reg_write(CHIP, MASK, 0x6000));
	sleep_us(300000);
	ASSERT_EQ(0, regs_read(CHIP, regs, v, 4));
	EXPECT_LT(abs(((int16_t)v[3] >> 1) - steps(v[0]) - steps(v[1])), 4);
	ASSERT_EQ(0, reg_write(CHIP, MASK, 0x7000));
	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | AVG(7) | CT(0) | BOTH));
	sleep_us(5000);
	ASSERT_EQ(0, regs_read(CHIP, regs, v, 4));
	EXPECT_LT(abs(((int16_t)v[3] >> 1) - steps(v[0]) - steps(v[1]) - steps(v[2])), 5);
	ASSERT_EQ(0, reg_write(CHIP, SUM_LIMIT, 2));
	sleep_us(3000);
	EXPECT_EQ(0x0040, reg_read(CHIP, MASK) & 0x0040);
}

/* Measure the mean and standard deviation of register @reg over many single conversions, in LSB. */
static void measure(uint8_t reg, double *mean, double *deviation)
{
	double sum = 0, squares = 0;
	int i, n = 400;

	for (i = 0; i < n; i++) {
		double v;

		sleep_us(2000);
		v = steps(reg_read(CHIP, reg));
		sum += v;
		squares += v * v;
	}
	*mean = sum / n;
	*deviation = sqrt(fmax(squares / n - *mean * *mean, 0));
}

TEST_F(chip, adc_mean_noise_and_offset)
{
	double shunt, bus, deviation, power, offset;

	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | CT(0) | BOTH));
	measure(BUS1, &bus, &deviation);
	measure(SHUNT1, &shunt, &deviation);
	EXPECT_GT(deviation, 0.3);
	EXPECT_LT(deviation, 0.7);
	power = bus * 8e-3 * shunt * 40e-6 / 2e-3;
	EXPECT_LT(fabs(power - truth("power_uw_VDD_GPU_SOC") / 1e6), 0.06) {
		TH_LOG("%.3f W, should be %.3f W", power, truth("power_uw_VDD_GPU_SOC") / 1e6);
	}
	ASSERT_EQ(0, put(PARAM "adc_offset_uv", "400"));
	sleep_us(20000);
	measure(SHUNT1, &offset, &deviation);
	EXPECT_LT(fabs(offset - shunt - 10), 0.15) {
		TH_LOG("offset of %.3f LSB, should be 10", offset - shunt);
	}
}

TEST_F(chip, conversions_without_a_read_are_averaged)
{
	int before = steps(reg_read(CHIP, BUS1));
	uint64_t t;

	ASSERT_EQ(0, reg_write(CHIP, CONFIG, ALL | AVG(7) | CT(0) | BOTH));
	sleep_us(20000000);
	t = now_ns();
	EXPECT_LE(abs(steps(reg_read(CHIP, BUS1)) - before), 2);
	/* In these 20 s the chip makes 140,000 conversions; the simulation must not calculate them
	 * one by one, which would take long. */
	EXPECT_LT(now_ns() - t, 60000000U);
}

TEST_HARNESS_MAIN
