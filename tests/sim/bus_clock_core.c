// SPDX-License-Identifier: GPL-2.0-only
/* The clock of an adapter on NVIDIA's kernels up to JetPack 5, whose i2c core stores it. */
#include "bus_clock.h"

#include <linux/compiler.h>
#include <linux/i2c.h>

/* With tell_hz=0 the clock stays 0, as for drivers that do not know it. */
void sim_bus_clock_init(struct i2c_adapter *adapter)
{
	struct sim_bus_clock *clock = adapter->algo_data;

	if (clock->tells)
		adapter->bus_clk_rate = clock->hz;
}

u32 sim_bus_clock_hz(struct i2c_adapter *adapter)
{
	struct sim_bus_clock *clock = adapter->algo_data;

	if (clock->tells && READ_ONCE(adapter->bus_clk_rate))
		return READ_ONCE(adapter->bus_clk_rate);
	return READ_ONCE(clock->hz);
}
