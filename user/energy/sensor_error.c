// SPDX-License-Identifier: GPL-2.0-only
/* Accuracy of a rail's readings, from the kernel module's description of its chip. */
#include "../kmod/sensors/adc.h"
#include "energy/energy.h"

#include <math.h>


/* The kernel module reports shunt voltages in whole microvolts. */
#define SAMPLE_STEP_PV	1e6

/* Power of one LSB of the shunt voltage, uW; 0: the shunt's resistance is unknown. */
static double lsb_power_uw(const struct jetwatt_rail *rail, double step_pv, double bus_uv)
{
	return rail->shunt_uohm ? 1e-6 * step_pv * bus_uv / rail->shunt_uohm : 0;
}

/*
 * Older kernel modules, and traces recorded with them, do not describe how a chip converts. Older
 * modules support only the two chips of the table in jetwatt_adc_find(), so do not add new chips to
 * that table.
 */
static void complete_chip(struct jetwatt_chip *chip, const struct jetwatt_rail *rail, double bus_uv)
{
	const struct jetwatt_adc *adc = jetwatt_adc_find(chip->model);
	double wide_uw, fine_uw;

	if (chip->averages || !adc)
		return;
	chip->shunt_us = adc->conversion_us[chip->config >> adc->shunt_ct & 7];
	chip->averages = adc->conversions[chip->config >> adc->averaging & 7];
	chip->filter = adc->filter;
	chip->step_pv = 1000 * adc->lsb_nv;
	/* A kernel module that does not describe the conversion does not report the range of
	 * the ADC either. Infer the range from the power of one LSB, which the module reports. */
	wide_uw = lsb_power_uw(rail, 1e3 * adc->lsb_nv, bus_uv);
	fine_uw = lsb_power_uw(rail, 1e3 * adc->fine_lsb_nv, bus_uv);
	if (fine_uw && rail->step_uw && rail->step_uw < (wide_uw + fine_uw) / 2)
		chip->step_pv = 1000 * adc->fine_lsb_nv;
}

double jetwatt_batch_filter_ns(const struct jetwatt_chip *chip)
{
	return chip->filter && chip->averages && chip->refresh_mhz ?
	       (chip->averages - 1.0) * 1e12 / chip->refresh_mhz : 0;
}

struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv)
{
	struct jetwatt_batch_sensor s = { .idle_uw = -1, .fresh_hz = rail->fresh_mhz * 1e-3 };
	double cycle_ns = chip && chip->refresh_mhz ? 1e12 / chip->refresh_mhz : 0;
	struct jetwatt_chip is;

	/* A sensor value is read at a random time between two refreshes of the chip, so its mean
	 * age is half the interval between refreshes. */
	s.age_ns = 0.5 * cycle_ns;
	if (!chip)
		return s;
	/* The rail's @fresh_mhz includes the rate of the reads, which the kernel module measures: it is 0
	 * or that of before when a run begins. The times of the readings show it better. */
	if (chip->refresh_mhz)
		s.fresh_hz = chip->refresh_mhz * 1e-3;
	is = *chip;
	complete_chip(&is, rail, bus_uv);
	if (!is.averages)
		return s;
	/* A conversion returns the mean over its duration, which is taken as the value at its
	 * middle. */
	s.age_ns += 500.0 * is.shunt_us;
	/* The chip's averaging filter is out += (new - out) / N at every refresh. A block
	 * average of N conversions, all within one refresh interval, is taken as the value at
	 * the middle between the first and the last conversion. */
	s.lag_ns = jetwatt_batch_filter_ns(&is);
	if (!is.filter)
		s.age_ns += 0.5 * cycle_ns * (is.averages - 1) / is.averages;
	s.quantum_uw = lsb_power_uw(rail, fmax(is.step_pv, SAMPLE_STEP_PV), bus_uv);
	return s;
}
