// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map each rail label of the boards' device trees to a supply line, and to the rails of the plant
 * that this line feeds. The plant has the rails of an AGX Orin; a rail of another board is one of
 * these, a sum of them, or has no load.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "chip.h"

#define GPU	BIT(SIM_RAIL_GPU_SOC)
#define CPU	BIT(SIM_RAIL_CPU_CV)
#define SYS	BIT(SIM_RAIL_SYS_5V0)
#define DDR	BIT(SIM_RAIL_DDR)

static const struct sim_wire wires[] = {
	/* AGX Orin */
	{ "VDD_GPU_SOC", GPU, 19080, 38 },
	{ "VDD_CPU_CV", CPU, 19080, 38 },
	{ "VIN_SYS_5V0", SYS, 5040, 11 },
	{ "VDDQ_VDD2_1V8AO", DDR, 1810, 4 },
	/* Orin NX and Nano, Xavier NX */
	{ "VDD_IN", GPU | CPU | SYS, 5060, 9 },
	{ "VDD_CPU_GPU_CV", GPU | CPU, 5050, 11 },
	{ "VDD_SOC", DDR, 5050, 11 },
	/* AGX Xavier; the rails SOC and CV have no load here */
	{ "GPU", GPU, 19080, 38 },
	{ "CPU", CPU, 19080, 38 },
	{ "SOC", 0, 19080, 38 },
	{ "CV", 0, 19080, 38 },
	{ "VDDRQ", DDR, 5040, 11 },
	{ "SYS5V", SYS, 5040, 11 },
	/* IGX Orin's carrier board: the supply of the whole board, and three rails without load */
	{ "CVB_ATX_12V", GPU | CPU | SYS, 12100, 12 },
	{ "CVB_ATX_3V3", 0, 3300, 12 },
	{ "CVB_ATX_5V", 0, 5040, 12 },
	{ "CVB_ATX_12V_8P", 0, 12100, 12 },
	/* Thor */
	{ "VIN", GPU | CPU | SYS, 19080, 25 },
	{ "VDD_GPU", GPU, 12010, 9 },
	{ "VDD_CPU_SOC_MSS", CPU, 12010, 9 },
};

const struct sim_wire *sim_wire_find(const char *label)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wires); i++)
		if (!strcmp(wires[i].label, label))
			return &wires[i];
	return NULL;
}

void sim_wire_electric(const struct sim_wire *wire, u64 uw, u32 *mv, u64 *ua)
{
	u64 ma = div_u64(uw, wire->mv);

	*mv = wire->mv - div_u64(ma * wire->mohm, 1000);
	*ua = div_u64(uw * 1000, *mv);
}

u64 sim_wire_uw(const struct sim_wire *wire, const u64 from[SIM_RAILS], const u64 to[SIM_RAILS],
		u64 ns)
{
	u64 pj = 0;
	int i;

	for (i = 0; wire && i < SIM_RAILS; i++)
		if (wire->rails & BIT(i))
			pj += to[i] - from[i];
	return div64_u64(pj * 1000, ns);
}
