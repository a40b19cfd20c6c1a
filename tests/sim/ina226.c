// SPDX-License-Identifier: GPL-2.0-only
/*
 * An INA226 by its data sheet (TI SBOS547). The chip converts the shunt voltage and the bus voltage
 * in turn, as often as it averages, and then sets the registers to the means. The simulation
 * calculates both from the mean power over the whole cycle, adds noise with a standard deviation of
 * half an LSB, and then rounds the values. Alerts are not simulated.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/of.h>

#include "chip.h"

enum { CONFIG, SHUNT, BUS, POWER, CURRENT, CAL, MASK, LIMIT, REGISTERS,
       MANUFACTURER = 0xfe, DIE = 0xff };

#define RESET		0x8000
#define CONTINUOUS	0x0004
#define MODE_BUS	0x0002
#define MODE_SHUNT	0x0001

/* Flags of the mask/enable register: conversion ready, overflow; the bits that can be written. */
#define CVRF		0x0008
#define OVF		0x0004
#define WRITABLE	0xfc03

struct ina226 {
	u16 reg[REGISTERS];
	const struct sim_wire *wire;
	u32 shunt_uohm;
	struct sim_noise noise;
	u64 start;			/* start of the first cycle */
	u64 cycle;			/* number of the last cycle that was evaluated */
};

static void reset(struct ina226 *chip, u64 t)
{
	memset(chip->reg, 0, sizeof(chip->reg));
	chip->reg[CONFIG] = 0x4127;
	chip->start = t;
	chip->cycle = 0;
}

/*
 * Set the configuration that drivers/hwmon/ina2xx.c of mainline, commit 001e2e730ce4, sets
 * (INA226_CONFIG_DEFAULT), and the calibration for a current in LSBs of the shunt voltage.
 */
static void init(void *state, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	struct ina226 *chip = state;

	sim_noise_seed(&chip->noise, seed);
	sim_part_wire(node, &chip->wire, &chip->shunt_uohm);
	reset(chip, t);
	chip->reg[CONFIG] = 0x4527;
	chip->reg[CAL] = 2048;
}

/* Data sheet, tables 7 and 8, "VBUSCT Bit Settings" and "VSHCT Bit Settings". */
static u64 conversion_ns(u32 code)
{
	static const u32 us[] = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 };

	return us[code & 7] * 1000ULL;
}

/* Return: duration of a cycle; 0 if the chip does not convert continuously. */
static u64 cycle_ns(u16 config)
{
	/* Table 6, "AVG Bit Settings". */
	static const u32 averages[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };
	u64 ns = 0;

	if (config & CONTINUOUS && config & MODE_SHUNT)
		ns += conversion_ns(config >> 3);
	if (config & CONTINUOUS && config & MODE_BUS)
		ns += conversion_ns(config >> 6);
	return ns * averages[config >> 9 & 7];
}

/* Section 7.5: current = shunt x calibration / 2048, power = current x bus / 20000. */
static void calculate(struct ina226 *chip, s32 shunt, s32 bus)
{
	s32 current_steps = div_s64((s64)shunt * chip->reg[CAL], 2048);
	s64 power = div_s64((s64)abs(current_steps) * bus, 20000);

	chip->reg[BUS] = bus;
	chip->reg[CURRENT] = current_steps;
	chip->reg[POWER] = power;
	chip->reg[MASK] = (chip->reg[MASK] & WRITABLE) | CVRF;
	if (current_steps != (s16)current_steps || power > U16_MAX)
		chip->reg[MASK] |= OVF;
}

static void convert(struct ina226 *chip, u64 t)
{
	u64 ns = cycle_ns(chip->reg[CONFIG]), cycle, start;
	s64 shunt_pv, bus_uv, bus;
	s32 shunt;
	bool exact;

	cycle = ns ? div64_u64(t - chip->start, ns) : 0;
	if (cycle == chip->cycle)
		return;
	chip->cycle = cycle;
	start = chip->start + (cycle - 1) * ns;
	exact = sim_part_measure(chip->wire, chip->shunt_uohm, start, ns, &shunt_pv, &bus_uv);
	shunt = clamp_t(s64, sim_part_digitise(&chip->noise, shunt_pv, 2500000, exact), S16_MIN, S16_MAX);
	chip->reg[SHUNT] = shunt;
	bus = sim_part_digitise(&chip->noise, bus_uv * 1000000, 1250000000, exact);
	calculate(chip, shunt, clamp_t(s64, bus, 0, S16_MAX));
}

static u64 read(void *state, u8 reg, u64 t, u32 *bytes)
{
	struct ina226 *chip = state;
	u16 value;

	*bytes = 2;
	if (reg == MANUFACTURER)
		return 0x5449;
	if (reg == DIE)
		return 0x2260;
	if (reg >= REGISTERS)
		return 0;
	convert(chip, t);
	value = chip->reg[reg];
	if (reg == MASK)
		chip->reg[MASK] &= ~CVRF;
	return value;
}

static void write(void *state, u8 reg, u16 value, u64 t)
{
	struct ina226 *chip = state;

	convert(chip, t);
	if (reg == CONFIG && value & RESET) {
		reset(chip, t);
	} else if (reg == CONFIG) {
		chip->reg[CONFIG] = value;
		/* Only a configuration that starts a conversion clears the flag. */
		if (value & (MODE_BUS | MODE_SHUNT))
			chip->reg[MASK] &= ~CVRF;
		chip->start = t;
		chip->cycle = 0;
	} else if (reg == CAL) {
		/* The highest bit of the calibration register is always 0. */
		chip->reg[CAL] = value & 0x7fff;
	} else if (reg == MASK) {
		chip->reg[MASK] = (chip->reg[MASK] & ~WRITABLE) | (value & WRITABLE);
	} else if (reg == LIMIT) {
		chip->reg[LIMIT] = value;
	}
}

const struct sim_part sim_part_ina226 = {
	.compatible = "ti,ina226",
	.size = sizeof(struct ina226),
	.init = init,
	.read = read,
	.write = write,
};
