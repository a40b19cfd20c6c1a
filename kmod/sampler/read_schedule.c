// SPDX-License-Identifier: GPL-2.0
#include "sampler/read_schedule.h"

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "sampler/overhead.h"
#include "sensors/chip.h"

#define SIDE_EVERY_NS	(NSEC_PER_SEC / 4)
#define LEARN_EVERY_NS	(NSEC_PER_SEC / 20)
#define LEISURE_NS	(NSEC_PER_SEC / 20)
#define TOLERANCE	16

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

static void add(struct jetwatt_plan *plan, const struct jetwatt_chip *chip, u8 reg, u8 what, u8 n)
{
	struct jetwatt_reg is = {
		.addr = chip->addr, .chip = chip->id, .reg = reg, .what = what, .n = n,
	};

	/* One shunt stands for all of a chip: they are read equally often. */
	is.first = what == JETWATT_SHUNT && !(jetwatt_chip_channels(chip) & (BIT(n) - 1));
	append(plan, &is);
}

/* Configuration and limits take turns, so that the former is never long unread. */
static bool add_side(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now)
{
	const struct jetwatt_model *model = chip->model;
	const struct jetwatt_side *side;
	unsigned int turn;

	if (now < chip->side_due)
		return false;
	chip->side_due = now + SIDE_EVERY_NS;
	turn = chip->turn++;
	side = &model->side[turn % 2 ? turn / 2 % model->nr_side :
				       turn / 2 % model->nr_configs];
	add(plan, chip, side->reg, side->what, side->n);
	return true;
}

static void add_shunts(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->model->channels; channel++)
		if (channels & BIT(channel))
			add(plan, chip, chip->model->shunt[channel], JETWATT_SHUNT, channel);
}

static void add_voltages(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < chip->model->channels; channel++)
		if (channels & BIT(channel))
			add(plan, chip, chip->model->bus[channel], JETWATT_BUS, channel);
}

static void add_sum(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	add(plan, chip, chip->model->sum, JETWATT_SUM, 0);
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
 * Protected by jetwatt_chip_lock; made anew unless jetwatt_bus.planned.
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
	bool fast = bus->shape == JETWATT_SHAPE_FAST;
	bool sum = chip->sum.channels && bus->shape != JETWATT_SHAPE_ALL;

	layout->healthy |= BIT(chip->id);
	add_shunts(fast ? &layout->turns : &layout->every, chip);
	if (sum)
		add_sum(&layout->every, chip);
	add_voltages(&layout->turns, chip);
	/* Where both are read anyway there is nothing to be compared beside that. */
	if (chip->model->sum && hweight32(jetwatt_chip_channels(chip)) >= 2 && fast == sum)
		layout->learning |= BIT(chip->id);
}

static struct layout *layout_of(struct jetwatt_bus *bus)
{
	struct layout *layout = &layouts[bus - jetwatt_buses];
	const struct jetwatt_chip *chip;
	unsigned int i;

	if (bus->planned)
		return layout;
	memset(layout, 0, sizeof(*layout));
	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		if (!chip->client || chip->bus != bus)
			continue;
		if (chip->lost || chip->row)
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
	if (bus->shape == JETWATT_SHAPE_FAST)
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
 * Context: jetwatt_chip_lock held. Return: mask of the chips that have failed.
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
 * Context: jetwatt_chip_lock held.
 */
void jetwatt_plan_alone(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now)
{
	const struct jetwatt_side *config = &chip->model->side[0];

	plan->n = 0;
	if (!chip->lost) {
		add_shunts(plan, chip);
		add_side(plan, chip, now);
	} else if (now >= chip->retry_due) {
		add(plan, chip, config->reg, config->what, config->n);
	}
}

/**
 * struct load - what a tick asks of a bus
 * @shunts: registers of all shunts
 * @sums: sums that can be used
 * @averaged: sums of chips whose shunts are averaged
 */
struct load {
	unsigned int shunts;
	unsigned int sums;
	unsigned int averaged;
};

/* Chips that are lost count too: they come back. */
static struct load load_of(const struct jetwatt_bus *bus)
{
	struct load load = {};
	unsigned int i;

	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_chip *chip = jetwatt_chip_at(i);

