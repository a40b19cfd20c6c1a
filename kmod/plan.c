// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "chip.h"

#define CONFIG_EVERY_NS	(NSEC_PER_SEC / 2)
#define LEISURE_NS	(NSEC_PER_SEC / 20)

/*
 * Every tick reads all shunts, because currents are fast, and one bus voltage
 * a bus, because voltages are slow: the rails take turns. CONFIG is read twice
 * a second, to follow what the hwmon driver sets: in place of a voltage, so
 * that no tick is longer than the others, unless ticks are so rare that it does
 * not matter.
 *
 * A chip that has failed is read alone until it answers, so that it does not
 * take the others down; a lost one is asked for its CONFIG once a second.
 */

static void add(struct jetwatt_plan *plan, const struct jetwatt_chip *chip, u8 reg, u8 rail)
{
	if (plan->n < JETWATT_BUS_REGS)
		plan->reg[plan->n++] = (struct jetwatt_reg){
			.addr = chip->addr, .reg = reg, .chip = chip->id, .rail = rail,
		};
}

static bool add_config(struct jetwatt_plan *plan, struct jetwatt_chip *chip, u64 now)
{
	if (now < chip->config_due)
		return false;
	chip->config_due = now + CONFIG_EVERY_NS;
	add(plan, chip, INA3221_CONFIG, JETWATT_NO_RAIL);
	return true;
}

static void add_shunts(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < INA3221_CHANNELS; channel++)
		if (channels & BIT(channel))
			add(plan, chip, INA3221_SHUNT(channel), chip->rail[channel]);
}

static void add_voltages(struct jetwatt_plan *plan, const struct jetwatt_chip *chip)
{
	unsigned int channel, channels = jetwatt_chip_channels(chip);

	for (channel = 0; channel < INA3221_CHANNELS; channel++)
		if (channels & BIT(channel))
			add(plan, chip, INA3221_BUS(channel), chip->rail[channel]);
}

static bool healthy(const struct jetwatt_chip *chip, const struct jetwatt_bus *bus)
{
	return chip->client && chip->bus == bus && !chip->lost && !chip->row;
}

/**
 * jetwatt_plan_shared() - what to read in one go from all healthy chips
 * @plan: the result
 * @bus: the bus
 * @all: all bus voltages instead of the next one: for a first sample
 * @now: CLOCK_MONOTONIC
 *
 * Context: jetwatt_chip_lock held.
 */
void jetwatt_plan_shared(struct jetwatt_plan *plan, struct jetwatt_bus *bus, bool all, u64 now)
{
	bool leisure = all || now - bus->last_ns >= LEISURE_NS, config = false;
	struct jetwatt_plan voltages = {};
	struct jetwatt_chip *chip;
	unsigned int i;

	plan->n = 0;
	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		if (!healthy(chip, bus))
			continue;
		add_shunts(plan, chip);
		add_voltages(&voltages, chip);
	}
	bus->last_ns = now;
	for (i = 0; i < jetwatt_chip_count() && (leisure || !config); i++)
		if (healthy(jetwatt_chip_at(i), bus))
			config |= add_config(plan, jetwatt_chip_at(i), now);
	if (config && !leisure)
		return;
	for (i = 0; i < voltages.n; i++)
		if (all || i == bus->rotation % voltages.n)
			plan->reg[plan->n++] = voltages.reg[i];
	bus->rotation++;
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
	plan->n = 0;
	if (!chip->lost) {
		add_shunts(plan, chip);
		add_config(plan, chip, now);
	} else if (now >= chip->retry_due) {
		add(plan, chip, INA3221_CONFIG, JETWATT_NO_RAIL);
	}
}

static unsigned int registers(const struct jetwatt_bus *bus)
{
	unsigned int i, shunts = 0;

	for (i = 0; i < jetwatt_chip_count(); i++)
		if (jetwatt_chip_at(i)->bus == bus)
			shunts += hweight32(jetwatt_chip_channels(jetwatt_chip_at(i)));
	/* A chip without a channel that is on still is asked for its CONFIG. */
	return shunts + 1;
}

static void lower(struct jetwatt_limit *limit, u64 hz, enum jetwatt_why why)
{
	if (hz >= limit->hz)
		return;
	limit->hz = max_t(u64, hz, 1);
	limit->why = why;
}

/**
 * jetwatt_plan_limit() - the highest rate
 * @share_pct: the most of a bus's time to take
 *
 * Chips that are lost count too: they come back.
 *
 * Context: takes jetwatt_chip_lock. Return: the limit and its reason.
 */
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct)
{
	struct jetwatt_limit limit = { .hz = JETWATT_RATE_HARD_HZ, .why = JETWATT_WHY_HARD };
	u64 tick_ns, all_ns = 0, was;
	u32 refresh = 0, attached = 0;
	struct jetwatt_bus *bus;
	unsigned int i;

	rt_mutex_lock(&jetwatt_chip_lock);
	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_chip *chip = jetwatt_chip_at(i);

		if (!chip->client)
			continue;
		attached++;
		/* A lost chip's CONFIG is old news, or none at all. */
		if (!chip->lost && jetwatt_chip_channels(chip))
			refresh = max(refresh, jetwatt_ina3221_refresh_mhz(chip->config));
	}
	if (refresh)
		lower(&limit, refresh / 1000, JETWATT_WHY_CHIP);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		tick_ns = (u64)registers(bus) * jetwatt_bus_reg_ns(bus);
		all_ns += (u64)registers(bus) *
			  max(jetwatt_bus_reg_ns(bus), jetwatt_bus_reg_measured_ns(bus));
		was = limit.hz;
		lower(&limit, div64_u64(share_pct * (NSEC_PER_SEC / 100), tick_ns),
		      JETWATT_WHY_BUS);
		if (limit.hz != was) {
			limit.bus_nr = bus->nr;
			limit.bus_hz = jetwatt_bus_hz(bus);
		}
	}
	/* Buses are read one after the other, and a twentieth is for everything else. */
	if (all_ns)
		lower(&limit, div64_u64(95 * (NSEC_PER_SEC / 100), all_ns), JETWATT_WHY_TIME);
	rt_mutex_unlock(&jetwatt_chip_lock);
	if (!attached)
		limit.hz = 0;
	return limit;
}
