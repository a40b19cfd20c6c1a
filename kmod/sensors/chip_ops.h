/* SPDX-License-Identifier: GPL-2.0 */
/* Models of sensor chips: their registers and how to decode them. Nothing here does I/O. */
#ifndef JETWATT_CHIP_OPS_H
#define JETWATT_CHIP_OPS_H

#include <linux/types.h>
#include "sensors/chips.h"
#include "sensors/field.h"

#define JETWATT_CHANNELS_MAX	3
#define JETWATT_CONFIGS_MAX	2

/**
 * enum jetwatt_reg_kind - contents of a register
 * @JETWATT_REG_SHUNT: shunt voltage of channel n
 * @JETWATT_REG_BUS: bus voltage of channel n
 * @JETWATT_REG_SUM: sum of the shunt voltages of some channels
 * @JETWATT_REG_CONFIG: configuration register n
 * @JETWATT_REG_WARNING: warning limit of a channel's shunt voltage
 * @JETWATT_REG_CRITICAL: critical limit of a channel's shunt voltage
 */
enum jetwatt_reg_kind {
	JETWATT_REG_SHUNT,
	JETWATT_REG_BUS,
	JETWATT_REG_SUM,
	JETWATT_REG_CONFIG,
	JETWATT_REG_WARNING,
	JETWATT_REG_CRITICAL,
};

/**
 * struct jetwatt_aux_reg - an auxiliary register: a configuration or limit, read at a low rate
 * @reg: address of the register
 * @kind: enum jetwatt_reg_kind
 * @index: channel of a limit, or index of a configuration register
 */
struct jetwatt_aux_reg {
	u8 reg;
	u8 kind;
	u8 index;
};

/**
 * struct jetwatt_range - one of a chip's ranges of shunt voltages
 * @shunt: encoding of a shunt voltage
 * @limit: encoding of a limit of a shunt voltage
 * @max_raw: largest shunt voltage in this range, in LSB. A reading of at least @max_raw, or at most
 *	-@max_raw, is clipped: the true voltage may be beyond the range.
 * @offset_nv: maximum offset error of a shunt voltage according to the data sheet, in nanovolts
 */
struct jetwatt_range {
	struct jetwatt_field shunt;
	struct jetwatt_field limit;
	s32 max_raw;
	u32 offset_nv;
};

/**
 * struct jetwatt_conversion - present conversion settings of a chip
 * @channels: mask of the channels that are converted; 0 in power-down, and for a chip with one
 *	channel that does not convert both the shunt and the bus voltage
 * @refresh_us: time between two new values of a channel, in microseconds; 0 if the chip does not
 *	convert continuously (power-down, or single shot started by another driver)
 * @shunt_us: duration of one conversion of a shunt voltage, in microseconds
 * @averages: number of conversions over which a shunt voltage is averaged
 * @filter: averaging is a recursive filter, out += (new - out) / @averages, that outputs a new
 *	value after each conversion; if false, the chip outputs the mean of every @averages
 *	conversions
 */
struct jetwatt_conversion {
	u32 channels;
	u32 refresh_us;
	u32 shunt_us;
	u32 averages;
	bool filter;
};

/**
 * struct jetwatt_chip_ops - a model of chip
 * @name: name of the i2c device, and of the compatible string without "ti,"
 * @channels: number of channels
 * @shunt: registers of the shunt voltages, by channel
 * @bus: registers of the bus voltages, by channel
 * @sum: register of the sum of shunt voltages; 0 if the chip has none
 * @ranges: ranges of the shunt voltages
 * @bus_field: encoding of a bus voltage
 * @sum_field: encoding of the sum
 * @gain_ppm: maximum gain error of a shunt voltage according to the data sheet, at 25 degrees
 *	Celsius, in parts per million
 * @bus_gain_ppm: maximum gain error of a bus voltage according to the data sheet, at 25 degrees
 *	Celsius, in parts per million; 0: not in the data sheet
 * @bus_offset_uv: maximum offset error of a bus voltage according to the data sheet, in microvolts;
 *	0: not in the data sheet
 * @aux_regs: auxiliary registers; the configuration registers come first
 * @nr_configs: number of configuration registers in @aux_regs
 * @nr_aux_regs: number of entries of @aux_regs
 * @range: function that returns the index, in @ranges, of the range in use; NULL if the chip has
 *	only one range
 * @conversion: function that decodes the conversion settings of the chip
 *
 * @range and @conversion get the values of the configuration registers, in host byte order and in
 * the order of @aux_regs.
 */
struct jetwatt_chip_ops {
	const char *name;
	unsigned int channels;
	u8 shunt[JETWATT_CHANNELS_MAX];
	u8 bus[JETWATT_CHANNELS_MAX];
	u8 sum;
	const struct jetwatt_range *ranges;
	struct jetwatt_field bus_field;
	struct jetwatt_field sum_field;
	u32 gain_ppm;
	u32 bus_gain_ppm;
	u32 bus_offset_uv;
	const struct jetwatt_aux_reg *aux_regs;
	unsigned int nr_configs;
	unsigned int nr_aux_regs;
	unsigned int (*range)(const u16 *config);
	void (*conversion)(const u16 *config, struct jetwatt_conversion *conv);
};

/**
 * jetwatt_chip_ops_range() - return the range of shunt voltages in use
 * @ops: operations of the chip's model
 * @config: values of the chip's configuration registers
 *
 * Return: the range.
 */
static inline const struct jetwatt_range *jetwatt_chip_ops_range(const struct jetwatt_chip_ops *ops,
							      const u16 *config)
{
	return &ops->ranges[ops->range ? ops->range(config) : 0];
}

/**
 * jetwatt_chip_ops_bytes() - return the width of a register
 * @ops: operations of the chip's model
 * @kind: enum jetwatt_reg_kind
 *
 * Return: the width in bytes.
 */
static inline unsigned int jetwatt_chip_ops_bytes(const struct jetwatt_chip_ops *ops,
					       enum jetwatt_reg_kind kind)
{
	switch (kind) {
	case JETWATT_REG_SHUNT:
		return ops->ranges[0].shunt.bytes;
	case JETWATT_REG_BUS:
		return ops->bus_field.bytes;
	default:
		return 2;
	}
}

#define JETWATT_CHIP_DECLARE(name, driver)	extern const struct jetwatt_chip_ops jetwatt_##name;
JETWATT_CHIPS(JETWATT_CHIP_DECLARE)

#endif
