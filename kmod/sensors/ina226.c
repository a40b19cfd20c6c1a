// SPDX-License-Identifier: GPL-2.0
/*
 * INA226: one channel up to 36 V, 16 bits. Data sheet: TI SBOS547; the numbers of its sections and
 * tables are quoted from memory, and so are the errors.
 *
 * Evidence (see doc/hardware.md): simulation. Vendor's source for the LSBs, the numbers of averages
 * and the configuration: the hwmon driver leaves CONFIG at 0x4527 (16 averages, 1100 us per
 * conversion), which gives 28.4 fresh values a second (drivers/hwmon/ina2xx.c of mainline, commit
 * 001e2e730ce4, INA226_CONFIG_DEFAULT and ina226_avg_tab[]).
 */
#include "sensors/chip_ops.h"

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#define CONFIG_AVG		GENMASK(11, 9)
#define CONFIG_VBUSCT		GENMASK(8, 6)
#define CONFIG_VSHCT		GENMASK(5, 3)
#define CONFIG_CONTINUOUS	BIT(2)
#define CONFIG_BUS		BIT(1)
#define CONFIG_SHUNT		BIT(0)

/* Data sheet, table 6, "AVG Bit Settings". */
static const u32 averages[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };

/* Tables 7 and 8, "VBUSCT Bit Settings" and "VSHCT Bit Settings". */
static const u32 conversion_us[] = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 };

/*
 * The chip converts the shunt voltage and the bus voltage in turn. The registers get the means
 * after the last conversion of the average.
 */
static void ina226_conversion(const u16 *config, struct jetwatt_conversion *conv)
{
	u32 us = 0;

	conv->channels = *config & CONFIG_SHUNT && *config & CONFIG_BUS ? BIT(0) : 0;
	conv->shunt_us = conversion_us[FIELD_GET(CONFIG_VSHCT, *config)];
	conv->averages = averages[FIELD_GET(CONFIG_AVG, *config)];
	if (*config & CONFIG_SHUNT)
		us += conv->shunt_us;
	if (*config & CONFIG_BUS)
		us += conversion_us[FIELD_GET(CONFIG_VBUSCT, *config)];
	conv->refresh_us = *config & CONFIG_CONTINUOUS ? us * conv->averages : 0;
}

/* Range: 81.92 mV. Offset: section 6.5, "Electrical Characteristics", shunt voltage. */
static const struct jetwatt_range ranges[] = {
	{
		.shunt = { .bytes = 2, .bits = 16, .sign = true, .lsb_pv = 2500000 },
		.max_raw = 32767,
		.offset_nv = 10000,
	},
};

/*
 * The mask/enable register (0x06) must not be read, because reading it clears the conversion-ready
 * flag (CVRF) and a latched alert (AFF), for which another driver may be waiting. The limit in 0x07
 * is left out, because only 0x06 says of which quantity it is the limit.
 */
static const struct jetwatt_aux_reg aux_regs[] = {
	{ 0x00, JETWATT_REG_CONFIG, 0 },
};

const struct jetwatt_chip_ops jetwatt_ina226 = {
	.name = "ina226",
	.channels = 1,
	.shunt = { 0x01 },
	.bus = { 0x02 },
	.ranges = ranges,
	/* Bit 15 is always 0. */
	.bus_field = { .bytes = 2, .bits = 15, .lsb_pv = 1250000000 },
	/* Section 6.5: gain errors at 25 degrees, offset of the bus voltage. */
	.gain_ppm = 1000,
	.bus_gain_ppm = 1000,
	.bus_offset_uv = 7500,
	.aux_regs = aux_regs,
	.nr_configs = 1,
	.nr_aux_regs = ARRAY_SIZE(aux_regs),
	.conversion = ina226_conversion,
};
