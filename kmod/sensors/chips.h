/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of chips, one ROW(NAME, DRIVER) for each: NAME.c, found by Kbuild, defines
 * jetwatt_NAME; DRIVER is the chip's hwmon driver. man/tables.c inserts the names into jetwatt(4).
 */
#ifndef JETWATT_SENSORS_CHIPS_H
#define JETWATT_SENSORS_CHIPS_H

#define JETWATT_CHIPS(ROW)	\
	ROW(ina3221, ina3221)	\
	ROW(ina238, ina238)	\
	ROW(ina228, ina238)	\
	ROW(ina219, ina2xx)	\
	ROW(ina226, ina2xx)

#endif
