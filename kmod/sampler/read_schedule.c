// SPDX-License-Identifier: GPL-2.0
#include "sampler/read_schedule.h"

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "sensors/board.h"

#define SIDE_EVERY_NS	(NSEC_PER_SEC / 4)
#define LEARN_EVERY_NS	(NSEC_PER_SEC / 20)
#define LEISURE_NS	(NSEC_PER_SEC / 20)

/*
 * Every tick reads all shunts, because currents are fast, and one bus voltage
 * a bus, because voltages are slow: the rails take turns. Configurations are
 * read twice a second, to follow what the hwmon driver sets, and so are limits,
 * one after the other: in place of a voltage, so that no tick is longer than the
 * others, unless ticks are so rare that it does not matter.
 *
 * Where a chip's sum of shunt voltages is known to be made of certain channels
 * (sum_channels.h), it is of use in two ways. It is not averaged: if the shunts are, it
 * is read beside them, as far as the share of the bus allows. And it is one
 * register: at rates that the bus has no time for otherwise, ticks read the
 * sums, and one of all other registers, in rotation.
 *
 * A chip that has failed is read alone until it answers, so that it does not
 * take the others down; a lost one is asked for its configuration once a second.
 */

static void append(struct jetwatt_plan *plan, const struct jetwatt_reg *reg)
{
	if (plan->n < JETWATT_BUS_REGS)
		plan->reg[plan->n++] = *reg;
}

static void queue_reg(struct jetwatt_plan *plan, const struct jetwatt_chip *chip, u8 reg, u8 kind,
		      u8 index)
{
	struct jetwatt_reg is = {
		.addr = chip->addr, .chip = chip->id, .reg = reg, .kind = kind, .index = index,
		.bytes = jetwatt_chip_ops_bytes(chip->ops, kind),
	};

	/* One shunt stands for all of a chip: they are read equally often. */
	is.first = kind == JETWATT_REG_SHUNT && !(jetwatt_chip_channels(chip) & (BIT(index) - 1));
	append(plan, &is);
}

/* Configuration and limits take turns, so that the former is never long unread. */
static bool add_side(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now)
{
	const struct jetwatt_chip_ops *ops = chip->ops;
	const struct jetwatt_aux_reg *aux_reg;
	unsigned int turn;

	if (now < chip->aux_reg_due)
		return false;
	chip->aux_reg_due = now + SIDE_EVERY_NS;
	turn = chip->aux_index++;
	aux_reg = &ops->aux_regs[turn % 2 ? turn / 2 % ops->nr_aux_regs :
				       turn / 2 % ops->nr_configs];
	queue_reg(plan, chip, aux_reg->reg, aux_reg->kind, aux_reg->index);
	return true;
}

static void add_shunts(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->ops->channels; channel++)
		if (channels & BIT(channel))
			queue_reg(plan, chip, chip->ops->shunt[channel], JETWATT_REG_SHUNT, channel);
}

static void add_voltages(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->ops->channels; channel++)
		if (channels & BIT(channel))
			queue_reg(plan, chip, chip->ops->bus[channel], JETWATT_REG_BUS, channel);
}

static void add_sum(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	queue_reg(plan, chip, chip->ops->sum, JETWATT_REG_SUM, 0);
}

/**
 * struct layout - what the ticks of a bus read, until something about it changes
 * @every: in every tick
 * @turns: these take turns
 * @healthy: mask of chips that are read
 * @failed: mask of chips that are to be read alone
 * @learning: mask of chips whose sum can be compared with their shunts: in a
 *	tick that reads the other one as well
 *
 * Protected by jetwatt_board.lock; made anew unless jetwatt_bus.planned.
 */
struct layout {
	struct jetwatt_plan every;
	struct jetwatt_plan turns;
	unsigned long healthy;
	unsigned long failed;
	unsigned long learning;
};

static struct layout layouts[JETWATT_BUSES_MAX];