		if (chip->bus != bus)
			continue;
		load.shunts += hweight32(jetwatt_chip_channels(chip));
		load.sums += !!chip->sum.channels;
		load.averaged += chip->sum.channels && chip->model->averages(chip->config) > 1;
	}
	return load;
}

/* One more takes turns; a chip without a channel that is on still is asked how it is. */
static unsigned int registers(const struct load *load, enum jetwatt_shape shape)
{
	switch (shape) {
	case JETWATT_SHAPE_FAST:
		return load->sums + 1;
	case JETWATT_SHAPE_BOTH:
		return load->shunts + load->sums + 1;
	default:
		return load->shunts + 1;
	}
}

static u32 most_hz(u32 pct, u64 tick_ns)
{
	return max_t(u64, div64_u64(pct * (NSEC_PER_SEC / 100), tick_ns), 1);
}

/*
 * The limit is calculated from the time on the wire, which stays the same, unless reads
 * really take more than a sixteenth longer: a CPU that is slow, or that traces every
 * function, needs 100 us and more to start a transfer, and the bus would be taken for more
 * than its share. Only reads at rates from three quarters of the limit on count: at lower
 * ones the CPU sleeps deeper or has a lower clock.
 */
static u64 tick_ns(struct jetwatt_bus *bus, unsigned int registers, u32 share_pct)
{
	u64 wire_ns = (u64)registers * jetwatt_bus_reg_ns(bus), took_ns;

	took_ns = jetwatt_bus_took_ns(bus, registers);
	if (took_ns <= wire_ns + wire_ns / TOLERANCE ||
	    4 * bus->reads_hz * took_ns < 3 * share_pct * (NSEC_PER_SEC / 100))
		return wire_ns;
	return took_ns;
}

static u32 bus_hz(struct jetwatt_bus *bus, unsigned int registers, u32 share_pct)
{
	return most_hz(share_pct, tick_ns(bus, registers, share_pct));
}

/**
 * jetwatt_plan_choose() - what the ticks of each bus are to read
 * @hz: ticks a second
 * @share_pct: the most of a bus's time to take
 *
 * Context: takes jetwatt_chip_lock.
 */
void jetwatt_plan_choose(u32 hz, u32 share_pct)
{
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;

	rt_mutex_lock(&jetwatt_chip_lock);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		load = load_of(bus);
		bus->planned = false;
		bus->shape = JETWATT_SHAPE_ALL;
		if (load.sums && hz > bus_hz(bus, registers(&load, JETWATT_SHAPE_ALL), share_pct))
			bus->shape = JETWATT_SHAPE_FAST;
		else if (load.averaged &&
			 hz <= bus_hz(bus, registers(&load, JETWATT_SHAPE_BOTH), share_pct))
			bus->shape = JETWATT_SHAPE_BOTH;
	}
	rt_mutex_unlock(&jetwatt_chip_lock);
}

/* At least that long for a register of a transfer. */
static u32 each_ns(struct jetwatt_bus *bus)
{
	return max(jetwatt_bus_reg_ns(bus), jetwatt_bus_reg_measured_ns(bus));
}

/**
 * jetwatt_plan_skew_ns() - how much later than the first one a rail is read
 * @rail: its id
 *
 * Buses are read one after the other, and shunts in the order of their rails.
 *
 * Context: takes jetwatt_chip_lock. Return: from the first shunt of a tick to
 * this one's.
 */
