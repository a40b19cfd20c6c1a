// SPDX-License-Identifier: GPL-2.0
/* INA3221: three channels. Data sheet: TI SBOS576. */
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
 * Averaging does not change the time between new values, because the chip averages with a recursive
 * filter that outputs a new value after each conversion. Averaging only delays the step response.
 */
static void ina3221_conversion(const u16 *config, struct jetwatt_conversion *conv)
{
	u32 us = 0;

	conv->channels = enabled(config);
	conv->shunt_us = adc->conversion_us[FIELD_GET(CONFIG_VSH_CT, *config)];
	conv->averages = adc->conversions[FIELD_GET(CONFIG_AVG, *config)];
	conv->filter = adc->filter;
	if (*config & CONFIG_SHUNT)
		us += conv->shunt_us;
	if (*config & CONFIG_BUS)
		us += adc->conversion_us[FIELD_GET(CONFIG_VBUS_CT, *config)];
	conv->refresh_us = *config & CONFIG_CONTINUOUS ? us * hweight32(conv->channels) : 0;
}

/* Shunt voltages and their limits are in two's complement, in bits 15:3. */
#define SHUNT_FIELD	{ .bytes = 2, .shift = 3, .bits = 13, .sign = true, .lsb_pv = 40000000 }

static const struct jetwatt_range range = {
	.shunt = SHUNT_FIELD,
	.limit = SHUNT_FIELD,
	.max_raw = 4095,
	.offset_nv = 80000,
};

/*
 * Register map: data sheet, table 3. Mask/Enable (0x0F) is not in this list, and nothing in this
 * module reads that register, because reading it clears the alert flags that the hwmon driver shows
 * as alarms.
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
	/* The sum is in bits 15:1. The chip adds single conversions, without averaging. */
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
