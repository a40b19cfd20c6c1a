/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurement of the bus speeds in a thread of its own, for config.c. bus.c also measures them by
 * the sampler's transfers.
 */
#ifndef JETWATT_BUS_SPEED_H
#define JETWATT_BUS_SPEED_H

void jetwatt_bus_speed_measure(void);
int jetwatt_bus_speed_init(void);
void jetwatt_bus_speed_exit(void);

#endif
