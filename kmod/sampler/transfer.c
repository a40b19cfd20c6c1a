// SPDX-License-Identifier: GPL-2.0
/*
 * The transfers of one tick: read the registers that read_schedule.c has planned, decode them and
 * store the values in the sample.
 */
#include "sampler/transfer.h"

#include <linux/bitops.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "event.h"
#include "sampler/alarm.h"
#include "sampler/energy.h"
#include "sampler/overhead.h"
#include "sampler/read_schedule.h"
#include "sampler/ring.h"
#include "sensors/board.h"
#include "sensors/series.h"

#define RATE_PERIOD_NS	(NSEC_PER_SEC / 4)

/* Used only by the sampler thread. */
static struct {
	struct jetwatt_plan plan;
	u64 rates_due;
	u64 window_start, window_busy_ns[JETWATT_BUSES_MAX];
} reading;

static void put_value(struct jetwatt_sample *sample, int slot, s32 value)
{
	/* A chip that was attached after jetwatt_ring_begin() has no column in this sample. */
	if (slot >= 0 && slot < sample->nr_series)
		sample->value[slot] = value;
}

static s32 microvolts(const struct jetwatt_field *field, u64 reg)
{
	return (s32)jetwatt_pv_to(jetwatt_field_pv(field, reg), JETWATT_PV_PER_UV);
}

/*
 * Store a shunt voltage: in microvolts for the sample and the alarm, in nanovolts for the energy
 * counters.
 */
static void store_shunt(struct jetwatt_sample *sample, const struct jetwatt_sensor_rail *rail,
			u64 reg)
{
	s64 pv = jetwatt_rail_shunt_pv(rail, reg);
	s32 uv = (s32)jetwatt_pv_to(pv, JETWATT_PV_PER_UV);

	put_value(sample, rail->shunt_slot, uv);
	jetwatt_alarm_shunt(rail->id, uv);
	jetwatt_energy_shunt(rail, (s32)jetwatt_pv_to(pv, JETWATT_PV_PER_NV));
}

static void store_reg(struct jetwatt_sample *sample, const struct jetwatt_reg *reg)
{
	struct jetwatt_sensor_chip *chip = jetwatt_chip_at(reg->chip);
	const struct jetwatt_sensor_rail *rail = NULL;

	if (reg->kind != JETWATT_REG_CONFIG && reg->kind != JETWATT_REG_SUM) {
		if (chip->rail[reg->index] == JETWATT_NO_RAIL)
			return;
		rail = jetwatt_rail_at(chip->rail[reg->index]);
	}
	switch (reg->kind) {
	case JETWATT_REG_SHUNT:
		store_shunt(sample, rail, reg->value);
		break;
	case JETWATT_REG_BUS:
		put_value(sample, rail->bus_slot, microvolts(&chip->ops->bus_field, reg->value));
		break;
	case JETWATT_REG_SUM:
		if (chip->sum.channels)
			put_value(sample, chip->sum_slot,
			    microvolts(&chip->ops->sum_field, reg->value));
		break;
	case JETWATT_REG_CONFIG:
		jetwatt_chip_configured(chip, reg->index, reg->value);
		break;
	case JETWATT_REG_WARNING:
	case JETWATT_REG_CRITICAL:
		jetwatt_alarm_limit(rail->id, reg->kind == JETWATT_REG_CRITICAL,
				    jetwatt_rail_limit_uv(rail, reg->value));
		break;
	}
}

/* If all shunts and the sum of a chip were read, use them to determine the sum's channels. */
static void observe_sum(struct jetwatt_sensor_chip *chip)
{
	const struct jetwatt_field *shunt = &jetwatt_chip_range(chip)->shunt;
	s32 uv[JETWATT_CHANNELS_MAX] = {}, sum_uv = 0;
	unsigned int i, have = 0;
	bool have_sum = false;

	for (i = 0; i < reading.plan.n; i++) {
		if (reading.plan.reg[i].chip != chip->id)
			continue;
		if (reading.plan.reg[i].kind == JETWATT_REG_SHUNT) {
			/*
			 * The offset correction is not applied here, because the chip adds
			 * uncorrected values.
			 */
			uv[reading.plan.reg[i].index] = microvolts(shunt, reading.plan.reg[i].value);
			have |= BIT(reading.plan.reg[i].index);
		} else if (reading.plan.reg[i].kind == JETWATT_REG_SUM) {
			sum_uv = microvolts(&chip->ops->sum_field, reading.plan.reg[i].value);
			have_sum = true;
		}
	}
	if (!have_sum || have != jetwatt_chip_channels(chip))
		return;
	if (!jetwatt_sum_observe(&chip->sum, have, uv, sum_uv,
				 (s32)jetwatt_pv_to(shunt->lsb_pv, JETWATT_PV_PER_UV)))
		return;
	chip->bus->planned = false;
	if (chip->sum.channels && chip->sum_slot < 0) {
		chip->sum_slot = jetwatt_series_slot(JETWATT_SERIES_SUM_UV, chip->id);
		jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, 0);
	}
}

