// SPDX-License-Identifier: GPL-2.0
/* Decide which registers a tick reads from each bus. transfer.c does the transfers. */
#include "sampler/read_schedule.h"

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "sensors/board.h"

#define AUX_REG_PERIOD_NS	(NSEC_PER_SEC / 4)
#define SUM_OBSERVE_PERIOD_NS	(NSEC_PER_SEC / 20)
#define LONG_TICK_NS	(NSEC_PER_SEC / 20)

/*
 * Every tick reads all shunts, because currents change fast, and one bus voltage per bus, because
 * voltages change slowly; the bus voltages are read in rotation. Of each chip, an auxiliary
 * register is read at most four times a second: alternately a configuration register, to detect
 * changes by the hwmon driver, and the next register of the chip's list of auxiliary registers,
 * which contains configuration and limit registers. In a tick that reads an auxiliary register, or
 * registers for add_observation(), no bus voltage is read, so that ticks take about equally long.
 * If ticks are at least LONG_TICK_NS apart, such a tick also reads a bus voltage.
 *
 * If the channels of a chip's sum of shunt voltages are known (sum_channels.h), the sum is useful
 * in two ways. First, the chip does not average the sum: if the chip averages the shunt voltages,
 * ticks also read the sum, provided that the share of the bus and the length of a tick allow this.
 * Second, the sum is a single register: at rates at which the bus, or a tick that reads all buses,
 * has no time to read all shunts, every tick reads the sums and one of all other registers, in
 * rotation.
 *
 * A chip whose last transfer failed is read in a separate transfer until it responds, so that the
 * transfer of the other chips on the bus does not fail. A lost chip is retried by reading its
 * configuration: all of it, because a chip that was without power may have another range.
 */

static void append(struct jetwatt_plan *plan, const struct jetwatt_reg *reg)
{
	if (plan->n < JETWATT_BUS_REGS)
		plan->reg[plan->n++] = *reg;
}

static void queue_reg(struct jetwatt_plan *plan, const struct jetwatt_sensor_chip *chip, u8 reg,
		      u8 kind, u8 index)
{
	struct jetwatt_reg entry = {
		.addr = chip->addr, .chip = chip->id, .reg = reg, .kind = kind, .index = index,
		.bytes = jetwatt_chip_ops_bytes(chip->ops, kind),
	};

	/*
	 * Mark the first enabled shunt of the chip. Only reads of the marked shunt are counted,
	 * because all shunts of a chip are read equally often.
	 */
	entry.first = kind == JETWATT_REG_SHUNT &&
		      !(jetwatt_chip_channels(chip) & (BIT(index) - 1));
	append(plan, &entry);
}

/*
 * Add the next auxiliary register of a chip if it is due. At least every second auxiliary register
 * is a configuration register, so that a changed configuration is detected soon.
 */
static bool add_aux_reg(struct jetwatt_plan *plan, struct jetwatt_sensor_chip *chip, u64 now)
{
	const struct jetwatt_chip_ops *ops = chip->ops;
	const struct jetwatt_aux_reg *aux_reg;
	unsigned int n;

	if (now < chip->aux_reg_due)
		return false;
	chip->aux_reg_due = now + AUX_REG_PERIOD_NS;
	n = chip->aux_index++;
	aux_reg = &ops->aux_regs[n % 2 ? n / 2 % ops->nr_aux_regs :
				       n / 2 % ops->nr_configs];
	queue_reg(plan, chip, aux_reg->reg, aux_reg->kind, aux_reg->index);
	return true;
}

static void add_shunts(struct jetwatt_plan *plan, const struct jetwatt_sensor_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->ops->channels; channel++)
		if (channels & BIT(channel))
			queue_reg(plan, chip, chip->ops->shunt[channel], JETWATT_REG_SHUNT, channel);
}

static void add_voltages(struct jetwatt_plan *plan, const struct jetwatt_sensor_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->ops->channels; channel++)
		if (channels & BIT(channel))
			queue_reg(plan, chip, chip->ops->bus[channel], JETWATT_REG_BUS, channel);
}

static void add_sum(struct jetwatt_plan *plan, const struct jetwatt_sensor_chip *chip)
{
	queue_reg(plan, chip, chip->ops->sum, JETWATT_REG_SUM, 0);
}

/**
 * struct layout - registers that the ticks of a bus read
 * @every: registers that are read in every tick
 * @rotated: registers that are read in rotation, one per tick
 * @healthy: mask of chips that are read together
 * @failed: mask of chips that are to be read separately
 * @observed: mask of chips for which add_observation() adds registers to some ticks
 *
 * Protected by jetwatt_board.lock; get_layout() calculates the layout again if jetwatt_bus.planned
 * is false.
 */
