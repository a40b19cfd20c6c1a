/* SPDX-License-Identifier: GPL-2.0 */
/* Energy counters of the rails and of the total, since the module was loaded. */
#ifndef JETWATT_ENERGY_H
#define JETWATT_ENERGY_H

#include <linux/types.h>

struct jetwatt_sensor_rail;
struct jetwatt_sample;

/**
 * struct jetwatt_energy_reading - energy counter of a rail or of the total
 * @uj: energy since the module was loaded, in microjoules; never decreases
 * @blind_ns: time since the first sample for which the power is unknown, in nanoseconds: samples
 *	were more than two seconds apart, or the sampler thread was frozen or the machine suspended
 *	between them
 * @time_ns: time of the last sample, CLOCK_MONOTONIC (of a total: the oldest of its rails); 0: none
 *	yet
 * @bus_ns: time of the sample in which the bus voltage was read last, CLOCK_MONOTONIC; 0: never, or
 *	a total
 * @uw: power of the last sample, in microwatts
 * @bus_uv: bus voltage last read, in microvolts; 0: never, or a total
 * @ua: current of the last sample, in microamperes; 0: unknown shunt resistance, or a total
 */
struct jetwatt_energy_reading {
	u64 uj;
	u64 blind_ns;
	u64 time_ns;
	u64 bus_ns;
	s64 uw;
	s64 bus_uv;
	s64 ua;
};

u32 jetwatt_energy_lsb_uw(const struct jetwatt_sensor_rail *rail);
void jetwatt_energy_shunt(const struct jetwatt_sensor_rail *rail, s32 nv);
void jetwatt_energy_sample(const struct jetwatt_sample *sample, u64 time_ns);
void jetwatt_energy_frozen(void);
void jetwatt_energy_rail(unsigned int rail, struct jetwatt_energy_reading *energy);
void jetwatt_energy_total(struct jetwatt_energy_reading *energy);

#endif
