/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a simulated i2c adapter, with the interface of NVIDIA's kernels. Up to JetPack 5,
 * the i2c core of these kernels stores the clock in the adapter, with the attribute bus_clk_rate
 * and functions to get and set it; i2c-tegra applies it at the next transfer (R35.3.1:
 * kernel-5.10/drivers/i2c/i2c-core-base.c and busses/i2c-tegra.c). Later NVIDIA kernels and all
 * other kernels have neither the attribute nor the functions.
 *
 * On a kernel whose i2c core stores the clock, the simulated adapter uses this core
 * (bus_clock_core.c). On other kernels, the simulation itself adds the attribute and the function
 * that gets the clock (bus_clock.c).
 */
#ifndef SIM_BUS_CLOCK_H
#define SIM_BUS_CLOCK_H

#include <linux/types.h>

struct i2c_adapter;

/**
 * struct sim_bus_clock - clock of an adapter, at adapter->algo_data
 * @hz: the clock in hertz; with bus_clock_core.c and @tells, its initial value
 * @tells: true: the attribute bus_clk_rate and the function that gets the clock report the clock
 */
struct sim_bus_clock {
	u32 hz;
	bool tells;
};

void sim_bus_clock_init(struct i2c_adapter *adapter);
u32 sim_bus_clock_hz(struct i2c_adapter *adapter);

#endif
