/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversion and averaging times of the INA3221 and the INA238, as data. The module uses them, and
 * so does user/energy, for a module or trace of the previous version, which does not report them.
 * The other chips have theirs in their own files; JETWATT_CMD_CHIP_GET reports those of all chips.
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
 * @conversion_us: conversion times in microseconds, indexed by the value of their field
 * @conversions: numbers of averaged conversions, indexed by the value of their field
 * @shunt_ct: lowest bit of the field for the conversion time of the shunt voltage, in the first
 *	configuration register (JETWATT_A_CHIP_CONFIG)
 * @averaging: lowest bit of the averaging field in the same register
 * @filter: averaging is a recursive filter that outputs a new value after every conversion; if
 *	false, one mean value is output per @conversions conversions
 * @lsb_nv: LSB of the shunt voltage, in nanovolts
 * @fine_lsb_nv: LSB in the smaller of two ranges, in nanovolts; 0 if there is one range only
 *
 * Both fields are three bits wide.
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
