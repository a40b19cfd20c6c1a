/* SPDX-License-Identifier: GPL-2.0 */
/* Over-current and heat, by what the chips and the device tree call too much. */
#ifndef JETWATT_ALARM_H
#define JETWATT_ALARM_H

#include <linux/types.h>

struct device_node;
struct jetwatt_aux;

void jetwatt_alarm_limit(unsigned int rail, bool critical, s32 shunt_uv);
void jetwatt_alarm_shunt(unsigned int rail, s32 shunt_uv);
void jetwatt_alarm_temperature(struct jetwatt_aux *clock, const struct device_node *zone,
			       s32 temp_mc);

#endif
