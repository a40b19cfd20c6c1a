// SPDX-License-Identifier: GPL-2.0
#include "sensors/bus.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/i2c.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/of.h>
#include "fault_inject.h"
#include "sensors/board.h"

#define BITS_PER_REG	JETWATT_REG_BITS(2)

#define DEFAULT_HZ	100000
#define WINDOW		64

static const u32 standard_hz[] = { 100000, 400000, 1000000, 3400000 };

/* Of one read at a time: jetwatt_board.lock is held. Too big for a stack. */
static struct i2c_msg msgs[2 * JETWATT_BUS_REGS];
static u8 bytes[JETWATT_BUS_REGS][JETWATT_REG_BYTES];

/* Failed transfers since the module was loaded. */
static atomic64_t bus_errors;

/**
 * jetwatt_bus_get() - the bus of an adapter
 * @adapter: the adapter, with a reference to its device that the caller holds
 *	at least until jetwatt_bus_put()
 *
 * Context: jetwatt_board.lock held. Return: the bus, NULL if there are too many.
 */
struct jetwatt_bus *jetwatt_bus_get(struct i2c_adapter *adapter)
{
	struct jetwatt_bus *bus, *spare = NULL;

	for (bus = jetwatt_board.buses; bus < jetwatt_board.buses + JETWATT_BUSES_MAX; bus++) {
		if (bus->adapter == adapter) {
			bus->users++;
			bus->planned = false;
			return bus;
		}
		if (!bus->adapter && !spare)
			spare = bus;
	}
	if (spare) {
		memset(spare, 0, sizeof(*spare));
		spare->adapter = adapter;
		spare->nr = i2c_adapter_id(adapter);
		spare->users = 1;
	}
	return spare;
}

/**
 * jetwatt_bus_put() - a chip lets go of its bus
 * @bus: the bus
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_put(struct jetwatt_bus *bus)
{
	bus->planned = false;
	if (--bus->users)
		return;
	bus->adapter = NULL;
	WRITE_ONCE(bus->busy_permille, 0);
}

static u64 big_endian(const u8 *from, unsigned int n)
{
	u64 value = 0;

	while (n--)
		value = value << 8 | *from++;
	return value;
}

static int read_wide(struct i2c_adapter *adapter, struct jetwatt_reg *reg)
{
	union i2c_smbus_data data;
	int err;

	data.block[0] = reg->bytes;
	err = i2c_smbus_xfer(adapter, reg->addr, 0, I2C_SMBUS_READ, reg->reg,
			     I2C_SMBUS_I2C_BLOCK_DATA, &data);
	if (err)
		return err;
	if (data.block[0] != reg->bytes)
		return -EIO;
	reg->value = big_endian(data.block + 1, reg->bytes);
	return 0;
}

static int read_word(struct i2c_adapter *adapter, struct jetwatt_reg *reg)
{
	union i2c_smbus_data data;
	int err;

	err = i2c_smbus_xfer(adapter, reg->addr, 0, I2C_SMBUS_READ, reg->reg,
			     I2C_SMBUS_WORD_DATA, &data);
	/* SMBus puts the low byte first, the chip the high one. */
	if (!err)
		reg->value = swab16(data.word);
	return err;
}

static int read_one_by_one(struct i2c_adapter *adapter, struct jetwatt_reg *regs, unsigned int n)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = regs[i].bytes == 2 ? read_word(adapter, &regs[i]) :
					   read_wide(adapter, &regs[i]);
	return err;
}

static int read_batch(struct i2c_adapter *adapter, struct jetwatt_reg *regs, unsigned int n)
{
	const struct i2c_adapter_quirks *quirks = adapter->quirks;
	unsigned int i, len, most = 2 * n;
	int ret;

	if (quirks && quirks->flags & I2C_AQ_COMB)
		most = 2;
	else if (quirks && quirks->max_num_msgs)
		most = max(quirks->max_num_msgs & ~1, 2);
	for (i = 0; i < n; i++) {
		msgs[2 * i] = (struct i2c_msg){
			.addr = regs[i].addr, .len = 1, .buf = &regs[i].reg,
		};
		msgs[2 * i + 1] = (struct i2c_msg){
			.addr = regs[i].addr, .flags = I2C_M_RD, .len = regs[i].bytes,
			.buf = bytes[i],
		};
	}
	for (i = 0; i < 2 * n; i += len) {
		len = min(most, 2 * n - i);
		ret = i2c_transfer(adapter, msgs + i, len);
		if (ret < 0)
			return ret;
		if (ret != len)
			return -EIO;
	}
	for (i = 0; i < n; i++)
		regs[i].value = big_endian(bytes[i], regs[i].bytes);
	return 0;
}

