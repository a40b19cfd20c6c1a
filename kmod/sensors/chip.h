/* SPDX-License-Identifier: GPL-2.0 */
/* The sensor chips and the rails behind them. */
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
#define JETWATT_ERRORS_LOST	10	/* failures in a row until a chip counts as lost */
#define JETWATT_NO_RAIL		0xff
#define JETWATT_STUCK_NS	(NSEC_PER_SEC / 10)	/* a transfer that long has timed out */

#define JETWATT_OFFSET_RANGES	4

/**
 * struct jetwatt_offset - correction of a shunt voltage
 * @uv: what is taken from its magnitude, in microvolts
 * @nr: number of @range in use
 * @range: what is taken instead from voltages between @start and @end
 */
struct jetwatt_offset {
	s32 uv;
	unsigned int nr;
	struct jetwatt_offset_range {
		s32 start, end, uv;
	} range[JETWATT_OFFSET_RANGES];
};

/**
 * struct jetwatt_rail - one channel of a chip
 * @id: its number, never used for another rail
 * @chip: id of its chip
 * @channel: 0..2
 * @shunt_uohm: from the module's parameter or the device tree, 0 if neither tells it
 * @label: from the device tree, else "inN" as hwmon counts
 * @offset: correction of its shunt voltage
 * @shunt_slot: column of its shunt voltage
 * @bus_slot: column of its bus voltage
 *
 * Constant from the moment that it can be found.
 */
struct jetwatt_rail {
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
 * struct jetwatt_chip - one sensor
 * @id: its number, never used for another chip
 * @addr: 7-bit address
 * @ops: what it is
 * @node: its node in the device tree, referenced, or NULL
 * @rail: ids of its rails by channel, JETWATT_NO_RAIL if nothing is wired there
 * @client: its i2c device, referenced; NULL while there is none
 * @bus: where it is
 * @consecutive_errors: failed transfers since the last good one
 * @aux_reg_due: when one of its side registers is to be read again (ns)
 * @aux_index: number of auxiliary registers read so far
 * @learn_due: when the sum is to be looked at beside the shunts again (ns)
 * @sum: what its sum of shunts is made of
 * @sum_slot: column of that sum, -1: none yet
 * @retry_due: when a lost chip is tried again (ns)
 * @window_time: see jetwatt_chip_update_rates()
 * @window_reads: see jetwatt_chip_update_rates()
 * @windows: see jetwatt_chip_update_rates()
 * @bus_nr: number of its adapter
 * @bus_hz: clock of its bus as last known
 * @config: its configuration registers as last read
 * @channels: mask of the channels that they convert and that are wired to a rail
 * @lost: it does not answer
 * @errors: failed transfers in which it took part
 * @reads: ticks in which its shunts were read
 * @read_mhz: rate of that over the last seconds
 * @clipped: shunt voltages that were at an end of the chip's range
 *
 * A chip is never forgotten: if its client goes away the chip is lost, and
 * when it comes back it is the same chip. So pointers to chips and rails are
 * good for the life of the module, and need no counting.
 *
 * @id to @rail are constant from the moment that the chip can be found.
 * @client to @windows belong to jetwatt_board.lock. The rest is written under that
 * lock and may be read without it, each for itself.
 */
struct jetwatt_chip {
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
	u64 learn_due;
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
 * jetwatt_chip_channels() - channels that are converted and wired to a rail
 * @chip: the chip
 *
 * Context: any. Return: a mask.
 */
static inline unsigned int jetwatt_chip_channels(const struct jetwatt_chip *chip)
{
	return READ_ONCE(chip->channels);
}

/**
 * jetwatt_chip_range() - range of its shunt voltages, by its configuration as last read
 * @chip: the chip
 *
 * Context: any. Return: the range.
 */
static inline const struct jetwatt_range *jetwatt_chip_range(const struct jetwatt_chip *chip)
{
	return jetwatt_chip_ops_range(chip->ops, chip->config);
}

/**
 * jetwatt_chip_config_reg() - one of its configuration registers, to be read
 * @chip: the chip
 * @n: less than the nr_configs of its kind
 *
 * Return: what jetwatt_bus_read() takes.
 */
static inline struct jetwatt_reg jetwatt_chip_config_reg(const struct jetwatt_chip *chip,
							 unsigned int n)
{
	return (struct jetwatt_reg){
		.addr = chip->addr, .reg = chip->ops->aux_regs[n].reg, .bytes = 2,
	};
}

struct jetwatt_chip *jetwatt_chip_next(void);
void jetwatt_chip_publish(const struct jetwatt_chip *chip);
void jetwatt_chip_configured(struct jetwatt_chip *chip, unsigned int n, u16 value);
struct jetwatt_conversion jetwatt_chip_conversion(const struct jetwatt_chip *chip);
u32 jetwatt_chip_refresh_mhz(const struct jetwatt_chip *chip);
s64 jetwatt_rail_shunt_pv(const struct jetwatt_rail *rail, u64 reg);
s32 jetwatt_rail_limit_uv(const struct jetwatt_rail *rail, u64 reg);
void jetwatt_chip_failed(struct jetwatt_chip *chip, u64 now, u64 took_ns);
void jetwatt_chip_answered(struct jetwatt_chip *chip);
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
