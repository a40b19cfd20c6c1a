// SPDX-License-Identifier: GPL-2.0
/*
 * INA228: one channel up to 85 V, 20 bits. Data sheet: TI SLYS021A; the numbers of its tables are
 * quoted from memory. drivers/hwmon/ina238.c supports "ti,ina228" in some versions of Linux
 * (has_20bit_voltage_current).
 *
 * Evidence (see doc/hardware.md): simulation. Vendor's source for the use of ENERGY by the hwmon
 * driver. Unproven: the errors, which were not compared with section 6.5 of the data sheet.
 */
#include "sensors/ina238.h"

/*
 * The shunt voltage is in bits 23:4 of its register. The register of the shunt voltage's limit has
 * 16 bits; its LSB is 16 times that of the shunt voltage.
 */
#define RANGE(pv)								\
	{									\
		.shunt = { .bytes = 3, .shift = 4, .bits = 20, .sign = true, .lsb_pv = (pv) },	\
		.limit = { .bytes = 2, .bits = 16, .sign = true, .lsb_pv = 16 * (pv) },		\
		.max_raw = 524287,							\
		.offset_nv = 1000,						\
	}

/* Ranges of 163.84 mV and 40.96 mV: data sheet, table 8-1. */
static const struct jetwatt_range ranges[] = { RANGE(312500), RANGE(78125) };

/*
 * The INA228 has the same configuration fields and register addresses as the INA238 (data sheet,
 * tables 7-3 and 7-6).
 *
 * The ENERGY register (0x09) is not used, for several reasons. The scale of ENERGY is set by the
 * register SHUNT_CAL, which belongs to the hwmon driver, and that driver has changed the value
 * between versions (16384; 4096 in newer versions). The hwmon driver can also reset the accumulator
 * by CONFIG.RSTACC at any time. Reading ENERGY clears ENERGYOF in DIAG_ALRT. ENERGY adds the energy
 * of reversed currents instead of subtracting it. ENERGY has no time stamp, so the energy of blind
 * time cannot be separated.
 */
const struct jetwatt_chip_ops jetwatt_ina228 = {
	.name = "ina228",
	.channels = 1,
	.shunt = { 0x04 },
	.bus = { 0x05 },
	.ranges = ranges,
	/* The bus voltage is never negative: bit 23 is always 0. */
	.bus_field = { .bytes = 3, .shift = 4, .bits = 20, .sign = true, .lsb_pv = 195312500 },
	/*
	 * The errors of the shunt voltage are from the data sheet of the INA228-Q1, page 1,
	 * "Features". This page does not specify the error of the bus voltage.
	 */
	.gain_ppm = 500,
	.aux_regs = jetwatt_ina238_aux_regs,
	.nr_configs = 2,
	.nr_aux_regs = JETWATT_INA238_NR_AUX_REGS,
	.range = jetwatt_ina238_range,
	.conversion = jetwatt_ina238_conversion,
};
