// SPDX-License-Identifier: GPL-2.0-only
/* Create the sensor chips on the i2c bus from the device tree. */
#include <linux/module.h>
#include <linux/of.h>

#include "chip.h"

#define SHUNT_UOHM	10000	/* for a channel whose shunt is not in the device tree */

static long exact_shunt_pv;
module_param(exact_shunt_pv, long, 0644);
MODULE_PARM_DESC(exact_shunt_pv, "shunt voltage of chips with one channel, pV, without noise; used if exact_bus_uv is set");

static int exact_bus_uv;
module_param(exact_bus_uv, int, 0644);
MODULE_PARM_DESC(exact_bus_uv, "bus voltage of chips with one channel, uV, without noise (0: from the plant's load)");

bool sim_forced(s64 *shunt_pv, s64 *bus_uv)
{
	if (!READ_ONCE(exact_bus_uv))
		return false;
	*shunt_pv = READ_ONCE(exact_shunt_pv);
	*bus_uv = READ_ONCE(exact_bus_uv);
	return true;
}

void sim_part_wire(struct device_node *node, const struct sim_wire **wire, u32 *shunt_uohm)
{
	const char *label;

	if (of_property_read_u32(node, "shunt-resistor", shunt_uohm))
		*shunt_uohm = SHUNT_UOHM;
	if (!of_property_read_string(node, "label", &label))
		*wire = sim_wire_find(label);
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
		uohm = SHUNT_UOHM;
	chip->channel[reg].wire = sim_wire_find(label);
	chip->channel[reg].shunt_uohm = uohm;
}

static void init(void *chip, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	struct device_node *input;

	sim_chip_init(chip, addr, t, seed);
	for_each_available_child_of_node(node, input)
		wire_channel(chip, input);
}

static u64 read(void *chip, u8 reg, u64 t, u32 *bytes)
{
	*bytes = 2;
	return sim_chip_read(chip, reg, t);
}

static void write(void *chip, u8 reg, u16 value, u64 t)
{
	sim_chip_write(chip, reg, value, t);
}

const struct sim_part sim_part_ina3221 = {
	.compatible = "ti,ina3221",
	.size = sizeof(struct sim_chip),
	.init = init,
	.read = read,
	.write = write,
};
