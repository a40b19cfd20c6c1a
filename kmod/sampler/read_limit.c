// SPDX-License-Identifier: GPL-2.0
/* How many ticks a second buses, chips and the CPU allow, and what ticks then read. */
#include "sampler/read_schedule.h"

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sampler/overhead.h"
#include "sensors/board.h"

#define TOLERANCE	16

/**
 * struct load - what a tick asks of a bus
 * @shunts: registers of all shunts
 * @sums: sums that can be used
 * @averaged: sums of chips whose shunts are averaged
 * @wider: bytes that the shunts' registers have beyond two, all together
 * @turn_wider: and the widest of those that take turns
 */
struct load {
	unsigned int shunts;
	unsigned int sums;
	unsigned int averaged;
	unsigned int wider;
	unsigned int turn_wider;
};

/* Chips that are lost count too: they come back. */
static struct load load_of(const struct jetwatt_bus *bus)
{
	unsigned int i, shunts, wider, turn;
	struct load load = {};

	for (i = 0; i < jetwatt_chip_count(); i++) {
		struct jetwatt_chip *chip = jetwatt_chip_at(i);

		if (chip->bus != bus)
			continue;
		shunts = hweight32(jetwatt_chip_channels(chip));
		wider = jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_SHUNT) - 2;
		turn = max(wider, jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_BUS) - 2);
		load.shunts += shunts;
		load.wider += shunts * wider;
		load.turn_wider = max(load.turn_wider, turn);
		load.sums += !!chip->sum.channels;
		load.averaged += chip->sum.channels && jetwatt_chip_conversion(chip).averages > 1;
	}
	return load;
}

/* One more takes turns; a chip without a channel that is on still is asked how it is. */
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

/* Bits of a tick on the wire. */
static unsigned int bits(const struct load *load, enum jetwatt_read_mode mode)
{
	unsigned int wider = load->turn_wider + (mode == JETWATT_READ_SUMS ? 0 : load->wider);

	return registers(load, mode) * JETWATT_REG_BITS(2) + 9 * wider;
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
	return most_hz(share_pct, tick_ns(bus, load, mode, share_pct));
}

/**
 * jetwatt_plan_choose() - what the ticks of each bus are to read
 * @hz: ticks a second
 * @share_pct: the most of a bus's time to take
 *
 * Context: takes jetwatt_board.lock.
 */
void jetwatt_plan_choose(u32 hz, u32 share_pct)
{
	struct jetwatt_bus *bus;
	struct load load;
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		load = load_of(bus);
		bus->planned = false;
		bus->read_mode = JETWATT_READ_SHUNTS;
		if (load.sums && hz > bus_hz(bus, &load, JETWATT_READ_SHUNTS, share_pct))
			bus->read_mode = JETWATT_READ_SUMS;
		else if (load.averaged &&
			 hz <= bus_hz(bus, &load, JETWATT_READ_SHUNTS_AND_SUMS, share_pct))
			bus->read_mode = JETWATT_READ_SHUNTS_AND_SUMS;
	}
	rt_mutex_unlock(&jetwatt_board.lock);
}

/* At least that long for the registers of a transfer. */
static u64 at_least_ns(struct jetwatt_bus *bus, unsigned int bits)
{
	u32 each = max(jetwatt_bus_reg_ns(bus), jetwatt_bus_reg_measured_ns(bus));

	return div_u64((u64)bits * each, JETWATT_REG_BITS(2));
}

/* The shunts of some of a chip's channels. */
static u64 shunts_ns(struct jetwatt_bus *bus, const struct jetwatt_chip *chip,
		     unsigned int channels)
{
	unsigned int each = JETWATT_REG_BITS(jetwatt_chip_ops_bytes(chip->ops, JETWATT_REG_SHUNT));

	return jetwatt_bus_bits_ns(bus, hweight32(jetwatt_chip_channels(chip) & channels) * each);
}

