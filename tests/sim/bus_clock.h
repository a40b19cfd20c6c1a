/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a simulated adapter, as a driver for NVIDIA's kernels has it. Up to
 * JetPack 5 their i2c core keeps the clock in the adapter, with the attribute
 * bus_clk_rate and with functions that say and set it; i2c-tegra follows at the
 * next transfer (R35.3.1: kernel-5.10/drivers/i2c/i2c-core-base.c and
 * busses/i2c-tegra.c). Later kernels, and every other one, have none of that.
 *
 * On such a core the adapter uses it (bus_clock_core.c). On others the
 * simulation adds attribute and function itself (bus_clock.c).
 */
#ifndef SIM_BUS_CLOCK_H
#define SIM_BUS_CLOCK_H

#include <linux/types.h>

struct i2c_adapter;

/**
 * struct sim_bus_clock - what adapter->algo_data points to
 * @hz: the clock
 * @tells: the attribute and the function say it
 */
struct sim_bus_clock {
	u32 hz;
	bool tells;
};

void sim_bus_clock_init(struct i2c_adapter *adapter);
u32 sim_bus_clock_hz(struct i2c_adapter *adapter);

#endif
