// SPDX-License-Identifier: GPL-2.0
/* Slow auxiliary series: memory clock, GPU load and temperatures. */
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
 * On a Jetson, reading the memory clock or a temperature needs a firmware call that takes up to
 * milliseconds, so the sampler thread must not read them. All functions except jetwatt_slow_exit()
 * run under slow_reads.lock of aux_read.c.
 */

static const struct of_device_id controllers[] = {
	{ .compatible = "nvidia,tegra264-emc" },
	{ .compatible = "nvidia,tegra234-emc" },
	{ .compatible = "nvidia,tegra194-emc" },
	{ .compatible = "nvidia,tegra186-emc" },
	{ }
};

static void store_slow(struct jetwatt_aux *series, s32 value)
{
	WRITE_ONCE(series->value, value);
	/* Pairs with jetwatt_aux_read(). */
	smp_store_release(&series->reads, series->reads + 1);
}

/*
 * Device-tree node that lists the memory clock, with a reference, and the index of the clock in
 * this node. Node and index are cached, because a search compares the clock names of all nodes.
 */
static struct {
	struct device_node *node;
	int index;
} emc;

/*
 * The device trees of JetPack 5 have no node for the memory controller. JetPack 5 lists the memory
 * clock in the nodes of nvpmodel (all boards), icc (Orin) and bwmgr (Xavier), always with the name
 * "emc".
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
 * The clock is released after each read, because a reference would prevent unloading the module
 * that provides the clock.
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
 * thermal_zone_get_zone_by_name() takes no reference. The thermal zone belongs to the driver of its
 * sensor and exists as long as that driver is bound to the sensor's device; locking the device
 * prevents unbinding.
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
	struct jetwatt_aux *series;
	unsigned int i;

	for (i = 0; i < jetwatt_aux_count(); i++) {
		series = jetwatt_aux_at(i);
		if (series->kind == JETWATT_SERIES_TEMP_MC && !strcmp(series->label, name))
			return series;
	}
	return NULL;
}

static void read_zone(struct device_node *zone)
{
	struct jetwatt_aux *series = find_zone(zone->name);
	int id = 0, temp = 0, err;

	err = read_temperature(zone, &id, &temp);
	if (!series && !err) {
		series = jetwatt_aux_add(JETWATT_SERIES_TEMP_MC, id, zone->name);
		/*
		 * A thermal zone may have another number after its driver was loaded again, but a
		 * column always stays with the zone that has its label.
		 */
		if (series && strcmp(series->label, zone->name))
			series = NULL;
	}
	if (!series)
		return;
	store_slow(series, err ? JETWATT_VALUE_NONE : temp);
	if (!err)
		jetwatt_alarm_temperature(series, zone, temp);
}

/**
 * jetwatt_slow_read() - read the slow series
 * @temperatures: true to read the temperatures in addition to the other slow series
 *
 * Context: slow_reads.lock of aux_read.c held; sleeps.
 */
void jetwatt_slow_read(bool temperatures)
{
	struct device_node *zones, *zone;
	struct jetwatt_aux *series;
	s32 value;
	unsigned int i;

	for (i = 0; i < jetwatt_aux_count(); i++) {
		series = jetwatt_aux_at(i);
		if (series->kind == JETWATT_SERIES_EMC_KHZ)
			store_slow(series, emc_khz(&value) ? JETWATT_VALUE_NONE : value);
		else if (series->kind == JETWATT_SERIES_GPU_LOAD_PERMILLE &&
			 !jetwatt_gpu_load(&value))
			store_slow(series, value);
	}
	if (!temperatures)
		return;
	zones = of_find_node_by_path("/thermal-zones");
	for_each_available_child_of_node(zones, zone)
		read_zone(zone);
	of_node_put(zones);
}

/**
 * jetwatt_slow_discover() - add the series of the memory clock if the clock exists
 *
 * Context: slow_reads.lock of aux_read.c held; sleeps.
 */
void jetwatt_slow_discover(void)
{
	s32 khz;

	if (!emc_khz(&khz))
		jetwatt_aux_add(JETWATT_SERIES_EMC_KHZ, 0, "emc");
}

/**
 * jetwatt_slow_exit() - drop the reference to the device-tree node of the memory clock
 *
 * Context: after the last slow read.
 */
void jetwatt_slow_exit(void)
{
	of_node_put(emc.node);
}
