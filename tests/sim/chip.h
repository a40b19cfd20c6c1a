/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated sensor chips: their interface to bus.c (struct sim_part), the supply lines that
 * they measure, and the state of the INA3221 and the INA238.
 *
 * A chip is evaluated lazily: a read or write at time t first calculates the results of the
 * conversions that have ended by t. Callers are serialised by the adapter's lock.
 */
#ifndef SIM_CHIP_H
#define SIM_CHIP_H

#include <linux/types.h>

#include "noise.h"
#include "plant.h"

struct device_node;

#define SIM_CHANNELS	3
/* Shunt of a channel whose shunt is not in the device tree, uOhm. */
#define SIM_SHUNT_UOHM	10000

/* Registers of the INA3221 (TI SBOS576). */
enum sim_reg {
	REG_CONFIG, REG_SHUNT1, REG_BUS1, REG_SHUNT2, REG_BUS2, REG_SHUNT3, REG_BUS3,
	REG_CRIT1, REG_WARN1, REG_CRIT2, REG_WARN2, REG_CRIT3, REG_WARN3,
	REG_SUM, REG_SUM_LIMIT, REG_MASK, REG_PV_HIGH, REG_PV_LOW,
	REG_PLAIN,			/* number of registers above */
	REG_MANUFACTURER = 0xfe, REG_DIE = 0xff,
};

/**
 * struct sim_wire - the supply line that a rail label of a device tree stands for
 * @label: label of the rail
 * @rails: mask of the plant's rails that the line feeds
 * @mv: voltage of the line's source, in mV
 * @mohm: resistance from the source to the measuring point, in mOhm
 */
struct sim_wire {
	const char *label;
	u32 rails;
	u32 mv, mohm;
};

/*
 * wire.c. Return: the line of a rail label; NULL if the label is unknown.
 */
const struct sim_wire *sim_wire_find(const char *label);
/*
 * Get the voltage (mV) and current (uA) of a line at power @uw, from P = V I and the voltage drop
 * over @wire->mohm.
 */
void sim_wire_electric(const struct sim_wire *wire, u64 uw, u32 *mv, u64 *ua);
/*
 * Return: mean power in uW of a line between two energies of the plant, @ns nanoseconds apart; 0 if
 * @wire is NULL.
 */
u64 sim_wire_uw(const struct sim_wire *wire, const u64 from[SIM_RAILS], const u64 to[SIM_RAILS],
		u64 ns);

struct sim_channel {
	const struct sim_wire *wire;	/* NULL: nothing is connected */
	u32 shunt_uohm;
	s64 shunt_avg, bus_avg;		/* state of the averaging filter, 1/65536 LSB */
	s32 shunt_single;		/* last single conversion, LSB */
};

/* ina3221.c, ina3221_convert.c: an INA3221. */
struct sim_chip {
	u16 addr;
	u16 reg[REG_PLAIN];
	struct sim_channel channel[SIM_CHANNELS];
	struct sim_noise noise;
	u64 start;			/* start of the present conversion */
	u64 pj[SIM_RAILS];		/* energy at that time */
	u32 step;			/* index of the present conversion in @sequence */
	u32 steps;			/* length of @sequence; 0: powered down */
	u8 sequence[2 * SIM_CHANNELS];	/* channel * 2 + (0 shunt, 1 bus) */
	u32 step_ns[2];			/* duration of a conversion, ns: [0] shunt, [1] bus */
	bool once;			/* single-shot: stop after the last step */
};

/* Bits of REG_MASK of the INA3221. */
#define MASK_SCC(ch)	(0x4000 >> (ch))
#define MASK_CF(ch)	(0x0200 >> (ch))
#define MASK_SF		0x0040
#define MASK_WF(ch)	(0x0020 >> (ch))
#define MASK_PVF	0x0004
#define MASK_TCF	0x0002
#define MASK_CVRF	0x0001
#define MASK_WRITABLE	0x7c00
#define MASK_CLEARED	(0x03f8 | MASK_CVRF)	/* cleared by reading the register */

/* ina238.c: an INA238 (TI SLYS025) or INA228: one channel, values are means of whole cycles. */
struct sim_ina238 {
	bool wide;			/* it is an INA228: 20 bits */
	s32 shunt, bus;			/* the last means, in LSB */
	u16 reg[0x12];
	const struct sim_wire *wire;
	u32 shunt_uohm;
	struct sim_noise noise;
	u64 start;			/* start of the first cycle */
	u64 cycle;			/* number of the last cycle that was evaluated */
};

/**
 * struct sim_part - a model of chip
 * @compatible: compatible string in the device tree
 * @size: size of the state of a chip, in bytes
 * @init: initialise the state at time @t; @node is the device tree node of the chip
 * @read: read a register; @bytes gets the width of the register in bytes
 * @write: write a register of 16 bits
 */
struct sim_part {
	const char *compatible;
	size_t size;
	void (*init)(void *chip, struct device_node *node, u16 addr, u64 t, u64 seed);
	u64 (*read)(void *chip, u8 reg, u64 t, u32 *bytes);
	void (*write)(void *chip, u8 reg, u16 value, u64 t);
};

/* The models, sim_part_NAME: Kbuild finds them in the files, and defines SIM_PARTS(row). */
#define SIM_PART_DECLARE(name)	extern const struct sim_part sim_part_##name;
SIM_PARTS(SIM_PART_DECLARE)

/* parts.c: read label and shunt resistance of a chip with one channel from the device tree. */
void sim_part_wire(struct device_node *node, const struct sim_wire **wire, u32 *shunt_uohm);
/*
 * Get the mean shunt voltage (pV) and bus voltage (uV) of the @ns nanoseconds from @start, or those that
 * the module parameters set. Return: true if the module parameters set them.
 */
bool sim_part_measure(const struct sim_wire *wire, u32 shunt_uohm, u64 start, u64 ns, s64 *shunt_pv,
		      s64 *bus_uv);
/*
 * Return: the voltage @pv in units of @step (pV), rounded, unless @exact after adding noise with a
 * standard deviation of half a unit.
 */
s64 sim_part_digitise(struct sim_noise *noise, s64 pv, s64 step, bool exact);

/* ina3221_convert.c, for ina3221.c: do the conversions that have ended by @t; restart the sequence. */
void sim_chip_convert(struct sim_chip *chip, u64 t);
void sim_chip_restart(struct sim_chip *chip, u64 t);

#endif
