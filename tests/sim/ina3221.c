// SPDX-License-Identifier: GPL-2.0-only
/* An INA3221 by its data sheet (TI SBOS576): registers; ina3221_convert.c has the conversions. */
#include <linux/kernel.h>
#include <linux/of.h>
#include <linux/string.h>

#include "chip.h"

static const u16 defaults[REG_PLAIN] = {
	[REG_CONFIG] = 0x7127,
	[REG_CRIT1] = 0x7ff8, [REG_CRIT2] = 0x7ff8, [REG_CRIT3] = 0x7ff8,
	[REG_WARN1] = 0x7ff8, [REG_WARN2] = 0x7ff8, [REG_WARN3] = 0x7ff8,
	[REG_SUM_LIMIT] = 0x7ffe,
	[REG_MASK] = MASK_TCF,
	[REG_PV_HIGH] = 0x2710, [REG_PV_LOW] = 0x2328,
};

static void reset(struct sim_chip *chip, u64 t)
{
	int i;

	memcpy(chip->reg, defaults, sizeof(defaults));
	for (i = 0; i < SIM_CHANNELS; i++) {
		chip->channel[i].shunt_avg = 0;
		chip->channel[i].bus_avg = 0;
		chip->channel[i].shunt_single = 0;
	}
	sim_chip_restart(chip, t);
}

static void wire_channel(struct sim_chip *chip, struct device_node *input)
{
	const char *label;
	u32 reg, uohm;

	if (of_property_read_u32(input, "reg", &reg) || reg >= SIM_CHANNELS ||
	    of_property_read_string(input, "label", &label))
		return;
	/* A channel has a shunt on the board even if the device tree does not describe it. */
	if (of_property_read_u32(input, "shunt-resistor-micro-ohms", &uohm))
		uohm = SIM_SHUNT_UOHM;
	chip->channel[reg].wire = sim_wire_find(label);
	chip->channel[reg].shunt_uohm = uohm;
}

static void init(void *state, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	struct sim_chip *chip = state;
	struct device_node *input;
	int i;

	memset(chip, 0, sizeof(*chip));
	chip->addr = addr;
	for (i = 0; i < SIM_CHANNELS; i++)
		chip->channel[i].wire = NULL;
	sim_noise_seed(&chip->noise, seed);
	reset(chip, t);
	for_each_available_child_of_node(node, input)
		wire_channel(chip, input);
}

static u64 read(void *state, u8 reg, u64 t, u32 *bytes)
{
	struct sim_chip *chip = state;
	u16 value;

	*bytes = 2;
	if (reg == REG_MANUFACTURER)
		return 0x5449;
	if (reg == REG_DIE)
		return 0x3220;
	if (reg >= REG_PLAIN)
		return 0;
	sim_chip_convert(chip, t);
	value = chip->reg[reg];
	if (reg == REG_MASK)
		chip->reg[reg] &= ~MASK_CLEARED;
	return value;
}

static void write_config(struct sim_chip *chip, u16 value, u64 t)
{
	if (value & 0x8000) {
		reset(chip, t);
		return;
	}
	chip->reg[REG_CONFIG] = value;
	/* If the new mode is power-down, the conversion-ready flag stays set; any other mode clears
	 * it and restarts the sequence of conversions. */
	if (value & 3)
		chip->reg[REG_MASK] &= ~MASK_CVRF;
	sim_chip_restart(chip, t);
}

static void write(void *state, u8 reg, u16 value, u64 t)
{
	struct sim_chip *chip = state;

	sim_chip_convert(chip, t);
	switch (reg) {
	case REG_CONFIG:
		write_config(chip, value, t);
		break;
	case REG_CRIT1 ... REG_WARN3:
	case REG_PV_HIGH ... REG_PV_LOW:
		chip->reg[reg] = value & 0xfff8;
		break;
	case REG_SUM_LIMIT:
		chip->reg[reg] = value & 0xfffe;
		break;
	case REG_MASK:
		/* A write to the register Mask/Enable does not change the flags in it. */
		chip->reg[reg] = (chip->reg[reg] & ~MASK_WRITABLE) | (value & MASK_WRITABLE);
		break;
	default:
		/* All other registers of the chip are read only, so a write is ignored. */
		break;
	}
}

const struct sim_part sim_part_ina3221 = {
	.compatible = "ti,ina3221",
	.size = sizeof(struct sim_chip),
	.init = init,
	.read = read,
	.write = write,
};
