// SPDX-License-Identifier: GPL-2.0
/* Detect over-current and overheating, and fill the black box when they begin. */
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
 * The INA3221 has alarm flags of its own, in register 0x0F, but reading the register clears the
 * flags, which the hwmon driver needs. The limits of the chips can be read without side effects, so
 * the sampler thread compares each shunt voltage that it reads with the limits. Only this thread
 * uses @rails.
 */
static struct {
	s32 limit[2];	/* warning and critical limit (microvolts); 0: not read yet */
	s32 on, off;	/* microvolts: an alarm begins above @on, ends at or below @off */
	bool over;
} rails[JETWATT_RAILS_MAX] = {
	[0 ... JETWATT_RAILS_MAX - 1] = { .on = S32_MAX, .off = S32_MAX },
};

/*
 * Minimum distance between @on and @off of an alarm, in microvolts: larger than the noise of a
 * constant current.
 */
#define HYSTERESIS_UV	100

/**
 * jetwatt_alarm_limit() - store a limit that was read from a chip
 * @rail: id of the rail
 * @critical: true for the critical limit, false for the warning limit
 * @shunt_uv: the limit as a shunt voltage, in microvolts
 *
 * Context: the sampler thread.
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
		off = min(off, limit - max(limit / 8, HYSTERESIS_UV));
	}
	rails[rail].on = on;
	rails[rail].off = off;
}

/**
 * jetwatt_alarm_shunt() - compare a shunt voltage with the limits of its rail
 * @rail: id of the rail
 * @shunt_uv: the shunt voltage in microvolts
 *
 * Context: the sampler thread.
 */
void jetwatt_alarm_shunt(unsigned int rail, s32 shunt_uv)
{
	bool was = rails[rail].over;
	bool over = shunt_uv > (was ? rails[rail].off : rails[rail].on);

	/* An over-current that lasts when alarms begin to count is an alarm then. */
	over = over && jetwatt_blackbox_armed();
	rails[rail].over = over;
	if (over && !was)
		jetwatt_blackbox_alarm(JETWATT_BOX_CAUSE_OVERCURRENT, rail);
}

/*
 * Test whether a cooling map limits a clock. A map limits a clock if its cooling device is a CPU or
 * a node with clocks (GPU, devfreq devices, JetPack 5's bwmgr). A map limits no clock if its
 * cooling device is a fan, or NVIDIA's node "thermal-trip-event", which only notifies user space. A
 * cooling device whose maximum state in the map is 0 is disabled, as in the device trees of IGX
 * Orin with a safety controller.
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

/*
 * Return: temperature of the trip, in millidegrees, if the trip limits a clock (@mapped) or has the
 * type hot or critical; else, or if it lacks a type or a temperature, S32_MAX.
 */
static s32 trip_alarm_mc(struct device_node *trip, bool mapped)
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
 * Return the temperature of the zone's lowest trip that limits a clock or has the type hot or
 * critical; S32_MAX if it has none. Passive trips that limit no clock are ignored: JetPack 6 has a
 * trip "hot-surface" at 70 C in most zones, which is exceeded in normal operation and only raises
 * an alert.
 */
static s32 zone_alarm_mc(const struct device_node *zone)
{
	struct device_node *trips = of_get_child_by_name(zone, "trips");
	struct device_node *maps = of_get_child_by_name(zone, "cooling-maps");
	struct device_node *child, *trip;
	s32 lowest = S32_MAX;

	for_each_child_of_node(trips, child)
		lowest = min(lowest, trip_alarm_mc(child, false));
	for_each_child_of_node(maps, child) {
		if (!limits_a_clock(child))
			continue;
		trip = of_parse_phandle(child, "trip", 0);
		lowest = min(lowest, trip_alarm_mc(trip, true));
		of_node_put(trip);
	}
	of_node_put(maps);
	of_node_put(trips);
	return lowest;
}

/**
 * jetwatt_alarm_temperature() - compare a temperature with the trips of its thermal zone
 * @series: auxiliary series of the temperature
 * @zone: node of the thermal zone
 * @temp_mc: temperature in millidegrees Celsius
 *
 * Context: the slow read of aux_slow.c.
 */
void jetwatt_alarm_temperature(struct jetwatt_aux *series, const struct device_node *zone,
			       s32 temp_mc)
{
	bool hot = jetwatt_blackbox_armed() && temp_mc >= zone_alarm_mc(zone);

	if (hot && !series->hot)
		jetwatt_blackbox_alarm(JETWATT_BOX_CAUSE_THERMAL, series->index);
	series->hot = hot;
}
