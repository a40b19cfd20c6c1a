// SPDX-License-Identifier: GPL-2.0
/* INA3221: three channels, TI SBOS576. */
#include "sensors/adc.h"
#include "sensors/chip_ops.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#define CHANNELS		3

#define CONFIG_CHANNEL(channel)	BIT(14 - (channel))
#define CONFIG_AVG		GENMASK(11, 9)
#define CONFIG_VBUS_CT		GENMASK(8, 6)
#define CONFIG_VSH_CT		GENMASK(5, 3)
#define CONFIG_CONTINUOUS	BIT(2)
#define CONFIG_BUS		BIT(1)
#define CONFIG_SHUNT		BIT(0)

static const struct jetwatt_adc *const adc = &jetwatt_adcs[JETWATT_ADC_INA3221];

static unsigned int enabled(const u16 *config)
{
	unsigned int channel, mask = 0;

	if (!(*config & (CONFIG_BUS | CONFIG_SHUNT)))
		return 0;
	for (channel = 0; channel < CHANNELS; channel++)
		if (*config & CONFIG_CHANNEL(channel))
			mask |= BIT(channel);
	return mask;
}

/*
 * Averaging is no part of the refresh: it is a recursive filter whose output is
 * refreshed by each conversion, so it slows the answer, not the refresh.
 */
static void ina3221_conversion(const u16 *config, struct jetwatt_conversion *is)
{
	u32 us = 0;

	is->channels = enabled(config);
	is->shunt_us = adc->conversion_us[FIELD_GET(CONFIG_VSH_CT, *config)];
	is->averages = adc->conversions[FIELD_GET(CONFIG_AVG, *config)];
	is->filter = adc->filter;
	if (*config & CONFIG_SHUNT)
		us += is->shunt_us;
	if (*config & CONFIG_BUS)
		us += adc->conversion_us[FIELD_GET(CONFIG_VBUS_CT, *config)];
	is->refresh_us = *config & CONFIG_CONTINUOUS ? us * hweight32(is->channels) : 0;
}

/* 13 bits of two's complement in 15:3; limits are packed alike. */
#define SHUNT_FIELD	{ .bytes = 2, .shift = 3, .bits = 13, .sign = true, .lsb_pv = 40000000 }

static const struct jetwatt_range range = {
	.shunt = SHUNT_FIELD,
	.limit = SHUNT_FIELD,
	.most = 4095,
	.offset_nv = 80000,
};

/*
 * Register map, table 3. Register 0x0F (Mask/Enable) is not here on purpose:
 * reading it clears the alert flags that the hwmon driver shows as alarms.
 * Nothing in this module reads it.
 */
static const struct jetwatt_aux_reg aux_regs[] = {
	{ 0x00, JETWATT_REG_CONFIG, 0 },
	{ 0x07, JETWATT_REG_CRITICAL, 0 }, { 0x08, JETWATT_REG_WARNING, 0 },
	{ 0x09, JETWATT_REG_CRITICAL, 1 }, { 0x0a, JETWATT_REG_WARNING, 1 },
	{ 0x0b, JETWATT_REG_CRITICAL, 2 }, { 0x0c, JETWATT_REG_WARNING, 2 },
};

const struct jetwatt_chip_ops jetwatt_ina3221 = {
	.name = "ina3221",
	.channels = CHANNELS,
	.shunt = { 0x01, 0x03, 0x05 },
	.bus = { 0x02, 0x04, 0x06 },
	.sum = 0x0d,
	.ranges = &range,
	.bus_field = { .bytes = 2, .shift = 3, .bits = 13, .sign = true, .lsb_pv = 8000000000 },
	/* 15 bits in 15:1, of conversions without averaging. */
	.sum_field = { .bytes = 2, .shift = 1, .bits = 15, .sign = true, .lsb_pv = 40000000 },
	/* Errors: section 7.5, "Electrical Characteristics", maxima at 25 degrees. */
	.gain_ppm = 2500,
	.bus_gain_ppm = 2500,
	.bus_offset_uv = 16000,
	.aux_regs = aux_regs,
	.nr_configs = 1,
	.nr_aux_regs = ARRAY_SIZE(aux_regs),
	.conversion = ina3221_conversion,
};