/**
 * jetwatt_plan_skew_ns() - how much later than the first one a rail is read
 * @rail: its id
 *
 * Buses are read one after the other, and shunts in the order of their rails.
 *
 * Context: takes jetwatt_board.lock. Return: from the first shunt of a tick to
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

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < JETWATT_BUSES_MAX && chip->bus; i++) {
		bus = jetwatt_bus_at(i);
		if (bus == chip->bus)
			break;
		load = load_of(bus);
		if (bus->adapter)
			ns += jetwatt_bus_bits_ns(bus, bits(&load, bus->read_mode));
	}
	for (i = 0; i < is->chip && chip->bus; i++)
		if (jetwatt_chip_at(i)->bus == chip->bus)
			ns += shunts_ns(chip->bus, jetwatt_chip_at(i), ~0U);
	if (chip->bus)
		ns += shunts_ns(chip->bus, chip, BIT(is->channel) - 1);
	rt_mutex_unlock(&jetwatt_board.lock);
	return min_t(u64, ns, U32_MAX);
}

static void lower(struct jetwatt_limit *limit, u64 hz, enum jetwatt_limit_reason reason)
{
	if (hz >= limit->hz)
		return;
	limit->hz = max_t(u64, hz, 1);
	limit->reason = reason;
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
 * Context: takes jetwatt_board.lock. Return: the limit and its reason.
 */
struct jetwatt_limit jetwatt_plan_limit(u32 share_pct)
{
	struct jetwatt_limit limit = {
		.hz = JETWATT_RATE_HARD_HZ, .all_hz = JETWATT_RATE_HARD_HZ, .reason = JETWATT_LIMIT_HARD,
	};
	u64 all_ns = 0, fast_ns = 0, cpu_ns;
	enum jetwatt_read_mode fast;
	unsigned int i, attached;
	struct jetwatt_bus *bus;
	struct load load;
	u32 hz;

	rt_mutex_lock(&jetwatt_board.lock);
	hz = refresh_hz(&attached);
	if (hz)
		lower(&limit, hz, JETWATT_LIMIT_CHIP);
	for (i = 0; i < JETWATT_BUSES_MAX; i++) {
		bus = jetwatt_bus_at(i);
		if (!bus->adapter)
			continue;
		jetwatt_bus_refresh_hz(bus);
		load = load_of(bus);
		all_ns += at_least_ns(bus, bits(&load, JETWATT_READ_SHUNTS));
		limit.all_hz = min(limit.all_hz,
				   bus_hz(bus, &load, JETWATT_READ_SHUNTS, share_pct));
		fast = load.sums ? JETWATT_READ_SUMS : JETWATT_READ_SHUNTS;
		fast_ns += at_least_ns(bus, bits(&load, fast));
		hz = bus_hz(bus, &load, fast, share_pct);
		if (hz >= limit.hz)
			continue;
		lower(&limit, hz, JETWATT_LIMIT_BUS);
		limit.bus_nr = bus->nr;
		limit.bus_hz = jetwatt_bus_hz(bus);
	}
	/* Buses are read one after the other, and a twentieth is for everything else. */
	if (fast_ns) {
		lower(&limit, most_hz(95, fast_ns), JETWATT_LIMIT_TICK);
		limit.all_hz = min(limit.all_hz, most_hz(95, all_ns));
	}
	/* Once that is known, a tenth is for what comes in between. */
	cpu_ns = jetwatt_overhead_ns();
	if (fast_ns && cpu_ns) {
		lower(&limit, most_hz(90, fast_ns + cpu_ns), JETWATT_LIMIT_CPU);
		limit.all_hz = min(limit.all_hz, most_hz(90, all_ns + cpu_ns));
	}
	rt_mutex_unlock(&jetwatt_board.lock);
	limit.all_hz = min(limit.all_hz, limit.hz);
	if (!attached)
		limit.hz = 0;
	return limit;
}