struct layout {
	struct jetwatt_plan every;
	struct jetwatt_plan rotated;
	unsigned long healthy;
	unsigned long failed;
	unsigned long observed;
};

static struct layout layouts[JETWATT_BUSES_MAX];

static void lay_out_chip(struct layout *layout, const struct jetwatt_bus *bus,
			 const struct jetwatt_sensor_chip *chip)
{
	bool sums_only = bus->read_mode == JETWATT_READ_SUMS;
	bool sum = chip->sum.channels && bus->read_mode != JETWATT_READ_SHUNTS;

	layout->healthy |= BIT(chip->id);
	add_shunts(sums_only ? &layout->rotated : &layout->every, chip);
	if (sum)
		add_sum(&layout->every, chip);
	add_voltages(&layout->rotated, chip);
	/*
	 * An observation adds registers to a tick. It adds none if every tick reads both the shunts
	 * and the sum of the chip. If ticks read neither, the sum is not compared.
	 */
	if (chip->ops->sum && hweight32(jetwatt_chip_channels(chip)) >= 2 && sums_only == sum)
		layout->observed |= BIT(chip->id);
}

static struct layout *get_layout(struct jetwatt_bus *bus)
{
	struct layout *layout = &layouts[bus - jetwatt_board.buses];
	const struct jetwatt_sensor_chip *chip;
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

/*
 * If a comparison of a chip's sum with its shunts is due (sum_channels.c), add those of the
 * registers that ticks do not read anyway. Return: true if registers were added.
 */
static bool add_observation(struct jetwatt_plan *plan, const struct jetwatt_bus *bus,
			    struct jetwatt_sensor_chip *chip, u64 now)
{
	if (now < chip->sum_observe_due)
		return false;
	chip->sum_observe_due = now + (chip->sum.channels ? 10 : 1) * SUM_OBSERVE_PERIOD_NS;
	if (bus->read_mode == JETWATT_READ_SUMS)
		add_shunts(plan, chip);
	else
		add_sum(plan, chip);
	return true;
}

/**
 * jetwatt_plan_shared() - plan the transfer that reads all healthy chips of a bus
 * @plan: gets the registers
 * @bus: the bus
 * @all: true to read all registers that are read in rotation, for the first sample and for readings
 *	at idle_hz; false to read only the next one
 * @now: CLOCK_MONOTONIC
 *
 * Context: jetwatt_board.lock held. Return: mask of the chips that are to be read separately.
 */
unsigned long jetwatt_plan_shared(struct jetwatt_plan *plan, struct jetwatt_bus *bus, bool all,
				  u64 now)
{
	bool long_tick = all || now - bus->last_ns >= LONG_TICK_NS, busy = false;
	const struct layout *layout = get_layout(bus);
	const struct jetwatt_plan *rotated = &layout->rotated;
	unsigned int i;

	bus->last_ns = now;
	plan->n = layout->every.n;
	memcpy(plan->reg, layout->every.reg, plan->n * sizeof(plan->reg[0]));
	for_each_set_bit(i, &layout->observed, JETWATT_CHIPS_MAX)
		if (!busy)
			busy = add_observation(plan, bus, jetwatt_chip_at(i), now);
	for_each_set_bit(i, &layout->healthy, JETWATT_CHIPS_MAX)
		if (long_tick || !busy)
			busy |= add_aux_reg(plan, jetwatt_chip_at(i), now);
	if (busy && !long_tick)
		return layout->failed;
	if (all)
		for (i = 0; i < rotated->n; i++)
			append(plan, &rotated->reg[i]);
	else if (rotated->n)
		append(plan, &rotated->reg[bus->rotation++ % rotated->n]);
	return layout->failed;
}

/**
 * jetwatt_plan_alone() - plan the transfer that reads a failed chip
 * @plan: gets the registers to read; none, for example, while no retry of a lost chip is due
 * @chip: the chip
 * @now: CLOCK_MONOTONIC
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_plan_alone(struct jetwatt_plan *plan, struct jetwatt_sensor_chip *chip, u64 now)
{
	const struct jetwatt_aux_reg *config = chip->ops->aux_regs;
	unsigned int i;

	plan->n = 0;
	if (!chip->lost) {
		add_shunts(plan, chip);
		add_aux_reg(plan, chip, now);
	} else if (now >= chip->retry_due) {
		for (i = 0; i < chip->ops->nr_configs; i++)
			queue_reg(plan, chip, config[i].reg, config[i].kind, config[i].index);
	}
}
