// SPDX-License-Identifier: GPL-2.0-only
/* What the simulated chips with one channel share: supply line, shunt, voltages set by a test. */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/of.h>

#include "chip.h"

static long exact_shunt_pv;
module_param(exact_shunt_pv, long, 0644);
MODULE_PARM_DESC(exact_shunt_pv, "shunt voltage of chips with one channel, pV, without noise; used if exact_bus_uv is set");

static int exact_bus_uv;
module_param(exact_bus_uv, int, 0644);
MODULE_PARM_DESC(exact_bus_uv, "bus voltage of chips with one channel, uV, without noise (default 0: from the plant's load)");

static bool forced(s64 *shunt_pv, s64 *bus_uv)
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

bool sim_part_measure(const struct sim_wire *wire, u32 shunt_uohm, u64 start, u64 ns, s64 *shunt_pv,
		      s64 *bus_uv)
{
	u64 from[SIM_RAILS], to[SIM_RAILS], ua = 0;
	u32 mv = 0;

	if (forced(shunt_pv, bus_uv))
		return true;
	sim_plant_energy(start, from);
	sim_plant_energy(start + ns, to);
	if (wire)
		sim_wire_electric(wire, sim_wire_uw(wire, from, to, ns), &mv, &ua);
	/* uA x uOhm = pV */
	*shunt_pv = ua * shunt_uohm;
	*bus_uv = (s64)mv * 1000;
	return false;
}

s64 sim_part_digitise(struct sim_noise *noise, s64 pv, s64 step, bool exact)
{
	s64 half;

	pv += exact ? 0 : ((s64)sim_noise_gauss(noise) * step) >> 17;
	half = pv < 0 ? -step / 2 : step / 2;
	return div64_s64(pv + half, step);
}
