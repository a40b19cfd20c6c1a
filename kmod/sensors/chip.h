/* SPDX-License-Identifier: GPL-2.0 */
/* Sensor chips and their rails: the state that attach.c, chip.c and the sampler thread maintain. */
#ifndef JETWATT_CHIP_H
#define JETWATT_CHIP_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "sensors/bus.h"
#include "sensors/chip_ops.h"
#include "sensors/sum_channels.h"

struct device;
struct device_node;
struct i2c_client;

#define JETWATT_RAILS_MAX	(JETWATT_CHIPS_MAX * JETWATT_CHANNELS_MAX)
#define JETWATT_LABEL_LEN	48
#define JETWATT_ERRORS_LOST	10	/* successive failed transfers until a chip is lost */
#define JETWATT_NO_RAIL		0xff
#define JETWATT_STUCK_NS	(NSEC_PER_SEC / 10)	/* failures that take longer: timeouts */

#define JETWATT_OFFSET_RANGES	4

/**
 * struct jetwatt_offset - correction of a shunt voltage
 * @uv: offset, in microvolts, that is subtracted from the absolute value of the shunt voltage
 * @nr: number of entries of @range in use
 * @range: offsets that replace @uv for shunt voltages from @start to @end, all in microvolts
 */
struct jetwatt_offset {
	s32 uv;
	unsigned int nr;
	struct jetwatt_offset_range {
		s32 start, end, uv;
	} range[JETWATT_OFFSET_RANGES];
};

/**
 * struct jetwatt_sensor_rail - one channel of a chip
 * @id: index of the rail in jetwatt_board.rails
 * @chip: id of the chip that the rail belongs to
 * @channel: channel of the chip, 0 to 2
 * @shunt_uohm: resistance of the shunt (micro-ohms), from the module parameter or the device tree;
 *	0 if unknown
 * @label: label from the device tree, truncated if longer; without a label, "in1" to "in3", as in
 *	hwmon
 * @offset: correction of the rail's shunt voltage
 * @shunt_slot: column of the rail's shunt voltage in a sample
 * @bus_slot: column of the rail's bus voltage in a sample
 *
 * All fields are constant once the rail is published.
 */
struct jetwatt_sensor_rail {
	u32 id;
	u32 chip;
	u32 channel;
	u32 shunt_uohm;
	char label[JETWATT_LABEL_LEN];
	struct jetwatt_offset offset;
	int shunt_slot;
	int bus_slot;
};

/**
 * struct jetwatt_sensor_chip - one sensor chip
 * @id: index of the chip in jetwatt_board.chips
 * @addr: 7-bit i2c address
 * @ops: operations of the chip's model
 * @node: device-tree node of the chip, with a reference, or NULL
 * @rail: rail id of each channel; JETWATT_NO_RAIL if the chip lacks the channel, the device tree
 *	disables it, or nothing is connected to it
 * @client: i2c device of the chip, with a reference; NULL while the chip is detached
 * @bus: bus of the chip; NULL while the chip is detached
 * @consecutive_errors: number of failed transfers of the chip since the last successful transfer,
 *	at most JETWATT_ERRORS_LOST; set to JETWATT_ERRORS_LOST by a timeout, or if the
 *	configuration cannot be read when the chip is attached
 * @aux_reg_due: earliest time at which the chip's next auxiliary register is read (ns)
 * @aux_index: number of auxiliary registers planned so far
 * @sum_observe_due: earliest time of the next tick to which registers are added, so that it reads
 *	both the shunts and the sum, to determine the channels of the sum (ns)
 * @sum: the channels that the chip's sum of shunt voltages includes, as far as known
 * @sum_slot: column of the sum in a sample; -1 if the sum has no column yet
 * @retry_due: earliest time of the next retry of a lost chip (ns)
 * @window_time: see jetwatt_chip_update_rates()
 * @window_reads: see jetwatt_chip_update_rates()
 * @windows: see jetwatt_chip_update_rates()
 * @bus_nr: number of the chip's i2c adapter
 * @bus_hz: last known clock of the chip's bus (hertz)
 * @config: values of the chip's configuration registers as last read
 * @channels: mask of the channels that are enabled by @config and belong to a rail
 * @lost: the chip is detached or does not respond
 * @errors: number of failed transfers that included registers of the chip, except those that only
 *	measured the speed of the bus
 * @reads: number of times that the chip's first enabled shunt was read
 * @read_mhz: reads of the chip's shunts per second (millihertz), see jetwatt_chip_update_rates()
 * @clipped: number of shunt voltage readings that were at the lower or upper end of the chip's
 *	range
 *
 * A chip is never removed. When its client is deleted, the chip is lost; when the client
 * returns, it is attached to the same chip. Pointers to chips and rails are therefore valid for
 * the life of the module and need no reference count.
 *
 * @id to @rail are constant once the chip is published. @client to @windows are protected by
 * jetwatt_board.lock; of these, only sum.channels may also be read without it. The other fields are
 * written under jetwatt_board.lock and may be read without it; the values of two fields read
 * without the lock may be of different times.
 */
