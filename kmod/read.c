// SPDX-License-Identifier: GPL-2.0
#include "read.h"

#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "chip.h"
#include "plan.h"
#include "ring.h"

#define MARK_EVERY_NS	(NSEC_PER_SEC / 4)

/* All of it belongs to the sampler's thread, under jetwatt_chip_lock. */
static struct jetwatt_plan plan;
static u64 mark_due;
static u64 busy_since, busy_then[JETWATT_BUSES_MAX];

static void store(struct jetwatt_sample *sample, const struct jetwatt_reg *reg)
{
	struct jetwatt_rail *rail;
	bool shunt = reg->reg & 1;
	int slot;

	if (reg->reg == INA3221_CONFIG) {
		WRITE_ONCE(jetwatt_chip_at(reg->chip)->config, reg->value);
		return;
	}
	rail = jetwatt_rail_at(reg->rail);
	slot = shunt ? rail->shunt_slot : rail->bus_slot;
	/* A chip may have come while this sample was already open. */
	if (slot < sample->nr_series)
		sample->value[slot] = shunt ? jetwatt_ina3221_shunt_uv(reg->value)
					    : jetwatt_ina3221_bus_uv(reg->value);
}

static void transfer(struct jetwatt_bus *bus, struct jetwatt_sample *sample)
{
	unsigned long took_part = 0, had_shunt = 0;
	unsigned int i;
	int err;

	if (!plan.n)
		return;
	err = jetwatt_bus_read(bus, plan.reg, plan.n);
	for (i = 0; i < plan.n; i++) {
		took_part |= BIT(plan.reg[i].chip);
		if (plan.reg[i].rail != JETWATT_NO_RAIL)
			had_shunt |= BIT(plan.reg[i].chip);
		if (!err)
			store(sample, &plan.reg[i]);
	}
	for_each_set_bit(i, &took_part, JETWATT_CHIPS_MAX) {
		struct jetwatt_chip *chip = jetwatt_chip_at(i);

		if (err) {
			jetwatt_chip_failed(chip, ktime_get_ns());
		} else {
			jetwatt_chip_answered(chip, ktime_get_ns());
			if (had_shunt & BIT(i))
				WRITE_ONCE(chip->reads, chip->reads + 1);
		}
	}
}

static void read_bus(struct jetwatt_bus *bus, struct jetwatt_sample *sample, bool all, u64 now)
{
	unsigned long suspects = 0;
	struct jetwatt_chip *chip;
	unsigned int i;

	/* Before the shared read: one that fails there gets its next try in the next tick. */
	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		if (chip->client && chip->bus == bus && (chip->row || chip->lost))
			suspects |= BIT(i);
	}
	jetwatt_plan_shared(&plan, bus, all, now);
	transfer(bus, sample);
	for_each_set_bit(i, &suspects, JETWATT_CHIPS_MAX) {
		jetwatt_plan_alone(&plan, jetwatt_chip_at(i), now);
		transfer(bus, sample);
	}
}

static void mark(u64 now)
{
	struct jetwatt_bus *bus;
	unsigned int i;
	u64 busy;

	if (now < mark_due)
		return;
	mark_due = now + MARK_EVERY_NS;
	jetwatt_chip_mark(now);
	if (busy_since && now - busy_since < NSEC_PER_SEC)
		return;
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		busy = bus->busy_ns;
		/* A bus that came in between started from zero. */
		if (busy_since && busy >= busy_then[i])
			WRITE_ONCE(bus->busy_permille,
				   (u32)div64_u64((busy - busy_then[i]) * 1000, now - busy_since));
		busy_then[i] = busy;
	}
	busy_since = now;
}

/**
 * jetwatt_read_rails() - read all chips once
 * @sample: where to; what cannot be read stays as it is
 * @all: all bus voltages instead of the next one
 * @length_ns: gets the time from the first transfer to the end of the last
 *
 * Context: the sampler's thread; takes jetwatt_chip_lock; sleeps.
 * Return: CLOCK_MONOTONIC in the middle of the transfers.
 */
u64 jetwatt_read_rails(struct jetwatt_sample *sample, bool all, u64 *length_ns)
{
	struct jetwatt_bus *bus;
	u64 start, end;
	unsigned int i;

	rt_mutex_lock(&jetwatt_chip_lock);
	start = ktime_get_ns();
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (bus->adapter)
			read_bus(bus, sample, all, start);
	}
	end = ktime_get_ns();
	mark(end);
	rt_mutex_unlock(&jetwatt_chip_lock);
	*length_ns = end - start;
	return start + (end - start) / 2;
}

/**
 * jetwatt_read_busy_permille() - share of the busiest bus that reading takes
 *
 * Context: any. Return: permille, measured over the last second or two.
 */
u32 jetwatt_read_busy_permille(void)
{
	u32 most = 0;
	unsigned int i;

	for (i = 0; i < JETWATT_BUSES_MAX; i++)
		most = max(most, READ_ONCE(jetwatt_bus_at(i)->busy_permille));
	return most;
}

/**
 * jetwatt_read_restart() - the sampler starts: nothing has been measured yet
 *
 * Context: the sampler's thread.
 */
void jetwatt_read_restart(void)
{
	unsigned int i;

	rt_mutex_lock(&jetwatt_chip_lock);
	for (i = 0; i < JETWATT_BUSES_MAX; i++)
		WRITE_ONCE(jetwatt_bus_at(i)->busy_permille, 0);
	mark_due = 0;
	busy_since = 0;
	rt_mutex_unlock(&jetwatt_chip_lock);
	jetwatt_chip_parked();
}