static void store_best(struct jetwatt_bus *bus, u64 ns, const struct jetwatt_reg *regs,
		     unsigned int n)
{
	u32 bits = 0, each;
	unsigned int i;

	for (i = 0; i < n; i++)
		bits += JETWATT_REG_BITS(regs[i].bytes);
	each = (u32)min_t(u64, div_u64(ns * BITS_PER_REG, bits), U32_MAX);

	bus->busy_ns += ns;
	/* The cost of starting a transfer belongs to no register: spread it. */
	if (n < 3)
		return;
	if (bus->window++ >= WINDOW) {
		bus->window = 0;
		bus->best[1] = bus->best[0];
		bus->best[0] = 0;
	}
	if (!bus->best[0] || each < bus->best[0])
		bus->best[0] = each;
}

/**
 * jetwatt_bus_read() - read registers of chips on one bus in one go
 * @bus: the bus
 * @regs: what to read; the values are there afterwards
 * @n: how many, at most JETWATT_BUS_REGS
 *
 * Context: jetwatt_board.lock held; sleeps. Return: 0 or a negative errno,
 * then no value is to be used.
 */
int jetwatt_bus_read(struct jetwatt_bus *bus, struct jetwatt_reg *regs, unsigned int n)
{
	int err;

	bus->begun_ns = ktime_get_ns();
	if (jetwatt_fail(JETWATT_FAIL_TRANSFER))
		err = -EIO;
	else if (i2c_check_functionality(bus->adapter, I2C_FUNC_I2C))
		err = read_batch(bus->adapter, regs, n);
	else
		err = read_one_by_one(bus->adapter, regs, n);
	bus->ended_ns = ktime_get_ns();
	if (err)
		atomic64_inc(&bus_errors);
	else
		store_best(bus, bus->ended_ns - bus->begun_ns, regs, n);
	return err;
}

/**
 * jetwatt_bus_errors() - count the failed transfers of all buses
 *
 * Context: any. Return: the number since the module was loaded.
 */
u64 jetwatt_bus_errors(void)
{
	return atomic64_read(&bus_errors);
}

/**
 * jetwatt_bus_measure_again() - forget how fast the bus was
 * @bus: the bus
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_measure_again(struct jetwatt_bus *bus)
{
	bus->best[0] = 0;
	bus->best[1] = 0;
	bus->window = 0;
}

/**
 * jetwatt_bus_reg_measured_ns() - how long a register really takes
 * @bus: the bus
 *
 * The best of the last 64 to 128 transfers: others also use the bus, and the
 * sampler may be kept from running in the middle of a transfer, so that only
 * the shortest one tells about the bus itself.
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds, 0 if not known yet.
 */
u32 jetwatt_bus_reg_measured_ns(const struct jetwatt_bus *bus)
{
	if (bus->best[0] && bus->best[1])
		return min(bus->best[0], bus->best[1]);
	return bus->best[0] ?: bus->best[1];
}

static u32 wire_ns(u32 hz)
{
	/* Only half of what fits: callers take up to a quarter more of it. */
	return (u32)min_t(u64, div_u64(BITS_PER_REG * 1000000000ULL, hz), U32_MAX / 2);
}

/*
 * NVIDIA's kernels up to JetPack 5 can change the clock of an adapter at run
 * time and tell what it is. It is part of the i2c core there,
 * which is built in: if it is not there once, it never will be.
 */
int i2c_get_adapter_bus_clk_rate(struct i2c_adapter *adapter);

static u32 told_hz(struct i2c_adapter *adapter)
{
	int (*get)(struct i2c_adapter *adapter);
	static bool absent;
	int hz;

	if (absent)
		return 0;
	get = symbol_get(i2c_get_adapter_bus_clk_rate);
	if (!get) {
		absent = true;
		return 0;
	}
	hz = get(adapter);
	symbol_put(i2c_get_adapter_bus_clk_rate);
	return hz > 0 ? hz : 0;
}

static u32 stated_hz(struct i2c_adapter *adapter)
{
	struct device_node *np = adapter->dev.of_node;
	u32 hz;

	if (!np && adapter->dev.parent)
		np = adapter->dev.parent->of_node;
	if (np && !of_property_read_u32(np, "clock-frequency", &hz) && hz)
		return hz;
	return DEFAULT_HZ;
}

/**
 * jetwatt_bus_refresh_hz() - ask the adapter for its clock, if it can tell
 * @bus: the bus
 *
 * Looking the function up takes longer than a tick's other work: not in ticks.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_refresh_hz(struct jetwatt_bus *bus)
{
	u32 hz = told_hz(bus->adapter);

	if (hz == bus->reported_hz)
		return;
	/* Times at another clock tell nothing about this one. */
	bus->reported_hz = hz;
	jetwatt_bus_measure_again(bus);
	memset(bus->least_ns, 0, sizeof(bus->least_ns));
}

