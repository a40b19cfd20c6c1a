/* SPDX-License-Identifier: GPL-2.0-only */
/* The simulated i2c adapter. */
#ifndef SIM_BUS_H
#define SIM_BUS_H

#include <linux/types.h>

int sim_bus_register(u64 seed);
void sim_bus_unregister(void);
u64 sim_bus_spent_ns(void);

#endif
