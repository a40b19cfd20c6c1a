// SPDX-License-Identifier: GPL-2.0-only
/*
 * An INA238. The values of the INA238 are means over the last whole cycle, which consists of all
 * conversions, repeated by the number of averages. The simulation adds noise with a standard
 * deviation of half an LSB and then rounds.
 *
 * Also an INA228 (TI SLYS021A, tables 7-3 and 8-1). An INA228 has the same registers, but its shunt
 * and bus voltages are in bits 23:4 of registers of 24 bits, with an LSB of a sixteenth of the
 * INA238's, and it has counters of energy and charge of 40 bits, which are always 0 here.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/of.h>
#include <linux/string.h>

#include "chip.h"

enum { CONFIG, ADC_CONFIG, SHUNT_CAL, VSHUNT = 4, VBUS, CURRENT = 7, POWER, ENERGY, CHARGE, DIAG, SOVL, SUVL, BOVL, BUVL,
       TEMP_LIMIT, PWR_LIMIT, MANUFACTURER = 0x3e, DEVICE };

#define RESET		0x8000
#define ADCRANGE	0x0010
#define DIAG_MEMSTAT	0x0001
#define DIAG_CNVRF	0x0002

static void restart(struct sim_ina238 *chip, u64 t)
{
	chip->start = t;
	chip->cycle = 0;
}

static void reset(struct sim_ina238 *chip, u64 t)
{
	memset(chip->reg, 0, sizeof(chip->reg));
	chip->shunt = 0;
	chip->bus = 0;
	chip->reg[ADC_CONFIG] = 0xfb68;
	chip->reg[SHUNT_CAL] = 0x1000;
	chip->reg[DIAG] = DIAG_MEMSTAT;
	chip->reg[SOVL] = 0x7fff;
	chip->reg[SUVL] = 0x8000;
	chip->reg[BOVL] = 0x7fff;
	chip->reg[TEMP_LIMIT] = 0x7ff0;
	chip->reg[PWR_LIMIT] = 0xffff;
	restart(chip, t);
}

/*
 * Configuration as drivers/hwmon/ina238.c of Linux 6.8 sets it (INA238_ADC_CONFIG_DEFAULT,
 * INA238_CALIBRATION_VALUE): 1052 us per conversion, 16 averages. The guest kernels do not have the
 * driver ina238.
 */
static void init(void *state, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	struct sim_ina238 *chip = state;

	sim_noise_seed(&chip->noise, seed);
	sim_part_wire(node, &chip->wire, &chip->shunt_uohm);
	reset(chip, t);
	chip->reg[ADC_CONFIG] = 0xfb6a;
	chip->reg[SHUNT_CAL] = 0x4000;
}

static u64 cycle_ns(const struct sim_ina238 *chip)
{
	static const u32 us[] = { 50, 84, 150, 280, 540, 1052, 2074, 4120 };
	static const u32 n[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };
	u16 adc = chip->reg[ADC_CONFIG];
	u64 sum = 0;

	if (!(adc & 0x8000))
		return 0;
	sum += adc & 0x1000 ? us[adc >> 9 & 7] : 0;
	sum += adc & 0x2000 ? us[adc >> 6 & 7] : 0;
	sum += adc & 0x4000 ? us[adc >> 3 & 7] : 0;
	return sum * n[adc & 7] * 1000;
}

static s32 digitise(struct sim_ina238 *chip, s64 pv, s64 step, bool exact)
{
	s64 most = chip->wide ? 524287 : 32767;

	if (chip->wide)
		step /= 16;
	return clamp_t(s64, sim_part_digitise(&chip->noise, pv, step, exact), -most - 1, most);
}

static void convert(struct sim_ina238 *chip, u64 t)
{
	u64 ns = cycle_ns(chip), cycle;
	s64 shunt_pv, bus_uv;
	bool exact;

	cycle = ns ? div64_u64(t - chip->start, ns) : 0;
	if (cycle == chip->cycle)
		return;
	chip->cycle = cycle;
	exact = sim_part_measure(chip->wire, chip->shunt_uohm, chip->start + (cycle - 1) * ns, ns, &shunt_pv,
				 &bus_uv);
	/* The LSB of the shunt voltage is 5 uV, or 1.25 uV in the small range. */
	chip->shunt = digitise(chip, shunt_pv, chip->reg[CONFIG] & ADCRANGE ? 1250000 : 5000000,
			       exact);
	chip->bus = digitise(chip, bus_uv * 1000000, 3125000000, exact);
	chip->reg[DIAG] |= DIAG_CNVRF;
}

static u32 width(const struct sim_ina238 *chip, u8 reg)
{
	if (chip->wide && (reg == ENERGY || reg == CHARGE))
		return 5;
	if (reg == POWER || (chip->wide && (reg == VSHUNT || reg == VBUS || reg == CURRENT)))
		return 3;
	return 2;
}

static u64 voltage(const struct sim_ina238 *chip, s32 value)
{
	return chip->wide ? (value & 0xfffff) << 4 : value & 0xffff;
}

static u64 read(void *state, u8 reg, u64 t, u32 *bytes)
{
	struct sim_ina238 *chip = state;
	u16 value;

	*bytes = width(chip, reg);
	if (reg == MANUFACTURER)
		return 0x5449;
	if (reg == DEVICE)
		return chip->wide ? 0x2281 : 0x2381;
	if (reg >= ARRAY_SIZE(chip->reg))
		return 0;
	convert(chip, t);
	if (reg == VSHUNT)
		return voltage(chip, chip->shunt);
	if (reg == VBUS)
		return voltage(chip, chip->bus);
	value = chip->reg[reg];
	if (reg == DIAG)
		chip->reg[DIAG] &= ~DIAG_CNVRF;
	return value;
}

static void write(void *state, u8 reg, u16 value, u64 t)
{
	struct sim_ina238 *chip = state;

	convert(chip, t);
	if (reg == CONFIG && value & RESET) {
		reset(chip, t);
	} else if (reg == CONFIG || reg == ADC_CONFIG) {
		chip->reg[reg] = value;
		restart(chip, t);
	} else if (reg == SHUNT_CAL || (reg >= SOVL && reg <= PWR_LIMIT)) {
		chip->reg[reg] = value;
	}
}

const struct sim_part sim_part_ina238 = {
	.compatible = "ti,ina238",
	.size = sizeof(struct sim_ina238),
	.init = init,
	.read = read,
	.write = write,
};

static void init_wide(void *state, struct device_node *node, u16 addr, u64 t, u64 seed)
{
	((struct sim_ina238 *)state)->wide = true;
	init(state, node, addr, t, seed);
}

const struct sim_part sim_part_ina228 = {
	.compatible = "ti,ina228",
	.size = sizeof(struct sim_ina238),
	.init = init_wide,
	.read = read,
	.write = write,
};
