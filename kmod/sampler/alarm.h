/* SPDX-License-Identifier: GPL-2.0 */
/* Alarms for over-current and overheating, with the limits of the chips and the device tree. */
#ifndef JETWATT_ALARM_H
#define JETWATT_ALARM_H

#include <linux/types.h>

struct device_node;
struct jetwatt_aux;

void jetwatt_alarm_limit(unsigned int rail, bool critical, s32 shunt_uv);
void jetwatt_alarm_shunt(unsigned int rail, s32 shunt_uv);
void jetwatt_alarm_temperature(struct jetwatt_aux *series, const struct device_node *zone,
			       s32 temp_mc);

#endif