static void transfer_plan(struct jetwatt_bus *bus, struct jetwatt_sample *sample)
{
	unsigned long took_part = 0, had_shunt = 0, had_sum = 0;
	const struct jetwatt_reg *reg, *end = reading.plan.reg + reading.plan.n;
	unsigned int i;
	int err;

	if (!reading.plan.n)
		return;
	err = jetwatt_bus_read(bus, reading.plan.reg, reading.plan.n);
	if (!err)
		jetwatt_bus_ticked(bus, reading.plan.n);
	for (reg = reading.plan.reg; reg < end; reg++) {
		took_part |= BIT(reg->chip);
		if (err)
			continue;
		store_reg(sample, reg);
		if (reg->first)
			had_shunt |= BIT(reg->chip);
		else if (reg->kind == JETWATT_REG_SUM)
			had_sum |= BIT(reg->chip);
	}
	for_each_set_bit(i, &took_part, JETWATT_CHIPS_MAX) {
		struct jetwatt_sensor_chip *chip = jetwatt_chip_at(i);

		if (err) {
			jetwatt_chip_failed(chip, bus->ended_ns, bus->ended_ns - bus->begun_ns);
			continue;
		}
		jetwatt_chip_answered(chip);
		if (had_sum & BIT(i))
			observe_sum(chip);
		if (had_shunt & BIT(i))
			WRITE_ONCE(chip->reads, chip->reads + 1);
	}
}

static void read_bus(struct jetwatt_bus *bus, struct jetwatt_sample *sample, bool all, u64 now)
{
	unsigned long failed;
	unsigned int i;

	/* If the shared transfer fails, its chips are read separately from the next tick on. */
	failed = jetwatt_plan_shared(&reading.plan, bus, all, now);
	transfer_plan(bus, sample);
	for_each_set_bit(i, &failed, JETWATT_CHIPS_MAX) {
		jetwatt_plan_alone(&reading.plan, jetwatt_chip_at(i), now);
		transfer_plan(bus, sample);
		/* The bus is stuck, and every further transfer would time out too. */
		if (ktime_get_ns() - now >= JETWATT_STUCK_NS)
			break;
	}
}

/**
 * jetwatt_read_rails() - read all chips once
 * @sample: gets the values; columns whose values are not read in this tick, or cannot be read, are
 *	not changed
 * @all: true to read all registers that are read in rotation; false to read only the next one
 * @length_ns: gets the time from the start of the first transfer to the end of the last, ns
 *
 * Context: the sampler thread; takes jetwatt_board.lock; sleeps.
 * Return: CLOCK_MONOTONIC in the middle of the transfers.
 */
u64 jetwatt_read_rails(struct jetwatt_sample *sample, bool all, u64 *length_ns)
{
	struct jetwatt_bus *bus;
	u64 start, end;
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	start = ktime_get_ns();
	end = start;
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		read_bus(bus, sample, all, end);
		/* If nothing was read from this bus, ended_ns is that of an earlier transfer. */
		end = max(end, bus->ended_ns);
	}
	rt_mutex_unlock(&jetwatt_board.lock);
	*length_ns = end - start;
	return start + (end - start) / 2;
}

static void update_busy(u64 now)
{
	struct jetwatt_bus *bus;
	unsigned int i;
	u64 busy;

	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		busy = bus->busy_ns;
		/*
		 * If the bus was added within this window, busy_ns has started from zero and may be
		 * less than the stored value.
		 */
		if (reading.window_start && busy >= reading.window_busy_ns[i])
			WRITE_ONCE(bus->busy_permille,
				   (u32)div64_u64((busy - reading.window_busy_ns[i]) * 1000,
						  now - reading.window_start));
		reading.window_busy_ns[i] = busy;
	}
	reading.window_start = now;
}

/**
 * jetwatt_read_update_rates() - update the read rates and the busy time of the buses if that is due
 * @now: CLOCK_MONOTONIC
 *
 * Called after each tick. Read rates are updated at most four times a second, busy times at most
 * once a second.
 *
 * Context: the sampler thread; takes jetwatt_board.lock.
 */
void jetwatt_read_update_rates(u64 now)
{
	if (now < reading.rates_due)
		return;
	reading.rates_due = now + RATE_PERIOD_NS;
	rt_mutex_lock(&jetwatt_board.lock);
	jetwatt_chip_update_rates(now);
	if (!reading.window_start || now - reading.window_start >= NSEC_PER_SEC)
		update_busy(now);
	rt_mutex_unlock(&jetwatt_board.lock);
}

/**
 * jetwatt_read_busy_permille() - return the share of time that the busiest bus spends on transfers
 *
 * Context: any. Return: share of time in permille, in the last complete window of about a second in
 * which the sampler ran.
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
 * jetwatt_read_restart() - reset busy times, read rates and CPU overhead when the sampler starts
 *
 * Context: the sampler thread; takes jetwatt_board.lock.
 */
void jetwatt_read_restart(void)
{
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < JETWATT_BUSES_MAX; i++)
		WRITE_ONCE(jetwatt_bus_at(i)->busy_permille, 0);
	reading.rates_due = 0;
	reading.window_start = 0;
	jetwatt_overhead_forget();
	rt_mutex_unlock(&jetwatt_board.lock);
	jetwatt_chip_parked();
}
