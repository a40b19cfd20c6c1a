// SPDX-License-Identifier: GPL-2.0
/* INA228: one channel up to 85 V, 20 bits, TI SLYS021A. */
#include "sensors/ina238.h"

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
 * Configuration and registers are those of the INA238 (tables 7-3 and 7-6). ENERGY (0x09) is
 * not read. Its scale, SHUNT_CAL, belongs to the hwmon driver, which has changed it (16384,
 * 4096 in newer versions), and so does CONFIG.RSTACC, which resets the accumulator unseen.
 * Reading it clears ENERGYOF in DIAG_ALRT, it adds up the magnitude of reversed currents, and
 * no time comes with it, so that it cannot tell how much of it falls into time that the
 * sampler was blind.
 */
const struct jetwatt_chip_ops jetwatt_ina228 = {
	.name = "ina228",
	.channels = 1,
	.shunt = { 0x04 },
	.bus = { 0x05 },
	.ranges = ranges,
	/* Never negative: bit 23 is always 0. */
	.bus_field = { .bytes = 3, .shift = 4, .bits = 20, .sign = true, .lsb_pv = 195312500 },
	/* Errors: page 1, "Features", of the INA228-Q1's sheet. It has none of the bus voltage. */
	.gain_ppm = 500,
	.aux_regs = jetwatt_ina238_aux_regs,
	.nr_configs = 2,
	.nr_aux_regs = JETWATT_INA238_SIDE,
	.range = jetwatt_ina238_range,
	.conversion = jetwatt_ina238_conversion,
};
