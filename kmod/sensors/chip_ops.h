/* SPDX-License-Identifier: GPL-2.0 */
/* Models of sensors: which registers there are and what their bits mean. No I/O here. */
#ifndef JETWATT_CHIP_OPS_H
#define JETWATT_CHIP_OPS_H

#include <linux/types.h>

#define JETWATT_CHANNELS_MAX	3
#define JETWATT_CONFIGS_MAX	2

/**
 * enum jetwatt_what - what a register holds
 * @JETWATT_SHUNT: shunt voltage of channel n
 * @JETWATT_BUS: bus voltage of channel n
 * @JETWATT_SUM: sum of some channels' shunt voltages
 * @JETWATT_CONFIG: n-th register that says how the chip converts
 * @JETWATT_WARNING: shunt voltage of channel n at which the chip warns
 * @JETWATT_CRITICAL: at which it calls it critical
 */
enum jetwatt_what {
	JETWATT_SHUNT,
	JETWATT_BUS,
	JETWATT_SUM,
	JETWATT_CONFIG,
	JETWATT_WARNING,
	JETWATT_CRITICAL,
};

/**
 * struct jetwatt_side - a register that is read now and then
 * @reg: the register
 * @what: enum jetwatt_what
 * @n: which of them
 */
struct jetwatt_side {
	u8 reg;
	u8 what;
	u8 n;
};

/**
 * struct jetwatt_model - a kind of chip
 * @name: as in its compatible string behind "ti,", and of its i2c device
 * @channels: how many
 * @shunt: registers of the shunt voltages
 * @bus: registers of the bus voltages
 * @sum: register of the sum of shunt voltages, 0 if it has none
 * @side: its other registers of interest; the configuration's come first
 * @nr_configs: how many those are
 * @nr_side: how many there are together
 * @enabled: which channels it converts; a mask, 0 in power-down
 * @cycle_us: how long it takes for all its channels; 0 if it does not convert
 *	by itself (power-down or single shot, where whoever triggers it decides)
 * @averages: conversions that a shunt voltage is the mean of
 * @shunt_uv: microvolts of a shunt voltage's register
 * @bus_uv: microvolts of a bus voltage's register
 * @sum_uv: microvolts of the sum's register
 * @step_nv: nanovolts of a step of the shunt voltages
 *
 * Registers are in host byte order, configurations as they stand in @side.
 */
struct jetwatt_model {
	const char *name;
	unsigned int channels;
	u8 shunt[JETWATT_CHANNELS_MAX];
	u8 bus[JETWATT_CHANNELS_MAX];
	u8 sum;
	const struct jetwatt_side *side;
	unsigned int nr_configs;
	unsigned int nr_side;
	unsigned int (*enabled)(const u16 *config);
	u32 (*cycle_us)(const u16 *config);
	unsigned int (*averages)(const u16 *config);
	s32 (*shunt_uv)(const u16 *config, u16 reg);
	s32 (*bus_uv)(u16 reg);
	s32 (*sum_uv)(u16 reg);
	u32 (*step_nv)(const u16 *config);
};

extern const struct jetwatt_model jetwatt_ina3221;
extern const struct jetwatt_model jetwatt_ina238;

#endif
