// SPDX-License-Identifier: GPL-2.0
/*
 * INA219: one channel up to 26 V, 12 bits. Data sheet: TI SBOS448G; the numbers of its sections and
 * tables are quoted from memory.
 *
 * Evidence (see doc/hardware.md): simulation. Vendor's source for the configuration: the hwmon
 * driver leaves CONFIG at 0x399f (320 mV, 532 us per conversion), which gives 940 fresh values a
 * second (drivers/hwmon/ina2xx.c of Linux 6.8, INA219_CONFIG_DEFAULT).
 */
#include "sensors/chip_ops.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#define CONFIG_PG		GENMASK(12, 11)
#define CONFIG_BADC		GENMASK(10, 7)
#define CONFIG_SADC		GENMASK(6, 3)
#define CONFIG_CONTINUOUS	BIT(2)
#define CONFIG_BUS		BIT(1)
#define CONFIG_SHUNT		BIT(0)

/*
 * Data sheet, table 5, "ADC Settings". If averaging is selected, the chip converts all samples of
 * the mean one after the other; this table gives their total time, as one conversion. The chip
 * converts the shunt voltage first, then the bus voltage.
 */
static const u32 conversion_us[] = {
	84, 148, 276, 532, 84, 148, 276, 532, 532, 1060, 2130, 4260, 8510, 17020, 34050, 68100,
};

static void ina219_conversion(const u16 *config, struct jetwatt_conversion *conv)
{
	u32 us = 0;

	conv->channels = *config & CONFIG_SHUNT && *config & CONFIG_BUS ? BIT(0) : 0;
	conv->shunt_us = conversion_us[FIELD_GET(CONFIG_SADC, *config)];
	conv->averages = 1;
	if (*config & CONFIG_SHUNT)
		us += conv->shunt_us;
	if (*config & CONFIG_BUS)
		us += conversion_us[FIELD_GET(CONFIG_BADC, *config)];
	conv->refresh_us = *config & CONFIG_CONTINUOUS ? us : 0;
}

/*
 * Return the index of the range that the gain (field PG) selects. The gain limits the range of the
 * shunt voltage; the LSB is the same at all gains.
 */
static unsigned int range(const u16 *config)
{
	return FIELD_GET(CONFIG_PG, *config);
}

#define RANGE(steps, nv)	{							\
	.shunt = { .bytes = 2, .bits = 16, .sign = true, .lsb_pv = 10000000 },		\
	.max_raw = (steps),								\
	.offset_nv = (nv),								\
}

/* Ranges of 40, 80, 160 and 320 mV. Offsets: section 7.5, "Electrical Characteristics", INA219A. */
static const struct jetwatt_range ranges[] = {
	RANGE(4000, 100000), RANGE(8000, 125000), RANGE(16000, 150000), RANGE(32000, 200000),
};

/*
 * The chip has no limit registers. The power register (0x03) must not be read, because reading it
 * clears the conversion-ready flag (CNVR), for which another driver may be waiting.
 */
static const struct jetwatt_aux_reg aux_regs[] = {
	{ 0x00, JETWATT_REG_CONFIG, 0 },
};

const struct jetwatt_chip_ops jetwatt_ina219 = {
	.name = "ina219",
	.channels = 1,
	.shunt = { 0x01 },
	.bus = { 0x02 },
	.ranges = ranges,
	/*
	 * Value in bits 15:3. Below the value are the flags CNVR (conversion ready) and OVF (the
	 * chip's calculation of current or power has overflowed).
	 */
	.bus_field = { .bytes = 2, .shift = 3, .bits = 13, .lsb_pv = 4000000000 },
	/* Section 7.5: "measurement error" of current and bus voltage at 25 degrees, INA219A. */
	.gain_ppm = 5000,
	.bus_gain_ppm = 5000,
	.aux_regs = aux_regs,
	.nr_configs = 1,
	.nr_aux_regs = ARRAY_SIZE(aux_regs),
	.range = range,
	.conversion = ina219_conversion,
};
