// SPDX-License-Identifier: GPL-2.0
/*
 * Read registers of the chips on one i2c bus in as few transfers as possible, and measure the time
 * per register. The read schedule and the limit of the sampling rate use the measured times.
 */
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

/* Buffers of a transfer, too big for a stack. Protected by jetwatt_board.lock. */
static struct i2c_msg msgs[2 * JETWATT_BUS_REGS];
static u8 bytes[JETWATT_BUS_REGS][JETWATT_REG_BYTES];

/* Number of failed transfers since the module was loaded. */
static atomic64_t bus_errors;

/**
 * jetwatt_bus_get() - return the bus of an adapter and count one more chip on it
 * @adapter: the adapter; the caller must hold a reference to its device until jetwatt_bus_put()
 *
 * Context: jetwatt_board.lock held. Return: the bus; NULL if other adapters use all slots.
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
 * jetwatt_bus_put() - count one chip less on a bus, and free the bus if no chip is left
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

	if (n == 2)
		return from[0] << 8 | from[1];
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
	/* Swap: SMBus takes the first byte as the low one, but chips send the high byte first. */
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

	bus->busy_ns += ns;
	/* The constant time to start a transfer would dominate the result of a short one. */
	if (n < 3)
		return;
	for (i = 0; i < n; i++)
		bits += JETWATT_REG_BITS(regs[i].bytes);
	each = (u32)min_t(u64, div_u64(ns * BITS_PER_REG, bits), U32_MAX);
	if (bus->window++ >= WINDOW) {
		bus->window = 0;
		bus->best[1] = bus->best[0];
		bus->best[0] = 0;
	}
	if (!bus->best[0] || each < bus->best[0])
		bus->best[0] = each;
}

/**
 * jetwatt_bus_read() - read registers of the chips on one bus
 * @bus: the bus
 * @regs: registers to read; their values are set on success
 * @n: number of registers, at most JETWATT_BUS_REGS
 *
 * Makes as few I2C transfers as the adapter allows: one, several if the adapter limits the number
 * of messages, or one per register if the adapter only supports SMBus.
 *
 * Context: jetwatt_board.lock held; sleeps. Return: 0 or a negative errno; on an error, the values
 * are undefined.
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
 * jetwatt_bus_errors() - return the number of failed transfers on all buses
 *
 * Context: any. Return: number of failed transfers since the module was loaded.
 */
u64 jetwatt_bus_errors(void)
{
	return atomic64_read(&bus_errors);
}

/**
 * jetwatt_bus_measure_again() - discard the measured time per register
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
 * jetwatt_bus_reg_measured_ns() - return the measured time per register
 * @bus: the bus
 *
 * The result is the shortest time in about the last 64 to 128 successful transfers of three or more
 * registers. Longer times include preemption, or use of the bus by other drivers.
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds, 0 if not measured yet.
 */
u32 jetwatt_bus_reg_measured_ns(const struct jetwatt_bus *bus)
{
	if (bus->best[0] && bus->best[1])
		return min(bus->best[0], bus->best[1]);
	return bus->best[0] ?: bus->best[1];
}

static u32 wire_ns(u32 hz)
{
	/* Limit the result to U32_MAX / 2, because callers multiply it by up to 5/4 in 32 bits. */
	return (u32)min_t(u64, div_u64(BITS_PER_REG * 1000000000ULL, hz), U32_MAX / 2);
}

/*
 * NVIDIA's kernels up to JetPack 5 can change the clock of an adapter at run time and export this
 * function to read it. The function is part of the i2c core, which is built into the kernel: if the
 * symbol is missing once, it will never appear later.
 */
int i2c_get_adapter_bus_clk_rate(struct i2c_adapter *adapter);

static u32 adapter_hz(struct i2c_adapter *adapter)
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

static u32 dt_hz(struct i2c_adapter *adapter)
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
 * jetwatt_bus_refresh_hz() - read the clock of the bus from its adapter
 * @bus: the bus
 *
 * If the clock has changed, all measured times are discarded. This function must not be called in a
 * tick, because looking up a kernel symbol takes too long.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_refresh_hz(struct jetwatt_bus *bus)
{
	u32 hz = adapter_hz(bus->adapter);

	if (hz == bus->reported_hz)
		return;
	/* Times measured at the previous clock are not valid any more. */
	bus->reported_hz = hz;
	bus->hold_until_ns = 0;
	jetwatt_bus_measure_again(bus);
	memset(bus->shortest_ns, 0, sizeof(bus->shortest_ns));
}

