// SPDX-License-Identifier: GPL-2.0
/* INA228: one channel up to 85 V, 20 bits, TI SLYS021A. */
#include "sensors/chip_ops.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#define CONFIG_ADCRANGE	BIT(4)		/* of CONFIG: a quarter of the range and of the step */

#define ADC_CONTINUOUS	BIT(15)		/* of ADC_CONFIG, the other register */
#define ADC_TEMP	BIT(14)
#define ADC_SHUNT	BIT(13)
#define ADC_BUS		BIT(12)
#define ADC_VBUS_CT	GENMASK(11, 9)
#define ADC_VSH_CT	GENMASK(8, 6)
#define ADC_VT_CT	GENMASK(5, 3)
#define ADC_AVG		GENMASK(2, 0)

/* Table 7-6, fields VBUSCT, VSHCT and VTCT, and AVG. */
static const u16 conversion_us[] = { 50, 84, 150, 280, 540, 1052, 2074, 4120 };
static const u16 conversions[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };

/* A new value comes when all conversions of its mean are done. */
static void conversion(const u16 *config, struct jetwatt_conversion *is)
{
	u32 us = 0;

	is->channels = config[0] & ADC_SHUNT && config[0] & ADC_BUS ? BIT(0) : 0;
	is->shunt_us = conversion_us[FIELD_GET(ADC_VSH_CT, config[0])];
	is->averages = conversions[FIELD_GET(ADC_AVG, config[0])];
	if (config[0] & ADC_BUS)
		us += conversion_us[FIELD_GET(ADC_VBUS_CT, config[0])];
	if (config[0] & ADC_SHUNT)
		us += is->shunt_us;
	if (config[0] & ADC_TEMP)
		us += conversion_us[FIELD_GET(ADC_VT_CT, config[0])];
	is->refresh_us = config[0] & ADC_CONTINUOUS ? us * is->averages : 0;
}

static unsigned int range(const u16 *config)
{
	return config[1] & CONFIG_ADCRANGE ? 1 : 0;
}

/* 20 bits in 23:4 of 24; the limit is one of 16 bits, with steps 16 times as large. */
#define RANGE(pv)								\
	{									\
		.shunt = { .bytes = 3, .shift = 4, .bits = 20, .sign = true, .lsb_pv = (pv) },	\
		.limit = { .bytes = 2, .bits = 16, .sign = true, .lsb_pv = 16 * (pv) },		\
		.most = 524287,							\
		.offset_nv = 1000,						\
	}

/* Table 8-1: 163.84 mV and 40.96 mV. */
static const struct jetwatt_range ranges[] = { RANGE(312500), RANGE(78125) };

/*
 * Register map, table 7-3. DIAG_ALRT (0x0b) is not here on purpose: reading it
 * clears alerts that are latched. The limit is the chip's shunt over-voltage.
 *
 * Nor is ENERGY (0x09), whose scale is SHUNT_CAL: that belongs to the hwmon driver, whose
 * value has changed (16384, 4096 in newer versions), and so does CONFIG.RSTACC, which resets
 * the accumulator unseen. Reading it clears ENERGYOF in DIAG_ALRT,
 * it adds up the magnitude of reversed currents, and no time comes with it, so that it
 * cannot tell how much of it falls into time that the sampler was blind.
 */
static const struct jetwatt_side side[] = {
	{ 0x01, JETWATT_CONFIG, 0 },
	{ 0x00, JETWATT_CONFIG, 1 },
	{ 0x0c, JETWATT_CRITICAL, 0 },
};

const struct jetwatt_model jetwatt_ina228 = {
	.name = "ina228",
	.channels = 1,
	.shunt = { 0x04 },
	.bus = { 0x05 },
	.ranges = ranges,
	/* Never negative: bit 23 is always 0. */
	.bus_field = { .bytes = 3, .shift = 4, .bits = 20, .sign = true, .lsb_pv = 195312500 },
	/* Errors: page 1, "Features". It has none of the bus voltage. */
	.gain_ppm = 500,
	.side = side,
	.nr_configs = 2,
	.nr_side = ARRAY_SIZE(side),
	.range = range,
	.conversion = conversion,
};
