// SPDX-License-Identifier: GPL-2.0
/* INA238: one channel up to 85 V, TI SLYS022. */
#include "sensors/adc.h"
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

#define BUS_LSB_UV	3125

static const struct jetwatt_adc *const adc = &jetwatt_adcs[JETWATT_ADC_INA238];

static unsigned int enabled(const u16 *config)
{
	return config[0] & ADC_SHUNT && config[0] & ADC_BUS ? BIT(0) : 0;
}

static unsigned int averages(const u16 *config)
{
	return adc->conversions[FIELD_GET(ADC_AVG, config[0])];
}

/* Here, unlike in the INA3221, a new mean comes only when all of its conversions are done. */
static u32 cycle_us(const u16 *config)
{
	u32 us = 0;

	if (!(config[0] & ADC_CONTINUOUS))
		return 0;
	if (config[0] & ADC_BUS)
		us += adc->conversion_us[FIELD_GET(ADC_VBUS_CT, config[0])];
	if (config[0] & ADC_SHUNT)
		us += adc->conversion_us[FIELD_GET(ADC_VSH_CT, config[0])];
	if (config[0] & ADC_TEMP)
		us += adc->conversion_us[FIELD_GET(ADC_VT_CT, config[0])];
	return us * averages(config);
}

static u32 step_nv(const u16 *config)
{
	return config[1] & CONFIG_ADCRANGE ? adc->fine_step_nv : adc->step_nv;
}

static s32 shunt_uv(const u16 *config, u16 reg)
{
	return (s16)reg * (s32)step_nv(config) / 1000;
}

/* Never negative: bit 15 is always 0. */
static s32 bus_uv(u16 reg)
{
	return (s16)reg * BUS_LSB_UV;
}

/*
 * Register map, table 7-3. DIAG_ALRT (0x0b) is not here on purpose: reading it
 * clears alerts that are latched. The limit is the chip's shunt over-voltage.
 */
static const struct jetwatt_side side[] = {
	{ 0x01, JETWATT_CONFIG, 0 },
	{ 0x00, JETWATT_CONFIG, 1 },
	{ 0x0c, JETWATT_CRITICAL, 0 },
};

const struct jetwatt_model jetwatt_ina238 = {
	.name = "ina238",
	.channels = 1,
	.shunt = { 0x04 },
	.bus = { 0x05 },
	.side = side,
	.nr_configs = 2,
	.nr_side = ARRAY_SIZE(side),
	.enabled = enabled,
	.cycle_us = cycle_us,
	.averages = averages,
	.shunt_uv = shunt_uv,
	.bus_uv = bus_uv,
	.step_nv = step_nv,
};
