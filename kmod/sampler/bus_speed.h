/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurement of the bus speeds before the sampler starts and before a requested rate is checked;
 * while the sampler runs, it measures them with its own transfers.
 */
#ifndef JETWATT_BUS_SPEED_H
#define JETWATT_BUS_SPEED_H

void jetwatt_bus_speed_measure(void);
int jetwatt_bus_speed_init(void);
void jetwatt_bus_speed_exit(void);

#endif
