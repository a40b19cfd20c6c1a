/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selection of the registers that a tick reads (read_schedule.c), and calculation of the highest
 * sampling rate (read_limit.c).
 */
#ifndef JETWATT_READ_SCHEDULE_H
#define JETWATT_READ_SCHEDULE_H

#include "sensors/bus.h"

struct jetwatt_sensor_chip;

#define JETWATT_RATE_HARD_HZ	5000

/**
 * struct jetwatt_plan - registers to read from one bus in one transfer
 * @n: number of registers
 * @reg: the registers
 */
struct jetwatt_plan {
	unsigned int n;
	struct jetwatt_reg reg[JETWATT_BUS_REGS];
};

/**
 * enum jetwatt_limit_reason - what limits the sampling rate
 * @JETWATT_LIMIT_BUS: a bus would be busy for more than the configured share of time
 * @JETWATT_LIMIT_TICK: the transfers of a tick on all buses must end within 95 % of a period
 * @JETWATT_LIMIT_CPU: the transfers and the CPU overhead of a tick must end within 90 % of a period
 * @JETWATT_LIMIT_CHIP: at a higher rate, even the fastest chip would not have a new value in every
 *	tick
 * @JETWATT_LIMIT_HARD: JETWATT_RATE_HARD_HZ
 */
enum jetwatt_limit_reason {
	JETWATT_LIMIT_BUS,
	JETWATT_LIMIT_TICK,
	JETWATT_LIMIT_CPU,
	JETWATT_LIMIT_CHIP,
	JETWATT_LIMIT_HARD,
};

/**
 * struct jetwatt_limit - the highest sampling rate
 * @hz: ticks per second; 0 if no chip is attached
 * @all_hz: highest rate at which every tick reads all shunts
 * @reason: what limits @hz
 * @bus_nr: for JETWATT_LIMIT_BUS: number of the adapter
 * @bus_hz: for JETWATT_LIMIT_BUS: clock, in hertz, of the bus @bus_nr
 */
struct jetwatt_limit {
	u32 hz;
	u32 all_hz;
	enum jetwatt_limit_reason reason;
	u32 bus_nr;
	u32 bus_hz;
};

unsigned long jetwatt_plan_shared(struct jetwatt_plan *plan, struct jetwatt_bus *bus, bool all,
				  u64 now);
void jetwatt_plan_alone(struct jetwatt_plan *plan, struct jetwatt_sensor_chip *chip, u64 now);
void jetwatt_plan_choose(u32 hz, u32 share_pct);
u32 jetwatt_plan_skew_ns(unsigned int rail);
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct);

#endif