struct jetwatt_sensor_chip {
	u32 id;
	u32 addr;
	const struct jetwatt_chip_ops *ops;
	struct device_node *node;
	u8 rail[JETWATT_CHANNELS_MAX];

	struct i2c_client *client;
	struct jetwatt_bus *bus;
	unsigned int consecutive_errors;
	u64 aux_reg_due;
	unsigned int aux_index;
	u64 sum_observe_due;
	struct jetwatt_sum sum;
	int sum_slot;
	u64 retry_due;
	u64 window_time[8];
	u64 window_reads[8];
	unsigned int windows;

	u32 bus_nr;
	u32 bus_hz;
	u16 config[JETWATT_CONFIGS_MAX];
	unsigned int channels;
	bool lost;
	u64 errors;
	u64 reads;
	u32 read_mhz;
	u64 clipped;
};

/**
 * jetwatt_chip_channels() - return the channels that are enabled and belong to a rail
 * @chip: the chip
 *
 * Context: any. Return: a mask of channels.
 */
static inline unsigned int jetwatt_chip_channels(const struct jetwatt_sensor_chip *chip)
{
	return READ_ONCE(chip->channels);
}

/**
 * jetwatt_chip_range() - return the range of the shunt voltages, by the configuration as last read
 * @chip: the chip
 *
 * Context: any. Return: the range.
 */
static inline const struct jetwatt_range *jetwatt_chip_range(const struct jetwatt_sensor_chip *chip)
{
	return jetwatt_chip_ops_range(chip->ops, chip->config);
}

/**
 * jetwatt_chip_config_reg() - describe a configuration register for jetwatt_bus_read()
 * @chip: the chip
 * @n: index of the register, less than nr_configs of the chip's operations
 *
 * Return: the description.
 */
static inline struct jetwatt_reg jetwatt_chip_config_reg(const struct jetwatt_sensor_chip *chip,
							 unsigned int n)
{
	return (struct jetwatt_reg){
		.addr = chip->addr, .reg = chip->ops->aux_regs[n].reg, .bytes = 2,
	};
}

void jetwatt_chip_configured(struct jetwatt_sensor_chip *chip, unsigned int n, u16 value);
struct jetwatt_conversion jetwatt_chip_conversion(const struct jetwatt_sensor_chip *chip);
u32 jetwatt_chip_refresh_mhz(const struct jetwatt_sensor_chip *chip);
s64 jetwatt_rail_shunt_pv(const struct jetwatt_sensor_rail *rail, u64 reg);
s32 jetwatt_rail_limit_uv(const struct jetwatt_sensor_rail *rail, u64 reg);
void jetwatt_chip_failed(struct jetwatt_sensor_chip *chip, u64 now, u64 took_ns);
void jetwatt_chip_answered(struct jetwatt_sensor_chip *chip);
void jetwatt_chip_refresh_bus_hz(void);
void jetwatt_chip_update_rates(u64 now);
void jetwatt_chip_parked(void);

/* attach.c: recognise, attach and detach chips */
const struct jetwatt_chip_ops *jetwatt_chip_ops_of(const struct i2c_client *client);
unsigned int jetwatt_chip_attached(void);
bool jetwatt_chip_has(const struct i2c_client *client);
int jetwatt_chip_attach(struct i2c_client *client);
void jetwatt_chip_detach(const struct device *dev);
void jetwatt_chip_put_client(struct i2c_client *client);
void jetwatt_chip_exit(void);

#endif
