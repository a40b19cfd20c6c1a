/* SPDX-License-Identifier: GPL-2.0 */
/* Energy counters: what each rail has drawn since the module was loaded. */
#ifndef JETWATT_ENERGY_H
#define JETWATT_ENERGY_H

#include <linux/types.h>

struct jetwatt_rail;
struct jetwatt_sample;

/**
 * struct jetwatt_energy - a rail, or a total
 * @uj: drawn since the module was loaded; never runs backwards
 * @blind_ns: time since then in which the power is unknown: samples lay too far apart, or
 *	the machine slept
 * @time_ns: when it was last read, CLOCK_MONOTONIC, 0: never
 * @uw: power then
 * @bus_uv: voltage then, 0 for a total
 * @ua: current then, 0 for a total
 */
struct jetwatt_energy {
	u64 uj;
	u64 blind_ns;
	u64 time_ns;
	s64 uw;
	s64 bus_uv;
	s64 ua;
};

u32 jetwatt_energy_step_uw(const struct jetwatt_rail *rail);
void jetwatt_energy_shunt(const struct jetwatt_rail *rail, s32 nv);
void jetwatt_energy_sample(const struct jetwatt_sample *sample, u64 time_ns);
void jetwatt_energy_frozen(void);
void jetwatt_energy_rail(unsigned int rail, struct jetwatt_energy *energy);
void jetwatt_energy_total(struct jetwatt_energy *energy);

#endif
