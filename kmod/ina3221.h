/* SPDX-License-Identifier: GPL-2.0 */
/* INA3221: which registers there are and what their bits mean. No I/O here. */
#ifndef JETWATT_INA3221_H
#define JETWATT_INA3221_H

#include <linux/types.h>

#define INA3221_CHANNELS	3

/*
 * Register map, SBOS576 table 3. Register 0x0F (Mask/Enable) is not here on
 * purpose: reading it clears the alert flags that the hwmon driver shows as
 * alarms. Nothing in this module reads it.
 */
#define INA3221_CONFIG		0x00
#define INA3221_SHUNT(channel)	(0x01 + 2 * (channel))
#define INA3221_BUS(channel)	(0x02 + 2 * (channel))

s32 jetwatt_ina3221_shunt_uv(u16 reg);
s32 jetwatt_ina3221_bus_uv(u16 reg);
unsigned int jetwatt_ina3221_channels(u16 config);
u32 jetwatt_ina3221_cycle_us(u16 config);
u32 jetwatt_ina3221_refresh_mhz(u16 config);

#endif
