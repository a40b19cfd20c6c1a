/* SPDX-License-Identifier: GPL-2.0 */
/* Which registers a tick reads, and how many ticks a second that allows. */
#ifndef JETWATT_READ_SCHEDULE_H
#define JETWATT_READ_SCHEDULE_H

#include "sensors/bus.h"

struct jetwatt_chip;

#define JETWATT_RATE_HARD_HZ	5000

/**
 * struct jetwatt_plan - what to read from one bus
 * @n: registers
 * @reg: they
 */
struct jetwatt_plan {
	unsigned int n;
	struct jetwatt_reg reg[JETWATT_BUS_REGS];
};

/**
 * enum jetwatt_limit_reason - what the highest rate is owed to
 * @JETWATT_LIMIT_BUS: the share of a bus's time
 * @JETWATT_LIMIT_TICK: all transfers of a tick have to fit into it
 * @JETWATT_LIMIT_CPU: and what the CPU has to do for them
 * @JETWATT_LIMIT_CHIP: no chip has new values more often
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
 * struct jetwatt_limit - the highest rate
 * @hz: ticks a second, 0 if there is no chip
 * @all_hz: of these, as many as leave all shunts in every tick; above that,
 *	ticks read sums of shunts and the rest in rotation
 * @reason: what @hz is owed to
 * @bus_nr: JETWATT_LIMIT_BUS: this one
 * @bus_hz: JETWATT_LIMIT_BUS: at this clock
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
void jetwatt_plan_alone(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now);
void jetwatt_plan_choose(u32 hz, u32 share_pct);
u32 jetwatt_plan_skew_ns(unsigned int rail);
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct);

#endif
