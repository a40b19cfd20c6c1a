/* SPDX-License-Identifier: GPL-2.0 */
/* The sensor chips and the rails behind them. */
#ifndef JETWATT_CHIP_H
#define JETWATT_CHIP_H

#include <linux/rtmutex.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include "sensors/bus.h"
#include "sensors/chip_ops.h"
#include "sensors/sum_channels.h"

struct device;
struct device_node;
struct i2c_client;

#define JETWATT_RAILS_MAX	(JETWATT_CHIPS_MAX * JETWATT_CHANNELS_MAX)
#define JETWATT_LABEL_LEN	48
#define JETWATT_ROW_LOST	10	/* failures in a row until a chip counts as lost */
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
 * @model: what it is
 * @node: its node in the device tree, referenced, or NULL
 * @rail: ids of its rails by channel, JETWATT_NO_RAIL if nothing is wired there
 * @client: its i2c device, referenced; NULL while there is none
 * @bus: where it is
 * @row: failures in a row
 * @side_due: when one of its side registers is to be read again (ns)
 * @turn: how often that was
 * @learn_due: when the sum is to be looked at beside the shunts again (ns)
 * @sum: what its sum of shunts is made of
 * @sum_slot: column of that sum, -1: none yet
 * @retry_due: when a lost chip is tried again (ns)
 * @mark_time: see jetwatt_chip_mark()
 * @mark_reads: see jetwatt_chip_mark()
 * @mark: see jetwatt_chip_mark()
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
 * @client to @mark belong to jetwatt_chip_lock. The rest is written under that
 * lock and may be read without it, each for itself.
 */
struct jetwatt_chip {
	u32 id;
	u32 addr;
	const struct jetwatt_model *model;
	struct device_node *node;
	u8 rail[JETWATT_CHANNELS_MAX];

	struct i2c_client *client;
	struct jetwatt_bus *bus;
	unsigned int row;
	u64 side_due;
	unsigned int turn;
	u64 learn_due;
	struct jetwatt_sum sum;
	int sum_slot;
	u64 retry_due;
	u64 mark_time[8];
	u64 mark_reads[8];
	unsigned int mark;

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

/*
 * Held by the sampler while it reads the chips, and by whoever attaches or
 * detaches one. Detaching waits for the tick under way: afterwards nobody
 * uses the client. With priority inheritance, because anybody may ask for what
 * it protects (CONFIG_GET, CHIP_GET), and the sampler must not wait until the
 * scheduler has time for him.
 */
extern struct rt_mutex jetwatt_chip_lock;

/*
 * Only appended to, under the lock; complete before the count covers them. By
 * way of the functions below, which are here because every tick calls them
 * for every register.
 */
extern struct jetwatt_chip jetwatt_chips[JETWATT_CHIPS_MAX];
extern unsigned int jetwatt_chips_nr;
extern struct jetwatt_rail jetwatt_rails[JETWATT_RAILS_MAX];
extern unsigned int jetwatt_rails_nr;

/**
 * jetwatt_chip_count() - how many chips have ever been seen
 *
 * Context: any. Return: the number; it only grows.
 */
static inline unsigned int jetwatt_chip_count(void)
{
	/* Pairs with jetwatt_chip_publish(): what the count covers is complete. */
	return smp_load_acquire(&jetwatt_chips_nr);
}

/**
 * jetwatt_chip_at() - a chip by its id
 * @i: less than a count returned before
 *
 * Return: the chip.
 */
static inline struct jetwatt_chip *jetwatt_chip_at(unsigned int i)
{
	return &jetwatt_chips[i];
}

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
	return jetwatt_model_range(chip->model, chip->config);
}

/**
 * jetwatt_chip_config_reg() - one of its configuration registers, to be read
 * @chip: the chip
 * @n: less than its model's nr_configs
 *
 * Return: what jetwatt_bus_read() takes.
 */
static inline struct jetwatt_reg jetwatt_chip_config_reg(const struct jetwatt_chip *chip,
							 unsigned int n)
{
	return (struct jetwatt_reg){
		.addr = chip->addr, .reg = chip->model->side[n].reg, .bytes = 2,
	};
}

/**
 * jetwatt_rail_count() - how many rails there are
 *
 * Context: any. Return: the number; it only grows.
 */
static inline unsigned int jetwatt_rail_count(void)
{
	/* Pairs with add(): what the count covers is complete. */
	return smp_load_acquire(&jetwatt_rails_nr);
}

/**
 * jetwatt_rail_at() - a rail by its id
 * @i: less than a count returned before
 *
 * Return: the rail.
 */
static inline struct jetwatt_rail *jetwatt_rail_at(unsigned int i)
{
	return &jetwatt_rails[i];
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
void jetwatt_chip_look(void);
void jetwatt_chip_mark(u64 now);
void jetwatt_chip_parked(void);

/* attach.c: telling sensors, taking hold of chips and letting go of them */
const struct jetwatt_model *jetwatt_chip_model(const struct i2c_client *client);
unsigned int jetwatt_chip_attached(void);
bool jetwatt_chip_has(const struct i2c_client *client);
int jetwatt_chip_attach(struct i2c_client *client);
void jetwatt_chip_detach(const struct device *dev);
void jetwatt_chip_exit(void);

#endif
