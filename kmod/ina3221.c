// SPDX-License-Identifier: GPL-2.0
#include "ina3221.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/math64.h>

#define CONFIG_CHANNEL(channel)	BIT(14 - (channel))
#define CONFIG_VBUS_CT		GENMASK(8, 6)
#define CONFIG_VSH_CT		GENMASK(5, 3)
#define CONFIG_CONTINUOUS	BIT(2)
#define CONFIG_BUS		BIT(1)
#define CONFIG_SHUNT		BIT(0)

#define SHUNT_LSB_UV	40
#define BUS_LSB_UV	8000

/* Conversion times in us, SBOS576 tables 5 and 6. */
static const u16 conversion_us[8] = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 };

/**
 * jetwatt_ina3221_shunt_uv() - decode a shunt voltage register
 * @reg: register in host byte order: 13 bits of two's complement in 15:3
 *
 * Return: microvolts, -163840..163800.
 */
s32 jetwatt_ina3221_shunt_uv(u16 reg)
{
	return sign_extend32(reg >> 3, 12) * SHUNT_LSB_UV;
}

/**
 * jetwatt_ina3221_bus_uv() - decode a bus voltage register
 * @reg: register in host byte order, packed as a shunt voltage is
 *
 * Return: microvolts.
 */
s32 jetwatt_ina3221_bus_uv(u16 reg)
{
	return sign_extend32(reg >> 3, 12) * BUS_LSB_UV;
}

/**
 * jetwatt_ina3221_channels() - which channels the chip converts
 * @config: register 0x00
 *
 * Return: a mask, bit 0 for the first channel; 0 in power-down.
 */
unsigned int jetwatt_ina3221_channels(u16 config)
{
	unsigned int channel, mask = 0;

	if (!(config & (CONFIG_BUS | CONFIG_SHUNT)))
		return 0;
	for (channel = 0; channel < INA3221_CHANNELS; channel++)
		if (config & CONFIG_CHANNEL(channel))
			mask |= BIT(channel);
	return mask;
}

/**
 * jetwatt_ina3221_cycle_us() - how long the chip takes for all its channels
 * @config: register 0x00
 *
 * Averaging is no part of it: it is a recursive filter whose output is
 * refreshed by each conversion, so it slows the answer, not the refresh.
 *
 * Return: microseconds; 0 if the chip does not convert by itself (power-down
 * or single shot, where whoever triggers it decides).
 */
u32 jetwatt_ina3221_cycle_us(u16 config)
{
	u32 us = 0;

	if (!(config & CONFIG_CONTINUOUS))
		return 0;
	if (config & CONFIG_SHUNT)
		us += conversion_us[FIELD_GET(CONFIG_VSH_CT, config)];
	if (config & CONFIG_BUS)
		us += conversion_us[FIELD_GET(CONFIG_VBUS_CT, config)];
	return us * hweight32(jetwatt_ina3221_channels(config));
}

/**
 * jetwatt_ina3221_refresh_mhz() - how often a channel has a new value
 * @config: register 0x00
 *
 * Return: millihertz, 0 if the chip does not convert by itself.
 */
u32 jetwatt_ina3221_refresh_mhz(u16 config)
{
	u32 us = jetwatt_ina3221_cycle_us(config);

	return us ? (u32)div_u64(1000000000ULL, us) : 0;
}
