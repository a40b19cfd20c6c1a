/* SPDX-License-Identifier: GPL-2.0 */
/* Rails of a new chip. */
#ifndef JETWATT_RAIL_H
#define JETWATT_RAIL_H

struct jetwatt_sensor_chip;

int jetwatt_rail_add_all(struct jetwatt_sensor_chip *chip);

#endif
