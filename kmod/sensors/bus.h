/* SPDX-License-Identifier: GPL-2.0 */
/* An i2c bus with sensors on it: batched reads, and how long they take. */
#ifndef JETWATT_BUS_H
#define JETWATT_BUS_H

#include <linux/types.h>

struct i2c_adapter;

#define JETWATT_BUSES_MAX	8
#define JETWATT_CHIPS_MAX	8
/* All chips on one bus: three shunts, three bus voltages, the sum, one of the rest. */
#define JETWATT_BUS_REGS	(JETWATT_CHIPS_MAX * 8)

#define JETWATT_REG_BYTES	5	/* of the widest register */

/*
 * Bits that reading a register takes on the wire: start, address, register number, repeated
 * start, address, its bytes, each byte with its acknowledge bit, stop. Most have two bytes,
 * and times "a register" are those of such a one.
 */
#define JETWATT_REG_BITS(bytes)	(30 + 9 * (bytes))

/**
 * struct jetwatt_reg - one register to read
 * @addr: 7-bit address of the chip
 * @reg: the register
 * @chip: id of the chip, for whoever asked
 * @kind: enum jetwatt_reg_kind, for whoever asked
 * @index: channel or number of it, for whoever asked
 * @first: it is the chip's first shunt, for whoever asked
 * @bytes: its width, 2 to JETWATT_REG_BYTES
 * @value: what was read, in host byte order
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
 * enum jetwatt_read_mode - what the ticks of a bus read, beside what takes turns
 * @JETWATT_READ_SHUNTS: all shunts
 * @JETWATT_READ_SHUNTS_AND_SUMS: all shunts and the sums that can be used
 * @JETWATT_READ_SUMS: these sums only
 */
enum jetwatt_read_mode {
	JETWATT_READ_SHUNTS,
	JETWATT_READ_SHUNTS_AND_SUMS,
	JETWATT_READ_SUMS,
};

/**
 * struct jetwatt_bus - one adapter
 * @adapter: the adapter, whose device is referenced; NULL: slot is free
 * @nr: its number
 * @users: chips that are attached through it
 * @read_mode: what its ticks read
 * @planned: nothing has changed since they were laid out (read_schedule.c)
 * @rotation: which of the registers that take turns is next
 * @last_ns: when it was last planned for
 * @busy_ns: all transfers so far
 * @begun_ns: when the last read began
 * @ended_ns: and when it was over, well or not
 * @best: shortest time for a register, this window and the one before
 * @window: transfers in this window
 * @least_ns: shortest time of the sampler's reads by their number of registers, in the
 *	window that is under way and in the last whole one; 0: there was none
 * @reads: reads in the former
 * @since_ns: beginning of the former
 * @reads_hz: reads a second in the latter
 * @least_hz: clock of the bus at the end of the latter
 * @reported_hz: the clock that the adapter last said it has, 0 if it says nothing
 * @busy_permille: share of its time that was taken, over the last seconds
 *
 * All of it is protected by jetwatt_board.lock, but @busy_permille may be read
 * without.
 */
struct jetwatt_bus {
	struct i2c_adapter *adapter;
	u32 nr;
	u32 users;
	enum jetwatt_read_mode read_mode;
	bool planned;
	u32 rotation;
	u64 last_ns;
	u64 busy_ns;
	u64 begun_ns;
	u64 ended_ns;
	u32 best[2];
	u32 window;
	u32 least_ns[2][JETWATT_BUS_REGS + 1];
	u32 reads;
	u64 since_ns;
	u64 reads_hz;
	u32 least_hz;
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
