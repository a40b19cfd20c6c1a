/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decode voltages in registers and convert their units. Used by the module and, unchanged, by its
 * unit test.
 */
#ifndef JETWATT_FIELD_H
#define JETWATT_FIELD_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#define JETWATT_PV_PER_NV	1000LL
#define JETWATT_PV_PER_UV	1000000LL

/**
 * struct jetwatt_field - encoding of a voltage in a register
 * @bytes: width of the register, big endian on the bus
 * @shift: number of register bits below the lowest bit of the value
 * @bits: number of bits of the value, at most 20
 * @sign: true if the value is in two's complement
 * @lsb_pv: LSB of the value, in picovolts: the coarsest SI unit in which the LSBs of all chips are
 *	integers
 */
struct jetwatt_field {
	uint8_t bytes;
	uint8_t shift;
	uint8_t bits;
	bool sign;
	uint64_t lsb_pv;
};

/**
 * jetwatt_field_raw() - extract the value from a register
 * @field: encoding of the value
 * @reg: contents of the register, in host byte order
 *
 * Register bits above and below the value (flags, zeros) are ignored.
 *
 * Return: the value in LSB.
 */
static inline int64_t jetwatt_field_raw(const struct jetwatt_field *field, uint64_t reg)
{
	uint64_t top = 1ULL << (field->bits - 1), value;

	value = reg >> field->shift & (2 * top - 1);
	return field->sign && value & top ? (int64_t)value - (int64_t)(2 * top) : (int64_t)value;
}

/**
 * jetwatt_field_pv() - decode the voltage in a register
 * @field: encoding of the voltage
 * @reg: contents of the register, in host byte order
 *
 * The result cannot overflow: the largest voltage that a supported chip's register can contain is
 * 102.4 V (1.024e14 pV), in the registers of the bus voltage of the INA228 and the INA238.
 *
 * Return: picovolts.
 */
static inline int64_t jetwatt_field_pv(const struct jetwatt_field *field, uint64_t reg)
{
	return jetwatt_field_raw(field, reg) * (int64_t)field->lsb_pv;
}

/**
 * jetwatt_pv_to() - convert a voltage to a coarser unit
 * @pv: voltage in picovolts
 * @unit: size of the unit, in picovolts
 *
 * The voltage is rounded to the nearest multiple of @unit, so that the mean of many readings has no
 * bias. Halves are rounded away from zero, so that a current and the same current reversed give the
 * same absolute value.
 *
 * Return: the voltage in @unit.
 */
static inline int64_t jetwatt_pv_to(int64_t pv, int64_t unit)
{
	int64_t more = pv < 0 ? -unit / 2 : unit / 2;

#ifdef __KERNEL__
	return div64_s64(pv + more, unit);
#else
	return (pv + more) / unit;
#endif
}

/**
 * jetwatt_nw_of() - calculate the power from a bus and a shunt voltage
 * @bus_uv: bus voltage in microvolts, at most 128 V
 * @shunt_nv: shunt voltage in nanovolts, at most 0.33 V
 * @shunt_uohm: resistance of the shunt in micro-ohms, not 0
 *
 * The computation cannot overflow: the product of the two voltages, in uV x nV, is at most 4.3e16.
 *
 * Return: nanowatts, rounded towards zero.
 */
static inline int64_t jetwatt_nw_of(int64_t bus_uv, int64_t shunt_nv, uint32_t shunt_uohm)
{
#ifdef __KERNEL__
	return div64_s64(bus_uv * shunt_nv, shunt_uohm);
#else
	return bus_uv * shunt_nv / (int64_t)shunt_uohm;
#endif
}

#endif
