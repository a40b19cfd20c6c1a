// SPDX-License-Identifier: GPL-2.0
#include "sampler/alarm.h"

#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/of.h>
#include <linux/string.h>
#include "sampler/aux_series.h"
#include "sampler/blackbox.h"
#include "sensors/chip.h"

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
		jetwatt_blackbox_alarm(JETWATT_BOX_CAUSE_OVERCURRENT, rail);
}

/*
 * Does this cooling device limit a clock? A CPU does, and so does a node with clocks (GPU,
 * devfreq devices, JetPack 5's bwmgr). Fans do not, nor do NVIDIA's "thermal-trip-event"
 * nodes, which only tell user space. A highest state of 0 switches the device off in
 * this map, as in the trees of IGX Orin with a safety controller.
 */
static bool limits_a_clock(const struct device_node *map)
{
	struct of_phandle_args args;
	const char *type;
	bool does = false;
	int i;

	for (i = 0; !does && !of_parse_phandle_with_args(map, "cooling-device", "#cooling-cells", i,
							 &args); i++) {
		does = (args.args_count < 2 || args.args[1]) &&
		       (of_property_read_bool(args.np, "clocks") ||
			(!of_property_read_string(args.np, "device_type", &type) &&
			 !strcmp(type, "cpu")));
		of_node_put(args.np);
	}
	return does;
}

/* Return: temperature of a trip, if something is done about heat there that isn't cooling. */
static s32 cut_mc(struct device_node *trip, bool mapped)
{
	const char *type;
	u32 mc;

	if (!trip || of_property_read_string(trip, "type", &type) ||
	    of_property_read_u32(trip, "temperature", &mc))
		return S32_MAX;
	if (mapped || !strcmp(type, "critical") || !strcmp(type, "hot"))
		return min_t(u32, mc, S32_MAX);
	return S32_MAX;
}

/*
 * The lowest temperature at which a clock is limited or the system is shut down. A passive
 * trip alone is no reason: JetPack 6 has one at 70 C in most zones ("hot-surface"), which
 * any load reaches and which only raises an alert.
 */
static s32 trip_mc(const struct device_node *zone)
{
	struct device_node *trips = of_get_child_by_name(zone, "trips");
	struct device_node *maps = of_get_child_by_name(zone, "cooling-maps");
	struct device_node *child, *trip;
	s32 lowest = S32_MAX;

	for_each_child_of_node(trips, child)
		lowest = min(lowest, cut_mc(child, false));
	for_each_child_of_node(maps, child) {
		if (!limits_a_clock(child))
			continue;
		trip = of_parse_phandle(child, "trip", 0);
		lowest = min(lowest, cut_mc(trip, true));
		of_node_put(trip);
	}
	of_node_put(maps);
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
void jetwatt_alarm_temperature(struct jetwatt_aux *clock, const struct device_node *zone,
			       s32 temp_mc)
{
	bool hot = temp_mc >= trip_mc(zone);

	if (hot && !clock->hot)
		jetwatt_blackbox_alarm(JETWATT_BOX_CAUSE_THERMAL, clock->index);
	clock->hot = hot;
}
