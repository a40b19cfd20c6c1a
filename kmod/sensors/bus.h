/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An i2c bus with sensor chips: reading several registers in few transfers, and measuring the bus
 * speed.
 */
#ifndef JETWATT_BUS_H
#define JETWATT_BUS_H

#include <linux/types.h>

struct i2c_adapter;

#define JETWATT_BUSES_MAX	8
#define JETWATT_CHIPS_MAX	8
/*
 * Maximum number of registers in one transfer: all chips on one bus, each with 3 shunt voltages, 3
 * bus voltages, the sum and 1 auxiliary register.
 */
#define JETWATT_BUS_REGS	(JETWATT_CHIPS_MAX * 8)

#define JETWATT_REG_BYTES	5	/* of the widest register: ENERGY of the INA228, not read */

/*
 * Bits on the wire to read one register: start, address, register number, repeated start,
 * address, data bytes, stop; each byte has an acknowledge bit. Most registers have two bytes, and
 * the "time per register" of a bus is that of a two-byte register.
 */
#define JETWATT_REG_BITS(bytes)	(30 + 9 * (bytes))

/**
 * struct jetwatt_reg - one register to read
 * @addr: 7-bit address of the chip
 * @reg: address of the register
 * @chip: id of the chip; not used by bus.c
 * @kind: enum jetwatt_reg_kind; not used by bus.c
 * @index: channel, or index of a configuration register; not used by bus.c
 * @first: true for the shunt register of a chip's first enabled channel; not used by bus.c
 * @bytes: width of the register, 2 to JETWATT_REG_BYTES
 * @value: gets the contents of the register, in host byte order
 */
struct jetwatt_reg {
	u16 addr;
	u8 reg;
	u8 chip;
	u8 kind;
	u8 index;
	bool first;
	u8 bytes;
	u64 value;
};

/**
 * enum jetwatt_read_mode - registers that every tick of a bus reads
 * @JETWATT_READ_SHUNTS: all shunt voltages
 * @JETWATT_READ_SHUNTS_AND_SUMS: all shunt voltages, and all sums whose channels are known
 * @JETWATT_READ_SUMS: the sums whose channels are known, and no shunt voltage
 *
 * read_schedule.c decides which other registers a tick reads.
 */
enum jetwatt_read_mode {
	JETWATT_READ_SHUNTS,
	JETWATT_READ_SHUNTS_AND_SUMS,
	JETWATT_READ_SUMS,
};

/**
 * struct jetwatt_bus - one i2c adapter with chips
 * @adapter: the adapter, whose device is referenced by the attached chips; NULL if the slot is
 *	free
 * @nr: number of the adapter
 * @users: number of attached chips on this bus
 * @read_mode: registers that every tick reads
 * @hold_until_ns: time until which @read_mode must not change to one with more registers, unless the
 *	rate, the share of the bus or @reported_hz changes (CLOCK_MONOTONIC)
 * @planned: true if the layout of this bus in read_schedule.c is up to date
 * @rotation: counter of registers read in rotation; modulo the number of such registers, the index
 *	of the next one
 * @last_ns: time at which the last tick was planned
 * @busy_ns: total duration of the successful transfers (ns)
 * @begun_ns: start of the last transfer
 * @ended_ns: end of the last transfer, whether it succeeded or failed
 * @best: shortest time per register (ns) of transfers of three or more registers, in the current
 *	window and in the previous window; 0: no such transfer
 * @window: counter of transfers of three or more registers, which ends the windows of @best
 * @shortest_ns: duration of the sampler thread's shortest transfer (ns), by number of registers, in
 *	the current window and in the last complete window; 0: no transfer with that number of
 *	registers
 * @reads: number of transfers in the current window of @shortest_ns
 * @window_start_ns: start of the current window of @shortest_ns
 * @reads_hz: transfers per second in the last complete window of @shortest_ns
 * @shortest_bus_hz: clock of the bus at the end of the last complete window of @shortest_ns
 * @reported_hz: clock that the adapter last reported (hertz); 0 if it reports none
 * @busy_permille: share of time taken by transfers (permille), in the last window of about a second
 *
 * All fields are protected by jetwatt_board.lock; only @busy_permille may also be read without the
 * lock.
 */
struct jetwatt_bus {
	struct i2c_adapter *adapter;
	u32 nr;
	u32 users;
	enum jetwatt_read_mode read_mode;
	u64 hold_until_ns;
	bool planned;
	u32 rotation;
	u64 last_ns;
	u64 busy_ns;
	u64 begun_ns;
	u64 ended_ns;
	u32 best[2];
	u32 window;
	u32 shortest_ns[2][JETWATT_BUS_REGS + 1];
	u32 reads;
	u64 window_start_ns;
	u64 reads_hz;
	u32 shortest_bus_hz;
	u32 reported_hz;
	u32 busy_permille;
};

struct jetwatt_bus *jetwatt_bus_get(struct i2c_adapter *adapter);
void jetwatt_bus_put(struct jetwatt_bus *bus);
int jetwatt_bus_read(struct jetwatt_bus *bus, struct jetwatt_reg *regs, unsigned int n);
u64 jetwatt_bus_errors(void);
void jetwatt_bus_measure_again(struct jetwatt_bus *bus);
void jetwatt_bus_refresh_hz(struct jetwatt_bus *bus);
u32 jetwatt_bus_hz(struct jetwatt_bus *bus);
bool jetwatt_bus_is_slow(struct jetwatt_bus *bus);
u32 jetwatt_bus_reg_ns(struct jetwatt_bus *bus);
u32 jetwatt_bus_reg_measured_ns(const struct jetwatt_bus *bus);
u64 jetwatt_bus_bits_ns(struct jetwatt_bus *bus, unsigned int bits);
void jetwatt_bus_ticked(struct jetwatt_bus *bus, unsigned int n);
u64 jetwatt_bus_took_ns(struct jetwatt_bus *bus, unsigned int n);

#endif
