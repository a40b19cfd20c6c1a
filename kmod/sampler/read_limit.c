// SPDX-License-Identifier: GPL-2.0
/*
 * Calculate the highest sampling rate from the buses, the chips and the CPU, and choose what ticks
 * read at a given rate.
 */
#include "sampler/read_schedule.h"

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sampler/overhead.h"
#include "sampler/sampler.h"
#include "sensors/board.h"

#define TOLERANCE	16

/* Time for which a bus does not read more again, after it has come to read less. */
#define HOLD_NS		(60 * NSEC_PER_SEC)

/**
 * struct load - registers that a tick reads from a bus
 * @shunts: number of shunt registers
 * @sums: number of sums whose channels are known
 * @averaged: number of sums in @sums whose chips average their shunt voltages
 * @extra_bytes: number of bytes in all shunt registers, less two bytes per register
 * @extra_rotated: number of bytes in the widest register that is read in rotation, less two
 */
struct load {
	unsigned int shunts;
	unsigned int sums;
	unsigned int averaged;
	unsigned int extra_bytes;
	unsigned int extra_rotated;
};

/*
 * Return the registers that a tick reads from @bus. Registers of lost chips are counted too,
 * because a lost chip may respond again.
 */
static struct load bus_load(const struct jetwatt_bus *bus)
{
	unsigned int i, shunts, extra, extra_rotated;
	struct load load = {};

	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_sensor_chip *chip = jetwatt_chip_at(i);

		if (chip->bus != bus)
			continue;
		shunts = hweight32(jetwatt_chip_channels(chip));
		extra = jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_SHUNT) - 2;
		extra_rotated = max(extra, jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_BUS) - 2);
		load.shunts += shunts;
		load.extra_bytes += shunts * extra;
		load.extra_rotated = max(load.extra_rotated, extra_rotated);
		load.sums += !!chip->sum.channels;
		load.averaged += chip->sum.channels && jetwatt_chip_conversion(chip).averages > 1;
	}
	return load;
}

/*
 * Return the number of registers that a tick reads from a bus. The 1 that is added stands for the
 * register that is read in rotation; on a bus whose chips have no enabled channel, it stands for
 * the auxiliary registers, the only registers read on that bus.
 */
static unsigned int registers(const struct load *load, enum jetwatt_read_mode mode)
{
	switch (mode) {
	case JETWATT_READ_SUMS:
		return load->sums + 1;
	case JETWATT_READ_SHUNTS_AND_SUMS:
		return load->shunts + load->sums + 1;
	default:
		return load->shunts + 1;
	}
}

/* Return: number of bits on the wire that the transfer of one tick needs. */
static unsigned int bits(const struct load *load, enum jetwatt_read_mode mode)
{
	unsigned int extra = load->extra_rotated +
			     (mode == JETWATT_READ_SUMS ? 0 : load->extra_bytes);

	return registers(load, mode) * JETWATT_REG_BITS(2) + 9 * extra;
}

static u32 max_hz(u32 pct, u64 tick_ns)
{
	return max_t(u64, div64_u64(pct * (NSEC_PER_SEC / 100), tick_ns), 1);
}

/*
 * Return the duration of a tick's transfer. Normally it is the expected time. If the measured
 * duration is more than a sixteenth longer, the measured duration is returned: a CPU that is slow,
 * or traces every function, needs 100 us and more to start a transfer, and the bus would otherwise
 * be busy for more than its share. The measured duration is only used if it was measured at three
 * quarters of the limit or more: at lower rates, the CPU sleeps deeper or runs at a lower clock, so
 * transfers take longer.
 */
static u64 tick_ns(struct jetwatt_bus *bus, const struct load *load, enum jetwatt_read_mode mode,
		   u32 share_pct)
{
	u64 wire_ns = jetwatt_bus_bits_ns(bus, bits(load, mode)), took_ns;

	took_ns = jetwatt_bus_took_ns(bus, registers(load, mode));
	if (took_ns <= wire_ns + wire_ns / TOLERANCE ||
	    4 * bus->reads_hz * took_ns < 3 * share_pct * (NSEC_PER_SEC / 100))
		return wire_ns;
	return took_ns;
}

static u32 bus_hz(struct jetwatt_bus *bus, const struct load *load, enum jetwatt_read_mode mode,
		  u32 share_pct)
{
	return max_hz(share_pct, tick_ns(bus, load, mode, share_pct));
}

/*
 * Return: minimum duration of a transfer in nanoseconds, computed from the expected or the measured
 * time per register, whichever is longer.
 */
static u64 min_transfer_ns(struct jetwatt_bus *bus, unsigned int bits)
{
	u32 each = max(jetwatt_bus_reg_ns(bus), jetwatt_bus_reg_measured_ns(bus));

	return div_u64((u64)bits * each, JETWATT_REG_BITS(2));
}