static void lay_out_chip(struct layout *layout, const struct jetwatt_bus *bus,
			 const struct jetwatt_chip *chip)
{
	bool fast = bus->read_mode == JETWATT_READ_SUMS;
	bool sum = chip->sum.channels && bus->read_mode != JETWATT_READ_SHUNTS;

	layout->healthy |= BIT(chip->id);
	add_shunts(fast ? &layout->turns : &layout->every, chip);
	if (sum)
		add_sum(&layout->every, chip);
	add_voltages(&layout->turns, chip);
	/* Where both are read anyway there is nothing to be compared beside that. */
	if (chip->ops->sum && hweight32(jetwatt_chip_channels(chip)) >= 2 && fast == sum)
		layout->learning |= BIT(chip->id);
}

static struct layout *layout_of(struct jetwatt_bus *bus)
{
	struct layout *layout = &layouts[bus - jetwatt_board.buses];
	const struct jetwatt_chip *chip;
	unsigned int i;

	if (bus->planned)
		return layout;
	memset(layout, 0, sizeof(*layout));
	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		if (!chip->client || chip->bus != bus)
			continue;
		if (chip->lost || chip->consecutive_errors)
			layout->failed |= BIT(i);
		else
			lay_out_chip(layout, bus, chip);
	}
	bus->planned = true;
	return layout;
}

/* So that it can be told what the sum is made of, and whether it still is. */
static bool add_other(struct jetwatt_plan *plan, const struct jetwatt_bus *bus,
		      struct jetwatt_chip *chip, u64 now)
{
	if (now < chip->learn_due)
		return false;
	chip->learn_due = now + (chip->sum.channels ? 10 : 1) * LEARN_EVERY_NS;
	if (bus->read_mode == JETWATT_READ_SUMS)
		add_shunts(plan, chip);
	else
		add_sum(plan, chip);
	return true;
}

/**
 * jetwatt_plan_shared() - what to read in one go from all healthy chips
 * @plan: the result
 * @bus: the bus
 * @all: all bus voltages instead of the next one: for a first sample
 * @now: CLOCK_MONOTONIC
 *
 * Context: jetwatt_board.lock held. Return: mask of the chips that have failed.
 */
unsigned long jetwatt_plan_shared(struct jetwatt_plan *plan, struct jetwatt_bus *bus, bool all,
				  u64 now)
{
	bool leisure = all || now - bus->last_ns >= LEISURE_NS, busy = false;
	const struct layout *layout = layout_of(bus);
	const struct jetwatt_plan *turns = &layout->turns;
	unsigned int i;

	bus->last_ns = now;
	plan->n = layout->every.n;
	memcpy(plan->reg, layout->every.reg, plan->n * sizeof(plan->reg[0]));
	for_each_set_bit(i, &layout->learning, JETWATT_CHIPS_MAX)
		if (!busy)
			busy = add_other(plan, bus, jetwatt_chip_at(i), now);
	for_each_set_bit(i, &layout->healthy, JETWATT_CHIPS_MAX)
		if (leisure || !busy)
			busy |= add_side(plan, jetwatt_chip_at(i), now);
	if (busy && !leisure)
		return layout->failed;
	if (all)
		for (i = 0; i < turns->n; i++)
			append(plan, &turns->reg[i]);
	else if (turns->n)
		append(plan, &turns->reg[bus->rotation++ % turns->n]);
	return layout->failed;
}

/**
 * jetwatt_plan_alone() - what to read from a chip that has failed
 * @plan: the result, empty if it is not its time
 * @chip: the chip
 * @now: CLOCK_MONOTONIC
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_plan_alone(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now)
{
	const struct jetwatt_aux_reg *config = &chip->ops->aux_regs[0];

	plan->n = 0;
	if (!chip->lost) {
		add_shunts(plan, chip);
		add_side(plan, chip, now);
	} else if (now >= chip->retry_due) {
		queue_reg(plan, chip, config->reg, config->kind, config->index);
	}
}
