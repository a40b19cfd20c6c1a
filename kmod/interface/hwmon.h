/* SPDX-License-Identifier: GPL-2.0 */
/* An hwmon device for tools such as sensors(1). */
#ifndef JETWATT_HWMON_H
#define JETWATT_HWMON_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_HWMON)
void jetwatt_hwmon_update(void);
int jetwatt_hwmon_init(void);
void jetwatt_hwmon_exit(void);
#else
static inline void jetwatt_hwmon_update(void) {}
static inline int jetwatt_hwmon_init(void) { return 0; }
static inline void jetwatt_hwmon_exit(void) {}
#endif

#endif