/*
 * Return: highest rate at which transfers of @ns nanoseconds, which are made one after the other,
 * end within a tick: in at most 95 % of the period. With the measured CPU overhead, 10 % of the
 * period are left for interruptions.
 */
static u32 tick_hz(u64 ns)
{
	u64 cpu_ns = jetwatt_overhead_ns();
	u32 hz = max_hz(95, ns);

	return cpu_ns ? min(hz, max_hz(90, ns + cpu_ns)) : hz;
}

/* Return: true if a tick at a rate of @hz is too short for what the buses read in it. */
static bool tick_too_short(u32 hz)
{
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;
	u64 ns = 0;

	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		load = bus_load(bus);
		ns += min_transfer_ns(bus, bits(&load, bus->read_mode));
	}
	return ns && hz > tick_hz(ns);
}

/*
 * Until the transfers of all buses end within a tick, change the read mode of one bus after the
 * other from @from to @to. Only buses with a known sum are changed.
 */
static void read_less(u32 hz, enum jetwatt_read_mode from, enum jetwatt_read_mode to)
{
	struct jetwatt_bus *bus;
	unsigned int i;

	for (i = 0; i < JETWATT_BUSES_MAX && tick_too_short(hz); i++) {
		bus = jetwatt_bus_at(i);
		if (bus->adapter && bus->read_mode == from && bus_load(bus).sums)
			bus->read_mode = to;
	}
}

/* Return the mode with the most registers that keeps the share of a bus's time. */
static enum jetwatt_read_mode mode_of_share(struct jetwatt_bus *bus, const struct load *load, u32 hz,
					    u32 share_pct)
{
	if (load->sums && hz > bus_hz(bus, load, JETWATT_READ_SHUNTS, share_pct))
		return JETWATT_READ_SUMS;
	if (load->averaged && hz <= bus_hz(bus, load, JETWATT_READ_SHUNTS_AND_SUMS, share_pct))
		return JETWATT_READ_SHUNTS_AND_SUMS;
	return JETWATT_READ_SHUNTS;
}

/* Return: true if mode @a reads less than mode @b, and the sums that both need are known. */
static bool reads_less(const struct load *load, enum jetwatt_read_mode a, enum jetwatt_read_mode b)
{
	if (!load->sums || (b == JETWATT_READ_SHUNTS_AND_SUMS && !load->averaged))
		return false;
	return registers(load, a) < registers(load, b);
}

/**
 * jetwatt_plan_choose() - choose the read mode of each bus for a rate
 * @hz: ticks per second
 * @share_pct: maximum share of a bus's time, in percent
 *
 * A bus reads less if its share of time, or the time that all buses have in a tick, would be
 * exceeded. The decision uses times that were measured in the present mode; in another mode, they
 * differ a little, and the CPU overhead is forgotten when ticks become short. Therefore, while the
 * rate and the share stay the same, a bus that has come to read less does not read more again for
 * HOLD_NS. Otherwise, near the limit, the mode could change at every call.
 *
 * Context: takes jetwatt_board.lock; callers must exclude each other.
 */
void jetwatt_plan_choose(u32 hz, u32 share_pct)
{
	static u32 last_share_pct;
	bool same = hz == jetwatt_sampler_hz() && share_pct == last_share_pct;
	enum jetwatt_read_mode before[JETWATT_BUSES_MAX];
	u64 now = ktime_get_ns();
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;

	last_share_pct = share_pct;
	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		before[i] = bus->read_mode;
		if (!bus->adapter)
			continue;
		load = bus_load(bus);
		bus->planned = false;
		bus->read_mode = mode_of_share(bus, &load, hz, share_pct);
		if (!same)
			bus->hold_until_ns = 0;
		if (now < bus->hold_until_ns && reads_less(&load, before[i], bus->read_mode))
			bus->read_mode = before[i];
	}
	read_less(hz, JETWATT_READ_SHUNTS_AND_SUMS, JETWATT_READ_SHUNTS);
	read_less(hz, JETWATT_READ_SHUNTS, JETWATT_READ_SUMS);
	for (i = 0; i < JETWATT_BUSES_MAX && same; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		load = bus_load(bus);
		if (reads_less(&load, bus->read_mode, before[i]))
			bus->hold_until_ns = now + HOLD_NS;
	}
	rt_mutex_unlock(&jetwatt_board.lock);
}

/* Return: time, in nanoseconds, to read the shunts of the given channels of a chip. */
static u64 shunts_ns(struct jetwatt_bus *bus, const struct jetwatt_sensor_chip *chip,
		     unsigned int channels)
{
	unsigned int each = JETWATT_REG_BITS(jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_SHUNT));

	return jetwatt_bus_bits_ns(bus, hweight32(jetwatt_chip_channels(chip) & channels) * each);
}

