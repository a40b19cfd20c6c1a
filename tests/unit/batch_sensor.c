// SPDX-License-Identifier: GPL-2.0-only
/* Age, filter lag and error of readings of sensor chips, compared with the data sheets. */
#include "energy/energy.h"

#include <math.h>

#include "kselftest_harness.h"

#define US	1e3

/* An INA3221 at 5 V with shunts of 2 mOhm: two channels, 332 us for each conversion of shunt and
 * bus voltage, average of 16 conversions. */
TEST(ina3221_has_the_delays_of_its_configuration)
{
	const struct jetwatt_rail rail = { .shunt_uohm = 2000, .fresh_mhz = 753012 };
	struct jetwatt_chip chip = { .model = "ina3221", .config = 0x6000 | 2 << 9 | 2 << 6 | 2 << 3 | 7,
				     .refresh_mhz = 753012 };
	struct jetwatt_batch_sensor s = jetwatt_batch_sensor(&rail, &chip, 5e6);

	EXPECT_LT(fabs(s.quantum_uw - 100000), 1);
	EXPECT_LT(fabs(s.age_ns - (664 + 166) * US), 1 * US);
	EXPECT_LT(fabs(s.lag_ns - 15 * 1328 * US), 15 * US);
	EXPECT_LT(fabs(s.fresh_hz - 753), 0.1);
}

/* An INA238 at 20 V with a shunt of 2 mOhm: conversions of bus voltage, shunt voltage and
 * temperature of 1052 us each. */
TEST(ina238_has_the_delays_of_its_configuration)
{
	struct jetwatt_rail rail = { .shunt_uohm = 2000, .fresh_mhz = 316856, .step_uw = 50000 };
	struct jetwatt_chip chip = { .model = "ina238", .config = 0xfb68, .refresh_mhz = 316856 };
	struct jetwatt_batch_sensor s = jetwatt_batch_sensor(&rail, &chip, 20e6);

	EXPECT_LT(fabs(s.quantum_uw - 50000), 1);
	EXPECT_LT(fabs(s.age_ns - (1578 + 526) * US), 1 * US);
	EXPECT_EQ(s.lag_ns, 0);

	/* With an average of 16 conversions, the chip has a new value every 50.5 ms, from
	 * conversions over the last 47.3 ms. */
	chip.config |= 2;
	chip.refresh_mhz = 316856 / 16;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.age_ns - (25248 + 526 + 23670) * US), 10 * US);
	EXPECT_EQ(s.lag_ns, 0);

	/* The LSB of the smaller range is a quarter of the larger range's. An older module does not
	 * report the range, but the rail's step_uw shows the range, even if it is not exact. */
	rail.step_uw = 12400;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.quantum_uw - 12500), 1);
	rail.step_uw = 0;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.quantum_uw - 50000), 1);
}

/* The conversion settings that the kernel module reports are used for any chip model, here an
 * INA228 at 20 V with a shunt of 2 mOhm. */
TEST(conversion_settings_from_the_module_count)
{
	const struct jetwatt_rail rail = { .shunt_uohm = 2000, .fresh_mhz = 19803 };
	struct jetwatt_chip chip = { .model = "ina228", .config = 0xffff, .refresh_mhz = 19803,
				     .shunt_us = 1052, .averages = 16, .step_pv = 5000000 };
	struct jetwatt_batch_sensor s = jetwatt_batch_sensor(&rail, &chip, 20e6);

	EXPECT_LT(fabs(s.quantum_uw - 50000), 1);
	EXPECT_LT(fabs(s.age_ns - (25248 + 526 + 23670) * US), 10 * US);
	EXPECT_EQ(s.lag_ns, 0);
	/* Samples of the shunt voltage are whole microvolts, so a chip's LSB below 1 uV counts as 1
	 * uV. */
	chip.step_pv = 312500;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.quantum_uw - 10000), 1);
	chip.filter = 1;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.lag_ns - 15 * 50497 * US), 15 * US);
	EXPECT_LT(fabs(s.age_ns - (25248 + 526) * US), 10 * US);

	/* The settings that the module reports have precedence for a known model (INA3221) too. */
	snprintf(chip.model, sizeof(chip.model), "ina3221");
	chip.filter = 0;
	chip.averages = 1;
	s = jetwatt_batch_sensor(&rail, &chip, 20e6);
	EXPECT_LT(fabs(s.quantum_uw - 10000), 1);
	EXPECT_EQ(s.lag_ns, 0);
}

/* For a chip model that is not in the table, or for a rail without a shunt resistance, no error is
 * stated. */
TEST(unknown_chip_has_no_stated_error)
{
	struct jetwatt_rail rail = { .shunt_uohm = 2000 };
	struct jetwatt_chip chip = { .model = "ina999", .config = 0x7127, .refresh_mhz = 1000000 };
	struct jetwatt_batch_sensor s = jetwatt_batch_sensor(&rail, &chip, 5e6);

	EXPECT_EQ(s.quantum_uw, 0);
	EXPECT_LT(fabs(s.age_ns - 500 * US), 1);
	s = jetwatt_batch_sensor(&rail, NULL, 5e6);
	EXPECT_EQ(s.quantum_uw, 0);
	EXPECT_EQ(s.age_ns, 0);
	rail.shunt_uohm = 0;
	snprintf(chip.model, sizeof(chip.model), "ina238");
	s = jetwatt_batch_sensor(&rail, &chip, 5e6);
	EXPECT_EQ(s.quantum_uw, 0);
}

/* When a run begins, the rate at which the module has read the rail is unknown, or still that of another
 * program. */
TEST(new_values_come_at_the_rate_of_the_chip)
{
	struct jetwatt_rail rail = { .shunt_uohm = 2000 };
	struct jetwatt_chip chip = { .model = "ina3221", .config = 0x7127, .refresh_mhz = 151515 };

	for (rail.fresh_mhz = 0; rail.fresh_mhz <= 10000; rail.fresh_mhz += 10000)
		EXPECT_LT(fabs(jetwatt_batch_sensor(&rail, &chip, 5e6).fresh_hz - 151.5), 0.1);
	rail.fresh_mhz = 20000;
	chip.refresh_mhz = 0;
	EXPECT_LT(fabs(jetwatt_batch_sensor(&rail, &chip, 5e6).fresh_hz - 20), 0.1);
	EXPECT_LT(fabs(jetwatt_batch_sensor(&rail, NULL, 5e6).fresh_hz - 20), 0.1);
}

TEST_HARNESS_MAIN
