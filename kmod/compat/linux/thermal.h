/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_THERMAL_H
#define JETWATT_COMPAT_LINUX_THERMAL_H

#include_next <linux/thermal.h>
#include <linux/version.h>

/*
 * thermal_zone_device_id() exists since 6.4; before 6.4, modules can read the id from struct
 * thermal_zone_device.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static inline int jetwatt_thermal_zone_device_id(struct thermal_zone_device *tz)
{
	return tz->id;
}

#define thermal_zone_device_id jetwatt_thermal_zone_device_id
#endif

#endif