/**
 * jetwatt_plan_skew_ns() - return the time within a tick at which the shunt of a rail is read
 * @rail: id of the rail
 *
 * Buses are read one after the other, and on each bus the shunts in the order of their rails.
 *
 * Context: takes jetwatt_board.lock.
 * Return: expected nanoseconds from the first shunt of a tick to the shunt of @rail, if the tick
 * reads all shunts; 0 if the chip is detached.
 */
u32 jetwatt_plan_skew_ns(unsigned int rail)
{
	const struct jetwatt_sensor_rail *desc = jetwatt_rail_at(rail);
	const struct jetwatt_sensor_chip *chip = jetwatt_chip_at(desc->chip);
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;
	u64 ns = 0;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < JETWATT_BUSES_MAX && chip->bus; i++) {
		bus = jetwatt_bus_at(i);
		if (bus == chip->bus)
			break;
		load = bus_load(bus);
		if (bus->adapter)
			ns += jetwatt_bus_bits_ns(bus, bits(&load, bus->read_mode));
	}
	for (i = 0; i < desc->chip && chip->bus; i++)
		if (jetwatt_chip_at(i)->bus == chip->bus)
			ns += shunts_ns(chip->bus, jetwatt_chip_at(i), ~0U);
	if (chip->bus)
		ns += shunts_ns(chip->bus, chip, BIT(desc->channel) - 1);
	rt_mutex_unlock(&jetwatt_board.lock);
	return min_t(u64, ns, U32_MAX);
}

static void lower_limit(struct jetwatt_limit *limit, u64 hz, enum jetwatt_limit_reason reason)
{
	if (hz >= limit->hz)
		return;
	limit->hz = max_t(u64, hz, 1);
	limit->reason = reason;
}

/*
 * Return: refresh rate of the fastest chip in hertz, at least 1; 0 if unknown. @attached gets the
 * number of attached chips.
 */
static u32 refresh_hz(unsigned int *attached)
{
	u32 refresh = 0;
	unsigned int i;

	*attached = 0;
	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_sensor_chip *chip = jetwatt_chip_at(i);

		if (!chip->client)
			continue;
		++*attached;
		/* The stored configuration of a lost chip may be outdated. */
		if (!chip->lost && jetwatt_chip_channels(chip))
			refresh = max(refresh, jetwatt_chip_refresh_mhz(chip));
	}
	return refresh ? max(refresh / 1000, 1U) : 0;
}

/**
 * jetwatt_plan_limit() - calculate the highest sampling rate
 * @share_pct: maximum share of a bus's time, in percent
 *
 * Context: takes jetwatt_board.lock. Return: the highest possible rate and the reason why a higher
 * rate is not possible.
 */
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct)
{
	struct jetwatt_limit limit = {
		.hz = JETWATT_RATE_HARD_HZ, .all_hz = JETWATT_RATE_HARD_HZ, .reason = JETWATT_LIMIT_HARD,
	};
	u64 all_ns = 0, fast_ns = 0;
	enum jetwatt_read_mode fast;
	unsigned int i, attached;
	struct jetwatt_bus *bus;
	struct load load;
	u32 hz;

	rt_mutex_lock(&jetwatt_board.lock);
	hz = refresh_hz(&attached);
	if (hz)
		lower_limit(&limit, hz, JETWATT_LIMIT_CHIP);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		jetwatt_bus_refresh_hz(bus);
		load = bus_load(bus);
		all_ns += min_transfer_ns(bus, bits(&load, JETWATT_READ_SHUNTS));
		limit.all_hz = min(limit.all_hz,
				   bus_hz(bus, &load, JETWATT_READ_SHUNTS, share_pct));
		fast = load.sums ? JETWATT_READ_SUMS : JETWATT_READ_SHUNTS;
		fast_ns += min_transfer_ns(bus, bits(&load, fast));
		hz = bus_hz(bus, &load, fast, share_pct);
		if (hz >= limit.hz)
			continue;
		lower_limit(&limit, hz, JETWATT_LIMIT_BUS);
		limit.bus_nr = bus->nr;
		limit.bus_hz = jetwatt_bus_hz(bus);
	}
	/* If tick_hz() is below 95 % of the period, the CPU overhead is the reason. */
	if (fast_ns) {
		lower_limit(&limit, max_hz(95, fast_ns), JETWATT_LIMIT_TICK);
		lower_limit(&limit, tick_hz(fast_ns), JETWATT_LIMIT_CPU);
		limit.all_hz = min(limit.all_hz, tick_hz(all_ns));
	}
	rt_mutex_unlock(&jetwatt_board.lock);
	if (!attached)
		limit.hz = 0;
	limit.all_hz = min(limit.all_hz, limit.hz);
	return limit;
}
