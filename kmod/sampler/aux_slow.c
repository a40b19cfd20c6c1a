// SPDX-License-Identifier: GPL-2.0
#include "sampler/aux_series.h"

#include <linux/clk.h>
#include <linux/err.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/string.h>
#include <linux/thermal.h>
#include "fault_inject.h"
#include "sampler/alarm.h"

/*
 * On a Jetson these are calls to the firmware, which take up to milliseconds:
 * here and never in the sampler's thread. All of it runs in one work item or
 * while the module is being loaded, never beside itself.
 */

static const struct of_device_id controllers[] = {
	{ .compatible = "nvidia,tegra264-emc" },
	{ .compatible = "nvidia,tegra234-emc" },
	{ .compatible = "nvidia,tegra194-emc" },
	{ .compatible = "nvidia,tegra186-emc" },
	{ }
};

static void store_slow(struct jetwatt_aux *clock, s32 value)
{
	WRITE_ONCE(clock->value, value);
	/* Pairs with jetwatt_aux_read(). */
	smp_store_release(&clock->turn, clock->turn + 1);
}

/*
 * The node that the memory's clock hangs at once it was found, with a reference, and which
 * of its clocks it is: a search goes through all nodes and compares names.
 */
static struct {
	struct device_node *node;
	int index;
} emc;

/*
 * JetPack 5 has no node of the memory controller: there, the clock hangs at nvpmodel (all
 * boards), icc (Orin) and bwmgr (Xavier), and its name "emc" is what they have in common.
 */
static void find_emc(void)
{
	struct device_node *np;

	emc.node = of_find_matching_node(NULL, controllers);
	if (emc.node) {
		emc.index = max(of_property_match_string(emc.node, "clock-names", "emc"), 0);
		return;
	}
	for_each_node_with_property(np, "clock-names") {
		emc.index = of_property_match_string(np, "clock-names", "emc");
		if (emc.index >= 0) {
			emc.node = np;
			return;
		}
	}
}

/*
 * The clock is taken and given back each time: held, it would pin the module
 * of its provider.
 */
static int emc_khz(s32 *khz)
{
	struct clk *clk;

	if (!emc.node)
		find_emc();
	if (!emc.node)
		return -ENODEV;
	clk = of_clk_get(emc.node, emc.index);
	if (IS_ERR(clk))
		return PTR_ERR(clk);
	*khz = jetwatt_fail(JETWATT_FAIL_CLOCK) ? JETWATT_VALUE_NONE
						: (s32)(clk_get_rate(clk) / 1000);
	clk_put(clk);
	return 0;
}

/*
 * A thermal zone found by its name comes without a reference. But it belongs
 * to the driver of its sensor, and as long as that one's device is locked and
 * bound it stays.
 */
static int read_temperature(struct device_node *zone, int *id, int *temp)
{
	struct device_node *np = of_parse_phandle(zone, "thermal-sensors", 0);
	struct platform_device *pdev = np ? of_find_device_by_node(np) : NULL;
	struct thermal_zone_device *tz;
	int err = -ENODEV;

	of_node_put(np);
	if (!pdev)
		return err;
	device_lock(&pdev->dev);
	if (pdev->dev.driver) {
		tz = thermal_zone_get_zone_by_name(zone->name);
		err = PTR_ERR_OR_ZERO(tz);
		if (!err) {
			*id = thermal_zone_device_id(tz);
			err = jetwatt_fail(JETWATT_FAIL_CLOCK) ? -EIO
							       : thermal_zone_get_temp(tz, temp);
		}
	}
	device_unlock(&pdev->dev);
	put_device(&pdev->dev);
	return err;
}

static struct jetwatt_aux *find_zone(const char *name)
{
	struct jetwatt_aux *clock;
	unsigned int i;

	for (i = 0; i < jetwatt_aux_count(); i++) {
		clock = jetwatt_aux_at(i);
		if (clock->kind == JETWATT_SERIES_TEMP_MC && !strcmp(clock->label, name))
			return clock;
	}
	return NULL;
}

static void read_zone(struct device_node *zone)
{
	struct jetwatt_aux *clock = find_zone(zone->name);
	int id = 0, temp = 0, err;

	err = read_temperature(zone, &id, &temp);
	if (!clock && !err) {
		clock = jetwatt_aux_add(JETWATT_SERIES_TEMP_MC, id, zone->name);
		/* Numbers are given anew when drivers come back; a column is not. */
		if (clock && strcmp(clock->label, zone->name))
			clock = NULL;
	}
	if (!clock)
		return;
	store_slow(clock, err ? JETWATT_VALUE_NONE : temp);
	if (!err)
		jetwatt_alarm_temperature(clock, zone, temp);
}

/**
 * jetwatt_slow_read() - ask the firmware
 * @temperatures: for these too
 *
 * Context: one caller at a time; sleeps.
 */
void jetwatt_slow_read(bool temperatures)
{
	struct device_node *zones, *zone;
	struct jetwatt_aux *clock;
	s32 value;
	unsigned int i;

	for (i = 0; i < jetwatt_aux_count(); i++) {
		clock = jetwatt_aux_at(i);
		if (clock->kind == JETWATT_SERIES_EMC_KHZ)
			store_slow(clock, emc_khz(&value) ? JETWATT_VALUE_NONE : value);
		else if (clock->kind == JETWATT_SERIES_GPU_LOAD_PERMILLE &&
			 !jetwatt_gpu_load(&value))
			store_slow(clock, value);
	}
	if (!temperatures)
		return;
	zones = of_find_node_by_path("/thermal-zones");
	for_each_available_child_of_node(zones, zone)
		read_zone(zone);
	of_node_put(zones);
}

/**
 * jetwatt_slow_discover() - add the memory's clock once it is there
 *
 * Context: one caller at a time; sleeps.
 */
void jetwatt_slow_discover(void)
{
	s32 khz;

	if (!emc_khz(&khz))
		jetwatt_aux_add(JETWATT_SERIES_EMC_KHZ, 0, "emc");
}

/**
 * jetwatt_slow_exit() - let go of the device tree
 *
 * Context: nobody reads any more.
 */
void jetwatt_slow_exit(void)
{
	of_node_put(emc.node);
}