/**
 * jetwatt_bus_hz() - return the clock of the bus
 * @bus: the bus
 *
 * The result is the clock that the adapter last reported. If the adapter reports none, the result
 * is the clock in the device tree (100 kHz if it has none), unless the measured time per register
 * only matches another standard clock.
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
	hz = dt_hz(bus->adapter);
	if (!ns)
		return hz;
	if (ns < wire_ns(hz) / 10 * 9) {
		/*
		 * The bus is faster than the clock in the device tree: return the slowest standard
		 * clock at which a transfer can be as fast as measured.
		 */
		for (i = 0; i < ARRAY_SIZE(standard_hz); i++)
			if (ns >= wire_ns(standard_hz[i]) / 100 * 97)
				return standard_hz[i];
	} else if (ns > wire_ns(hz) / 100 * 125) {
		/*
		 * The bus is slower than the clock in the device tree: return the standard clock
		 * that matches the measured time. If no standard clock matches, the adapter's
		 * driver is slow.
		 */
		for (i = 0; i < ARRAY_SIZE(standard_hz) && standard_hz[i] < hz; i++)
			if (ns >= wire_ns(standard_hz[i]) / 100 * 97 &&
			    ns <= wire_ns(standard_hz[i]) / 100 * 115)
				return standard_hz[i];
	}
	return hz;
}

/**
 * jetwatt_bus_is_slow() - test whether the driver, not the bus clock, limits the bus
 * @bus: the bus
 *
 * Context: jetwatt_board.lock held.
 * Return: true if the measured time per register is more than 1.25 times its time on the wire.
 */
bool jetwatt_bus_is_slow(struct jetwatt_bus *bus)
{
	return jetwatt_bus_reg_measured_ns(bus) > wire_ns(jetwatt_bus_hz(bus)) / 4 * 5;
}

/**
 * jetwatt_bus_reg_ns() - return the expected time to read one register
 * @bus: the bus
 *
 * The result is the time on the wire, or the measured time if jetwatt_bus_is_slow() is true.
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds.
 */
u32 jetwatt_bus_reg_ns(struct jetwatt_bus *bus)
{
	return jetwatt_bus_is_slow(bus) ? jetwatt_bus_reg_measured_ns(bus) :
					  wire_ns(jetwatt_bus_hz(bus));
}

/**
 * jetwatt_bus_bits_ns() - return the expected time to transfer a number of bits
 * @bus: the bus
 * @bits: sum of the JETWATT_REG_BITS() of the registers to read
 *
 * Context: jetwatt_board.lock held. Return: nanoseconds.
 */
u64 jetwatt_bus_bits_ns(struct jetwatt_bus *bus, unsigned int bits)
{
	return div_u64((u64)bits * jetwatt_bus_reg_ns(bus), BITS_PER_REG);
}

/**
 * jetwatt_bus_ticked() - record the duration of a successful transfer of the sampler thread
 * @bus: the bus
 * @n: number of registers that were read in the transfer
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_bus_ticked(struct jetwatt_bus *bus, unsigned int n)
{
	u64 ns = bus->ended_ns - bus->begun_ns;
	u32 *shortest = &bus->shortest_ns[0][n];

	if (!*shortest || ns < *shortest)
		*shortest = (u32)min_t(u64, ns, U32_MAX);
	if (++bus->reads < WINDOW)
		return;
	bus->reads_hz = div64_u64(WINDOW * NSEC_PER_SEC, bus->ended_ns - bus->window_start_ns);
	bus->reads = 0;
	bus->window_start_ns = bus->ended_ns;
	memcpy(bus->shortest_ns[1], bus->shortest_ns[0], sizeof(bus->shortest_ns[1]));
	memset(bus->shortest_ns[0], 0, sizeof(bus->shortest_ns[0]));
	bus->shortest_bus_hz = jetwatt_bus_hz(bus);
}

/**
 * jetwatt_bus_took_ns() - return the present duration of the sampler thread's transfers
 * @bus: the bus
 * @n: number of registers
 *
 * The result is the shortest duration of a transfer of @n registers in the last complete window, or
 * that for the nearest number of registers, corrected by the time per register. The duration
 * includes the CPU time to start a transfer and to wake the thread at its end, because other
 * drivers cannot use the bus in that time.
 *
 * Context: jetwatt_board.lock held.
 * Return: nanoseconds, 0 if no window has been completed at the present bus clock.
 */
u64 jetwatt_bus_took_ns(struct jetwatt_bus *bus, unsigned int n)
{
	const u32 *shortest = bus->shortest_ns[1];
	s64 more_ns;
	int i, near = 0;

	if (bus->shortest_bus_hz != jetwatt_bus_hz(bus))
		return 0;
	for (i = 1; i <= JETWATT_BUS_REGS; i++)
		if (shortest[i] && (!near || abs(i - (int)n) < abs(near - (int)n)))
			near = i;
	if (!near)
		return 0;
	more_ns = ((s64)n - near) * jetwatt_bus_reg_ns(bus);
	return max_t(s64, shortest[near] + more_ns, 0);
}
