// SPDX-License-Identifier: GPL-2.0
#include "chip.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/of.h>
#include <linux/string.h>
#include "rail.h"
#include "series.h"

/*
 * Rails are only added, by the one thread at a time that attaches a chip
 * (jetwatt_chip_lock), and a rail is complete before the count covers it.
 */
struct jetwatt_rail jetwatt_rails[JETWATT_RAILS_MAX];
unsigned int jetwatt_rails_nr;

/* A chip of one channel is described by its own node. */
static struct device_node *channel_node(const struct jetwatt_chip *chip, u32 channel)
{
	struct device_node *np = chip->node, *child;
	u32 reg;

	if (chip->model->channels == 1)
		return of_node_get(np);

	for_each_child_of_node(np, child)
		if (of_node_name_eq(child, "input") && !of_property_read_u32(child, "reg", &reg) &&
		    reg == channel)
			return child;
	return NULL;
}

static int add(u32 chip, u32 channel, struct device_node *np)
{
	struct jetwatt_rail *rail = &jetwatt_rails[jetwatt_rails_nr];
	const char *label = NULL;
	int slot;

	if (jetwatt_rails_nr == JETWATT_RAILS_MAX)
		return -ENOSPC;
	rail->id = jetwatt_rails_nr;
	rail->chip = chip;
	rail->channel = channel;
	rail->shunt_uohm = 0;
	if (np) {
		if (of_property_read_u32(np, "shunt-resistor-micro-ohms", &rail->shunt_uohm))
			/* In micro-ohms as well, in the binding of the INA2xx. */
			of_property_read_u32(np, "shunt-resistor", &rail->shunt_uohm);
		of_property_read_string(np, "label", &label);
	}
	if (!label || strscpy(rail->label, label, sizeof(rail->label)) <= 0)
		snprintf(rail->label, sizeof(rail->label), "in%u", channel + 1);

	slot = jetwatt_series_slot(JETWATT_SERIES_SHUNT_UV, rail->id);
	if (slot < 0)
		return slot;
	rail->shunt_slot = slot;
	slot = jetwatt_series_slot(JETWATT_SERIES_BUS_UV, rail->id);
	if (slot < 0)
		return slot;
	rail->bus_slot = slot;
	/* Pairs with jetwatt_rail_count(). */
	smp_store_release(&jetwatt_rails_nr, jetwatt_rails_nr + 1);
	return rail->id;
}

/**
 * jetwatt_rail_describe() - find out what a new chip's channels are wired to
 * @chip: the chip, with id and node; gets its rails
 *
 * A channel whose node says "disabled" has nothing behind it and is no rail.
 *
 * Context: jetwatt_chip_lock held. Return: 0 or -ENOSPC.
 */
int jetwatt_rail_describe(struct jetwatt_chip *chip)
{
	struct device_node *np;
	u32 channel;
	int id;

	for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++)
		chip->rail[channel] = JETWATT_NO_RAIL;
	for (channel = 0; channel < chip->model->channels; channel++) {
		np = chip->node ? channel_node(chip, channel) : NULL;
		if (np && !of_device_is_available(np))
			id = JETWATT_NO_RAIL;
		else
			id = add(chip->id, channel, np);
		of_node_put(np);
		if (id < 0)
			return id;
		chip->rail[channel] = id;
	}
	return 0;
}
