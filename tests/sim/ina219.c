// SPDX-License-Identifier: GPL-2.0-only
/*
 * An INA219 by its data sheet (TI SBOS448G). The chip converts the shunt voltage and then the bus
 * voltage, each as a mean over the time of its own conversion. The simulation calculates both from
 * the mean power during the shunt conversion, adds noise with a standard deviation of half an LSB,
 * and then rounds the values.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/of.h>

#include "chip.h"

enum { CONFIG, SHUNT, BUS, POWER, CURRENT, CAL, REGISTERS };

#define RESET		0x8000
#define BRNG		0x2000
#define CONTINUOUS	0x0004
#define MODE_BUS	0x0002
#define MODE_SHUNT	0x0001

/* Flags in the low bits of the bus voltage register: conversion ready, and overflow. */
#define CNVR		0x0002
#define OVF		0x0001

struct ina219 {
	u16 reg[REGISTERS];
	const struct sim_wire *wire;
	u32 shunt_uohm;
	struct sim_noise noise;
	u64 start;			/* start of the first cycle */
	u64 cycle;			/* number of the last cycle that was evaluated */
};

static void reset(struct ina219 *chip, u64 t)
{
	memset(chip->reg, 0, sizeof(chip->reg));
	chip->reg[CONFIG] = 0x399f;
	chip->start = t;
	chip->cycle = 0;
}

/*
 * Set the configuration and calibration that drivers/hwmon/ina2xx.c sets (calibration_value 4096).
 */
static void init(void *state, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	struct ina219 *chip = state;

	sim_noise_seed(&chip->noise, seed);
	sim_part_wire(node, &chip->wire, &chip->shunt_uohm);
	reset(chip, t);
	chip->reg[CAL] = 4096;
}

/* Data sheet, table 5, "ADC Settings". */
static u64 conversion_ns(u32 code)
{
	static const u32 us[] = { 84, 148, 276, 532, 84, 148, 276, 532,
				  532, 1060, 2130, 4260, 8510, 17020, 34050, 68100 };

	return us[code & 15] * 1000ULL;
}

/* Section 8.5.2: current = shunt x calibration / 4096, power = current x bus / 5000. */
static void calculate(struct ina219 *chip, s32 shunt, s32 bus)
{
	s32 current_steps = shunt * chip->reg[CAL] / 4096;
	s64 power = div_s64((s64)abs(current_steps) * bus, 5000);

	chip->reg[CURRENT] = current_steps;
	chip->reg[POWER] = power;
	chip->reg[BUS] = bus << 3 | CNVR;
	if (current_steps != (s16)current_steps || power > U16_MAX)
		chip->reg[BUS] |= OVF;
}

static void convert(struct ina219 *chip, u64 t)
{
	u16 config = chip->reg[CONFIG];
	s32 most = 4000 << (config >> 11 & 3), shunt;
	u64 shunt_ns = conversion_ns(config >> 3), ns = 0, cycle, start;
	s64 shunt_pv, bus_uv, bus;
	bool exact;

	if (config & CONTINUOUS && config & MODE_SHUNT)
		ns += shunt_ns;
	if (config & CONTINUOUS && config & MODE_BUS)
		ns += conversion_ns(config >> 7);
	cycle = ns ? div64_u64(t - chip->start, ns) : 0;
	if (cycle == chip->cycle)
		return;
	chip->cycle = cycle;
	start = chip->start + (cycle - 1) * ns;
	exact = sim_part_measure(chip->wire, chip->shunt_uohm, start, shunt_ns, &shunt_pv, &bus_uv);
	shunt = clamp_t(s64, sim_part_digitise(&chip->noise, shunt_pv, 10000000, exact), -most, most);
	chip->reg[SHUNT] = shunt;
	bus = sim_part_digitise(&chip->noise, bus_uv * 1000000, 4000000000, exact);
	calculate(chip, shunt, clamp_t(s64, bus, 0, config & BRNG ? 8000 : 4000));
}

static u64 read(void *state, u8 reg, u64 t, u32 *bytes)
{
	struct ina219 *chip = state;

	*bytes = 2;
	if (reg >= REGISTERS)
		return 0;
	convert(chip, t);
	if (reg == POWER)
		chip->reg[BUS] &= ~CNVR;
	return chip->reg[reg];
}

static void write(void *state, u8 reg, u16 value, u64 t)
{
	struct ina219 *chip = state;

	convert(chip, t);
	if (reg == CONFIG && value & RESET) {
		reset(chip, t);
	} else if (reg == CONFIG) {
		chip->reg[CONFIG] = value;
		chip->reg[BUS] &= ~CNVR;
		chip->start = t;
		chip->cycle = 0;
	} else if (reg == CAL) {
		/* The lowest bit of the calibration register is always 0. */
		chip->reg[CAL] = value & ~1;
	}
}

const struct sim_part sim_part_ina219 = {
	.compatible = "ti,ina219",
	.size = sizeof(struct ina219),
	.init = init,
	.read = read,
	.write = write,
};
