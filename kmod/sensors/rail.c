// SPDX-License-Identifier: GPL-2.0
/* Create the rails of a new chip, from the device tree and the module parameter "shunt". */
#include "sensors/chip.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/moduleparam.h>
#include <linux/of.h>
#include <linux/string.h>
#include "sensors/board.h"
#include "sensors/rail.h"
#include "sensors/rail_graph.h"
#include "sensors/series.h"

/*
 * The module parameter "shunt" overrides the resistances in the device tree. The parameter is
 * needed if the device tree does not give the resistance of a shunt; hwmon drivers then assume a
 * default (INA3221: 10 mOhm), which is rarely right.
 */
static char *shunt[JETWATT_RAILS_MAX];
static unsigned int shunts;
module_param_array(shunt, charp, &shunts, 0444);
MODULE_PARM_DESC(shunt, "shunt resistances in micro-ohms, separated by commas: LABEL=N or BUS-ADDR:CHANNEL=N (1-0041:0=5000)");

/*
 * A chip with one channel is described by its own node. For other chips, every child node with a
 * "reg" property is a channel. The name of the child node is not checked: NVIDIA's device trees use
 * channel@N, mainline uses input@N, and the hwmon driver ignores the name too.
 */
static struct device_node *channel_node(const struct jetwatt_sensor_chip *chip, u32 channel)
{
	struct device_node *np = chip->node, *child;
	u32 reg;

	if (chip->ops->channels == 1)
		return of_node_get(np);

	for_each_child_of_node(np, child)
		if (!of_property_read_u32(child, "reg", &reg) && reg == channel)
			return child;
	return NULL;
}

/* JetPack 5 leaves unconnected channels enabled and labels them "NC". */
static bool connected(const struct device_node *np)
{
	const char *label;

	if (!np)
		return true;
	return of_device_is_available(np) &&
	       (of_property_read_string(np, "label", &label) || strcasecmp(label, "NC"));
}

/*
 * Read the property "shunt-volt-offset-uv" in the same way as L4T's hwmon driver
 * (kernel-5.10/drivers/hwmon/ina3221.c).
 */
static void read_offset(const struct device_node *np, struct jetwatt_offset *offset)
{
	struct device_node *node = np ? of_parse_phandle(np, "shunt-volt-offset-uv", 0) : NULL;
	struct jetwatt_offset_range range;
	struct device_node *child;

	*offset = (struct jetwatt_offset){};
	if (!node) {
		/*
		 * The chips of AGX Xavier have the offset even if the device tree lacks the
		 * property.
		 */
		if (jetwatt_graph_shunt_offset())
			*offset = (struct jetwatt_offset){ 0, 1, { { -40, -40, 40 } } };
		return;
	}
	of_property_read_s32(node, "offset", &offset->uv);
	for_each_child_of_node(node, child)
		if (offset->nr < ARRAY_SIZE(offset->range) &&
		    !of_property_read_s32(child, "start", &range.start) &&
		    !of_property_read_s32(child, "end", &range.end) &&
		    !of_property_read_s32(child, "offset", &range.uv))
			offset->range[offset->nr++] = range;
	of_node_put(node);
}

static bool names(const char *entry, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(entry, name, len);
}

/*
 * Return: resistance of the shunt in micro-ohms, from the module parameter, else from the device
 * tree; 0 if unknown, or if the device tree has more than INT_MAX.
 */
static u32 shunt_of(const struct jetwatt_sensor_chip *chip, const struct jetwatt_sensor_rail *rail,
		    const struct device_node *np)
{
	char place[24];
	const char *equals;
	unsigned int i;
	u32 uohm = 0;

	snprintf(place, sizeof(place), "%u-%04x:%u", chip->bus_nr, chip->addr,
		 rail->channel);
	for (i = 0; i < shunts; i++) {
		equals = strrchr(shunt[i], '=');
		if (equals && (names(shunt[i], equals - shunt[i], rail->label) ||
			       names(shunt[i], equals - shunt[i], place)) &&
		    !kstrtou32(equals + 1, 0, &uohm))
			return uohm;
	}
	/*
	 * The device-tree binding of the INA2xx names the property "shunt-resistor"; its unit is
	 * micro-ohms too.
	 */
	if (np && of_property_read_u32(np, "shunt-resistor-micro-ohms", &uohm))
		of_property_read_u32(np, "shunt-resistor", &uohm);
	return uohm <= INT_MAX ? uohm : 0;
}

static int add_rail(const struct jetwatt_sensor_chip *chip, u32 channel,
		    const struct device_node *np)
{
	struct jetwatt_sensor_rail *rail = &jetwatt_board.rails[jetwatt_board.nr_rails];
	const char *label = NULL;
	int slot;

	if (jetwatt_board.nr_rails == JETWATT_RAILS_MAX)
		return -ENOSPC;
	rail->id = jetwatt_board.nr_rails;
	rail->chip = chip->id;
	rail->channel = channel;
	if (np)
		of_property_read_string(np, "label", &label);
	if (label && *label)
		strscpy(rail->label, label, sizeof(rail->label));
	else
		snprintf(rail->label, sizeof(rail->label), "in%u", channel + 1);
	rail->shunt_uohm = shunt_of(chip, rail, np);
	read_offset(np, &rail->offset);

	slot = jetwatt_series_slot(JETWATT_SERIES_SHUNT_UV, rail->id);
	if (slot < 0)
		return slot;
	rail->shunt_slot = slot;
	slot = jetwatt_series_slot(JETWATT_SERIES_BUS_UV, rail->id);
	if (slot < 0)
		return slot;
	rail->bus_slot = slot;
	/* Pairs with jetwatt_rail_count(). */
	smp_store_release(&jetwatt_board.nr_rails, jetwatt_board.nr_rails + 1);
	return rail->id;
}

/**
 * jetwatt_rail_add_all() - create the rails of a new chip
 * @chip: the chip, whose id, address, adapter number, operations and device-tree node must be set;
 *	the function sets the rail ids
 *
 * A channel whose node is disabled or labelled "NC" gets no rail.
 *
 * Context: jetwatt_board.lock held. Return: 0 or -ENOSPC.
 */
int jetwatt_rail_add_all(struct jetwatt_sensor_chip *chip)
{
	struct device_node *np;
	u32 channel;
	int id;

	for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++)
		chip->rail[channel] = JETWATT_NO_RAIL;
	for (channel = 0; channel < chip->ops->channels; channel++) {
		np = chip->node ? channel_node(chip, channel) : NULL;
		id = connected(np) ? add_rail(chip, channel, np) : JETWATT_NO_RAIL;
		of_node_put(np);
		if (id < 0)
			return id;
		chip->rail[channel] = id;
	}
	return 0;
}