/**
 * jetwatt_bus_hz() - clock of the bus
 * @bus: the bus
 *
 * What the adapter last said if it can, else what the device tree says, unless the
 * measured time refutes that: a transfer cannot take less time than its bits,
 * and the clock may have been changed behind the device tree's back.
 *
 * Context: jetwatt_board.lock held. Return: hertz.
 */
u32 jetwatt_bus_hz(struct jetwatt_bus *bus)
{
	u32 hz = bus->reported_hz, ns;
	unsigned int i;

	if (hz)
		return hz;
	ns = jetwatt_bus_reg_measured_ns(bus);
	hz = stated_hz(bus->adapter);
	if (!ns)
		return hz;
	if (ns < wire_ns(hz) / 10 * 9) {
		/* Faster than stated: the slowest clock that could do it. */
		for (i = 0; i < ARRAY_SIZE(standard_hz); i++)
			if (ns >= wire_ns(standard_hz[i]) / 100 * 97)
				return standard_hz[i];
	} else if (ns > wire_ns(hz) / 100 * 125) {
		/* Slower: a slower clock if the time fits one, else a slow driver. */
		for (i = 0; i < ARRAY_SIZE(standard_hz) && standard_hz[i] < hz; i++)
			if (ns >= wire_ns(standard_hz[i]) / 100 * 97 &&
			    ns <= wire_ns(standard_hz[i]) / 100 * 115)
				return standard_hz[i];
	}
	return hz;
}

/**
 * jetwatt_bus_is_slow() - something else than the wire is slow
 * @bus: the bus
 *
 * Context: jetwatt_board.lock held. Return: whether a register has never taken
 * less than a quarter longer than its bits.
 */
bool jetwatt_bus_is_slow(struct jetwatt_bus *bus)
{
	return jetwatt_bus_reg_measured_ns(bus) > wire_ns(jetwatt_bus_hz(bus)) / 4 * 5;
}

/**
 * jetwatt_bus_reg_ns() - how long to reckon with for a register
 * @bus: the bus
 *
 * The time on the wire, which stays put; the measured one if the bus is slow.
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds.
 */
u32 jetwatt_bus_reg_ns(struct jetwatt_bus *bus)
{
	return jetwatt_bus_is_slow(bus) ? jetwatt_bus_reg_measured_ns(bus) :
					  wire_ns(jetwatt_bus_hz(bus));
}

/**
 * jetwatt_bus_bits_ns() - how long to reckon with for registers of any width
 * @bus: the bus
 * @bits: sum of their JETWATT_REG_BITS()
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds.
 */
u64 jetwatt_bus_bits_ns(struct jetwatt_bus *bus, unsigned int bits)
{
	return div_u64((u64)bits * jetwatt_bus_reg_ns(bus), BITS_PER_REG);
}

/**
 * jetwatt_bus_ticked() - note how long the last read took: it was one of the sampler's
 * @bus: the bus
 * @n: registers
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_ticked(struct jetwatt_bus *bus, unsigned int n)
{
	u64 ns = bus->ended_ns - bus->begun_ns;
	u32 *least = &bus->least_ns[0][n];

	if (!*least || ns < *least)
		*least = (u32)min_t(u64, ns, U32_MAX);
	if (++bus->reads < WINDOW)
		return;
	bus->reads_hz = div64_u64(WINDOW * NSEC_PER_SEC, bus->ended_ns - bus->since_ns);
	bus->reads = 0;
	bus->since_ns = bus->ended_ns;
	memcpy(bus->least_ns[1], bus->least_ns[0], sizeof(bus->least_ns[1]));
	memset(bus->least_ns[0], 0, sizeof(bus->least_ns[0]));
	bus->least_hz = jetwatt_bus_hz(bus);
}

/**
 * jetwatt_bus_took_ns() - how long a read of some registers takes at present
 * @bus: the bus
 * @n: registers
 *
 * The shortest read of as many registers in the last whole window, or of the nearest
 * number that there was. It has in it what the CPU takes to start a transfer and to be
 * woken up at its end, which is the same for any number, and during which no other driver
 * has the bus either.
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds, 0 if not known at this clock.
 */
u64 jetwatt_bus_took_ns(struct jetwatt_bus *bus, unsigned int n)
{
	const u32 *least = bus->least_ns[1];
	s64 more_ns;
	int i, near = 0;

	if (bus->least_hz != jetwatt_bus_hz(bus))
		return 0;
	for (i = 1; i <= JETWATT_BUS_REGS; i++)
		if (least[i] && (!near || abs(i - (int)n) < abs(near - (int)n)))
			near = i;
	if (!near)
		return 0;
	more_ns = ((s64)n - near) * jetwatt_bus_reg_ns(bus);
	return max_t(s64, least[near] + more_ns, 0);
}
