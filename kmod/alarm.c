// SPDX-License-Identifier: GPL-2.0
#include "alarm.h"

#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/of.h>
#include <linux/string.h>
#include "box.h"
#include "chip.h"
#include "clock.h"

/*
 * The chip's own flags are in register 0x0F, which is cleared by reading it and
 * belongs to the hwmon driver. But the limits they stand for can be read by
 * anybody: what is compared here is what is sampled anyway.
 *
 * Belongs to the sampler's thread.
 */
static struct {
	s32 limit[2];	/* warning, critical; 0: not read yet */
	s32 on, off;	/* above the one it is over; no more once below the other */
	bool over;
} rails[JETWATT_RAILS_MAX] = {
	[0 ... JETWATT_RAILS_MAX - 1] = { .on = S32_MAX, .off = S32_MAX },
};

/* So much below its limit an alarm is over: more than noise makes of one current. */
#define SLACK_UV	100

/**
 * jetwatt_alarm_limit() - a limit register was read
 * @rail: id of its rail
 * @critical: it is the critical limit, else the warning
 * @shunt_uv: the shunt voltage in it
 *
 * Context: the sampler's thread.
 */
void jetwatt_alarm_limit(unsigned int rail, bool critical, s32 shunt_uv)
{
	s32 on = S32_MAX, off = S32_MAX, limit;
	unsigned int i;

	rails[rail].limit[critical] = shunt_uv;
	for (i = 0; i < ARRAY_SIZE(rails[rail].limit); i++) {
		limit = rails[rail].limit[i];
		if (limit <= 0)
			continue;
		on = min(on, limit);
		off = min(off, limit - max(limit / 8, SLACK_UV));
	}
	rails[rail].on = on;
	rails[rail].off = off;
}

/**
 * jetwatt_alarm_shunt() - a shunt voltage was read
 * @rail: id of its rail
 * @shunt_uv: the voltage
 *
 * Context: the sampler's thread.
 */
void jetwatt_alarm_shunt(unsigned int rail, s32 shunt_uv)
{
	bool was = rails[rail].over;
	bool over = shunt_uv > (was ? rails[rail].off : rails[rail].on);

	if (over == was)
		return;
	rails[rail].over = over;
	if (over)
		jetwatt_box_alarm(JETWATT_BOX_CAUSE_OVERCURRENT, rail);
}

/* The lowest at which something is done about it, other than a fan. */
static s32 trip_mc(const struct device_node *zone)
{
	struct device_node *trips = of_get_child_by_name(zone, "trips"), *trip;
	s32 lowest = S32_MAX;
	const char *type;
	u32 mc;

	for_each_child_of_node(trips, trip)
		if (!of_property_read_string(trip, "type", &type) && strcmp(type, "active") &&
		    !of_property_read_u32(trip, "temperature", &mc))
			lowest = min_t(s32, lowest, mc);
	of_node_put(trips);
	return lowest;
}

/**
 * jetwatt_alarm_temperature() - a temperature was read
 * @clock: its series
 * @zone: the thermal zone in the device tree
 * @temp_mc: the temperature
 *
 * Context: the slow path.
 */
void jetwatt_alarm_temperature(struct jetwatt_clock *clock, const struct device_node *zone,
			       s32 temp_mc)
{
	bool hot = temp_mc >= trip_mc(zone);

	if (hot && !clock->hot)
		jetwatt_box_alarm(JETWATT_BOX_CAUSE_THERMAL, clock->index);
	clock->hot = hot;
}
