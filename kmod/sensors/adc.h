/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversion times and averaging settings of the INA3221 and the INA238, as data. The module uses
 * this table. user/energy uses it too, for a module or trace of an earlier version, which does not
 * report these properties. The INA228 has the times and averages of the INA238; the properties of
 * the INA219 are in ina219.c. JETWATT_CMD_CHIP_GET reports the properties of every chip.
 */
#ifndef JETWATT_ADC_H
#define JETWATT_ADC_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#endif

/**
 * struct jetwatt_adc - how a chip model converts and averages
 * @model: name of the model, as in JETWATT_A_CHIP_MODEL
 * @conversion_us: selectable conversion times in microseconds, indexed by the value of the
 *	conversion time field
 * @conversions: selectable numbers of averaged conversions, indexed by the value of the averaging
 *	field
 * @shunt_ct: lowest bit of the field for the conversion time of the shunt voltage, in the first
 *	configuration register (JETWATT_A_CHIP_CONFIG)
 * @averaging: lowest bit of the averaging field, in the same register as @shunt_ct
 * @filter: averaging is a recursive filter that outputs a new value after every conversion; if
 *	false, the chip outputs one mean value after all conversions that it averages
 * @lsb_nv: LSB of the shunt voltage, in nanovolts
 * @fine_lsb_nv: LSB of the shunt voltage in the smaller range, in nanovolts; 0 if the chip has only
 *	one range
 *
 * The conversion time field and the averaging field are three bits wide.
 */
struct jetwatt_adc {
	const char *model;
	uint16_t conversion_us[8];
	uint16_t conversions[8];
	uint8_t shunt_ct;
	uint8_t averaging;
	bool filter;
	uint32_t lsb_nv;
	uint32_t fine_lsb_nv;
};

enum { JETWATT_ADC_INA3221, JETWATT_ADC_INA238, JETWATT_ADCS };

static const struct jetwatt_adc jetwatt_adcs[JETWATT_ADCS] = {
	/* TI SBOS576B, tables 4 to 6, and "Averaging Function". */
	[JETWATT_ADC_INA3221] = {
		.model = "ina3221",
		.conversion_us = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 },
		.conversions = { 1, 4, 16, 64, 128, 256, 512, 1024 },
		.shunt_ct = 3,
		.averaging = 9,
		.filter = true,
		.lsb_nv = 40000,
	},
	/* TI SLYS025, table 7-6 (ADC_CONFIG) and the bit ADCRANGE of CONFIG. */
	[JETWATT_ADC_INA238] = {
		.model = "ina238",
		.conversion_us = { 50, 84, 150, 280, 540, 1052, 2074, 4120 },
		.conversions = { 1, 4, 16, 64, 128, 256, 512, 1024 },
		.shunt_ct = 6,
		.averaging = 0,
		.lsb_nv = 5000,
		.fine_lsb_nv = 1250,
	},
};

#ifndef __KERNEL__
/**
 * jetwatt_adc_find() - find the converter of a chip model
 * @model: name of the model, as in JETWATT_A_CHIP_MODEL
 *
 * Return: the converter, or NULL if the model is not in the table.
 */
static inline const struct jetwatt_adc *jetwatt_adc_find(const char *model)
{
	int i;

	for (i = 0; i < JETWATT_ADCS; i++)
		if (!strcmp(model, jetwatt_adcs[i].model))
			return &jetwatt_adcs[i];
	return NULL;
}
#endif

#endif
