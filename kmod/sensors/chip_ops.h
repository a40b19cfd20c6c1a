/* SPDX-License-Identifier: GPL-2.0 */
/* Models of sensors: which registers there are and what their bits mean. No I/O here. */
#ifndef JETWATT_CHIP_OPS_H
#define JETWATT_CHIP_OPS_H

#include <linux/types.h>
#include "sensors/field.h"

#define JETWATT_CHANNELS_MAX	3
#define JETWATT_CONFIGS_MAX	2

/**
 * enum jetwatt_reg_kind - what a register holds
 * @JETWATT_REG_SHUNT: shunt voltage of channel n
 * @JETWATT_REG_BUS: bus voltage of channel n
 * @JETWATT_REG_SUM: sum of some channels' shunt voltages
 * @JETWATT_REG_CONFIG: n-th register that says how the chip converts
 * @JETWATT_REG_WARNING: shunt voltage of channel n at which the chip warns
 * @JETWATT_REG_CRITICAL: at which it calls it critical
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
 * struct jetwatt_aux_reg - a register that is read now and then
 * @reg: the register
 * @kind: enum jetwatt_reg_kind
 * @index: which register of that kind
 */
struct jetwatt_aux_reg {
	u8 reg;
	u8 kind;
	u8 index;
};

/**
 * struct jetwatt_range - one of a chip's ranges of shunt voltages
 * @shunt: how shunt voltages lie in their registers
 * @limit: how limits of shunt voltages do
 * @most: largest value of @shunt in steps; one that is that large, or as far below zero, is
 *	clipped: the voltage is beyond the range
 * @offset_nv: largest offset of a shunt voltage by the data sheet, nanovolts
 */
struct jetwatt_range {
	struct jetwatt_field shunt;
	struct jetwatt_field limit;
	s32 most;
	u32 offset_nv;
};

/**
 * struct jetwatt_conversion - how a chip converts at present
 * @channels: which channels it converts; a mask, 0 in power-down
 * @refresh_us: time between two new values of a channel; 0 if the chip does not convert by
 *	itself (power-down or single shot, where whoever triggers it decides)
 * @shunt_us: length of one conversion of a shunt voltage
 * @averages: conversions that a shunt voltage is the mean of
 * @filter: that mean is a recursive filter, out += (new - out) / @averages, with a new value
 *	after each conversion; otherwise @averages conversions make one value
 */
struct jetwatt_conversion {
	u32 channels;
	u32 refresh_us;
	u32 shunt_us;
	u32 averages;
	bool filter;
};

/**
 * struct jetwatt_chip_ops - a kind of chip
 * @name: as in its compatible string behind "ti,", and of its i2c device
 * @channels: how many
 * @shunt: registers of the shunt voltages
 * @bus: registers of the bus voltages
 * @sum: register of the sum of shunt voltages, 0 if it has none
 * @ranges: its ranges of shunt voltages
 * @bus_field: how bus voltages lie in their registers
 * @sum_field: how the sum does
 * @gain_ppm: largest gain error of a shunt voltage by the data sheet, at 25 degrees
 * @bus_gain_ppm: and of a bus voltage
 * @bus_offset_uv: largest offset of a bus voltage, microvolts
 * @aux_regs: its other registers of interest; the configuration's come first
 * @nr_configs: how many those are
 * @nr_aux_regs: how many there are together
 * @range: which of @ranges is in use, NULL: there is one only
 * @conversion: how the chip converts
 *
 * Registers are in host byte order, configurations as they stand in @aux_regs.
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
	void (*conversion)(const u16 *config, struct jetwatt_conversion *is);
};

/**
 * jetwatt_chip_ops_range() - the range of shunt voltages in use
 * @ops: the kind of chip
 * @config: its configuration registers
 *
 * Return: the range.
 */
static inline const struct jetwatt_range *jetwatt_chip_ops_range(const struct jetwatt_chip_ops *ops,
							      const u16 *config)
{
	return &ops->ranges[ops->range ? ops->range(config) : 0];
}

/**
 * jetwatt_chip_ops_bytes() - width of a register
 * @ops: the kind of chip
 * @kind: enum jetwatt_reg_kind
 *
 * Return: bytes.
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

/* Each in its own file; attach.c has the table. */
extern const struct jetwatt_chip_ops jetwatt_ina3221;
extern const struct jetwatt_chip_ops jetwatt_ina238;
extern const struct jetwatt_chip_ops jetwatt_ina228;
extern const struct jetwatt_chip_ops jetwatt_ina219;

#endif