u32 jetwatt_plan_skew_ns(unsigned int rail)
{
	const struct jetwatt_rail *is = jetwatt_rail_at(rail);
	const struct jetwatt_chip *chip = jetwatt_chip_at(is->chip);
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;
	u64 ns = 0;

	rt_mutex_lock(&jetwatt_chip_lock);
	for (i = 0; i < JETWATT_BUSES_MAX && chip->bus; i++) {
		bus = jetwatt_bus_at(i);
		if (bus == chip->bus)
			break;
		load = load_of(bus);
		if (bus->adapter)
			ns += (u64)registers(&load, bus->shape) * jetwatt_bus_reg_ns(bus);
	}
	for (i = 0; i < is->chip && chip->bus; i++)
		if (jetwatt_chip_at(i)->bus == chip->bus)
			ns += (u64)hweight32(jetwatt_chip_channels(jetwatt_chip_at(i))) *
			      jetwatt_bus_reg_ns(chip->bus);
	if (chip->bus)
		ns += (u64)hweight32(jetwatt_chip_channels(chip) & (BIT(is->channel) - 1)) *
		      jetwatt_bus_reg_ns(chip->bus);
	rt_mutex_unlock(&jetwatt_chip_lock);
	return min_t(u64, ns, U32_MAX);
}

static void lower(struct jetwatt_limit *limit, u64 hz, enum jetwatt_why why)
{
	if (hz >= limit->hz)
		return;
	limit->hz = max_t(u64, hz, 1);
	limit->why = why;
}

/* No chip has new values more often than this, 0: nobody knows. */
static u32 refresh_hz(unsigned int *attached)
{
	u32 refresh = 0;
	unsigned int i;

	*attached = 0;
	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_chip *chip = jetwatt_chip_at(i);

		if (!chip->client)
			continue;
		++*attached;
		/* A lost chip's configuration is old news, or none at all. */
		if (!chip->lost && jetwatt_chip_channels(chip))
			refresh = max(refresh, jetwatt_chip_refresh_mhz(chip));
	}
	return refresh / 1000;
}

/**
 * jetwatt_plan_limit() - the highest rate
 * @share_pct: the most of a bus's time to take
 *
 * Context: takes jetwatt_chip_lock. Return: the limit and its reason.
 */
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct)
{
	struct jetwatt_limit limit = {
		.hz = JETWATT_RATE_HARD_HZ, .all_hz = JETWATT_RATE_HARD_HZ, .why = JETWATT_WHY_HARD,
	};
	u64 all_ns = 0, fast_ns = 0, cpu_ns;
	unsigned int i, n, attached;
	struct jetwatt_bus *bus;
	struct load load;
	u32 hz;

	rt_mutex_lock(&jetwatt_chip_lock);
	hz = refresh_hz(&attached);
	if (hz)
		lower(&limit, hz, JETWATT_WHY_CHIP);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		jetwatt_bus_ask(bus);
		load = load_of(bus);
		n = registers(&load, JETWATT_SHAPE_ALL);
		all_ns += n * each_ns(bus);
		limit.all_hz = min(limit.all_hz, bus_hz(bus, n, share_pct));
		if (load.sums)
			n = registers(&load, JETWATT_SHAPE_FAST);
		fast_ns += n * each_ns(bus);
		hz = bus_hz(bus, n, share_pct);
		if (hz >= limit.hz)
			continue;
		lower(&limit, hz, JETWATT_WHY_BUS);
		limit.bus_nr = bus->nr;
		limit.bus_hz = jetwatt_bus_hz(bus);
	}
	/* Buses are read one after the other, and a twentieth is for everything else. */
	if (fast_ns) {
		lower(&limit, most_hz(95, fast_ns), JETWATT_WHY_TIME);
		limit.all_hz = min(limit.all_hz, most_hz(95, all_ns));
	}
	/* Once that is known, a tenth is for what comes in between. */
	cpu_ns = jetwatt_overhead_ns();
	if (fast_ns && cpu_ns) {
		lower(&limit, most_hz(90, fast_ns + cpu_ns), JETWATT_WHY_CPU);
		limit.all_hz = min(limit.all_hz, most_hz(90, all_ns + cpu_ns));
	}
	rt_mutex_unlock(&jetwatt_chip_lock);
	limit.all_hz = min(limit.all_hz, limit.hz);
	if (!attached)
		limit.hz = 0;
	return limit;
}
