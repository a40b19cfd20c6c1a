// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store the clock of the simulated i2c adapter in the i2c core of NVIDIA's kernels up to JetPack 5.
 */
#include "bus_clock.h"

#include <linux/compiler.h>
#include <linux/i2c.h>

/*
 * With tell_hz=0, the clock in the i2c core stays 0, as with drivers that do not know their clock.
 */
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
