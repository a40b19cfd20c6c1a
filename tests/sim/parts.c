// SPDX-License-Identifier: GPL-2.0-only
/* What the simulated chips with one channel share: supply line, shunt, voltages set by a test. */
#include <linux/module.h>
#include <linux/of.h>

#include "chip.h"

static long exact_shunt_pv;
module_param(exact_shunt_pv, long, 0644);
MODULE_PARM_DESC(exact_shunt_pv, "shunt voltage of chips with one channel, pV, without noise; used if exact_bus_uv is set");

static int exact_bus_uv;
module_param(exact_bus_uv, int, 0644);
MODULE_PARM_DESC(exact_bus_uv, "bus voltage of chips with one channel, uV, without noise (default 0: from the plant's load)");

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
		*shunt_uohm = SIM_SHUNT_UOHM;
	if (!of_property_read_string(node, "label", &label))
		*wire = sim_wire_find(label);
}
