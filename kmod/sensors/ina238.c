// SPDX-License-Identifier: GPL-2.0
/*
 * INA238: one channel up to 85 V. Data sheet: TI SLYS025. The INA228 has the same configuration
 * registers, so ina228.c uses the functions of this file.
 *
 * Evidence (see doc/hardware.md): simulation. Vendor's source for the configuration: the hwmon
 * driver sets ADC_CONFIG to 0xfb6a, which gives 19.8 fresh values a second (drivers/hwmon/ina238.c
 * of Linux 6.8).
 */
#include "sensors/adc.h"
#include "sensors/ina238.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#define CONFIG_ADCRANGE	BIT(4)		/* register CONFIG: divides range and LSB by 4 */

#define ADC_CONTINUOUS	BIT(15)		/* register ADC_CONFIG, down to ADC_AVG */
#define ADC_TEMP	BIT(14)
#define ADC_SHUNT	BIT(13)
#define ADC_BUS		BIT(12)
#define ADC_VBUS_CT	GENMASK(11, 9)
#define ADC_VSH_CT	GENMASK(8, 6)
#define ADC_VT_CT	GENMASK(5, 3)
#define ADC_AVG		GENMASK(2, 0)

static const struct jetwatt_adc *const adc = &jetwatt_adcs[JETWATT_ADC_INA238];

/* Unlike the INA3221, the INA238 outputs a new mean only after all conversions that it averages. */
void jetwatt_ina238_conversion(const u16 *config, struct jetwatt_conversion *conv)
{
	u32 us = 0;

	conv->channels = config[0] & ADC_SHUNT && config[0] & ADC_BUS ? BIT(0) : 0;
	conv->shunt_us = adc->conversion_us[FIELD_GET(ADC_VSH_CT, config[0])];
	conv->averages = adc->conversions[FIELD_GET(ADC_AVG, config[0])];
	conv->filter = adc->filter;
	if (config[0] & ADC_BUS)
		us += adc->conversion_us[FIELD_GET(ADC_VBUS_CT, config[0])];
	if (config[0] & ADC_SHUNT)
		us += conv->shunt_us;
	if (config[0] & ADC_TEMP)
		us += adc->conversion_us[FIELD_GET(ADC_VT_CT, config[0])];
	conv->refresh_us = config[0] & ADC_CONTINUOUS ? us * conv->averages : 0;
}

unsigned int jetwatt_ina238_range(const u16 *config)
{
	return config[1] & CONFIG_ADCRANGE ? 1 : 0;
}

#define SHUNT_FIELD(pv)	{ .bytes = 2, .bits = 16, .sign = true, .lsb_pv = (pv) }

static const struct jetwatt_range ranges[] = {
	{ SHUNT_FIELD(5000000), SHUNT_FIELD(5000000), .max_raw = 32767, .offset_nv = 5000 },
	{ SHUNT_FIELD(1250000), SHUNT_FIELD(1250000), .max_raw = 32767, .offset_nv = 5000 },
};

/*
 * Register map: data sheet, table 7-3. DIAG_ALRT (0x0b) is not in this list, because reading it
 * clears latched alerts. The critical limit is the chip's shunt overvoltage limit.
 */
const struct jetwatt_aux_reg jetwatt_ina238_aux_regs[JETWATT_INA238_NR_AUX_REGS] = {
	{ 0x01, JETWATT_REG_CONFIG, 0 },
	{ 0x00, JETWATT_REG_CONFIG, 1 },
	{ 0x0c, JETWATT_REG_CRITICAL, 0 },
};

const struct jetwatt_chip_ops jetwatt_ina238 = {
	.name = "ina238",
	.channels = 1,
	.shunt = { 0x04 },
	.bus = { 0x05 },
	.ranges = ranges,
	/* The bus voltage is never negative: bit 15 is always 0. */
	.bus_field = { .bytes = 2, .bits = 16, .sign = true, .lsb_pv = 3125000000 },
	/* Errors: "Electrical Characteristics", maxima at 25 degrees. */
	.gain_ppm = 1000,
	.bus_gain_ppm = 1000,
	.bus_offset_uv = 5000,
	.aux_regs = jetwatt_ina238_aux_regs,
	.nr_configs = 2,
	.nr_aux_regs = JETWATT_INA238_NR_AUX_REGS,
	.range = jetwatt_ina238_range,
	.conversion = jetwatt_ina238_conversion,
};
