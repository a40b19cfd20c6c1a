// SPDX-License-Identifier: GPL-2.0-only
/* What a rail's readings are worth, from what the module says of its chip. */
#include "../kmod/sensors/adc.h"
#include "energy/energy.h"

#include <math.h>


/* Samples have whole microvolts. */
#define SAMPLE_STEP_PV	1e6

/* Power of one step of the shunt's voltage in uW, 0 without a shunt's resistance. */
static double power_uw(const struct jetwatt_rail *rail, double step_pv, double bus_uv)
{
	return rail->shunt_uohm ? 1e-6 * step_pv * bus_uv / rail->shunt_uohm : 0;
}

/*
 * A module or trace of the version before does not tell how its chips convert. It can only
 * have the two models of this table; new ones do not belong here.
 */
static void complete(struct jetwatt_chip *chip, const struct jetwatt_rail *rail, double bus_uv)
{
	const struct jetwatt_adc *adc = jetwatt_adc_find(chip->model);
	double wide_uw, fine_uw;

	if (chip->averages || !adc)
		return;
	chip->shunt_us = adc->conversion_us[chip->config >> adc->shunt_ct & 7];
	chip->averages = adc->conversions[chip->config >> adc->averaging & 7];
	chip->filter = adc->filter;
	chip->step_pv = 1000 * adc->step_nv;
	/* The range is not in the register that such a module reports, but its step is. */
	wide_uw = power_uw(rail, 1e3 * adc->step_nv, bus_uv);
	fine_uw = power_uw(rail, 1e3 * adc->fine_step_nv, bus_uv);
	if (fine_uw && rail->step_uw && rail->step_uw < (wide_uw + fine_uw) / 2)
		chip->step_pv = 1000 * adc->fine_step_nv;
}

struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv)
{
	struct jetwatt_batch_sensor s = { .idle_uw = -1, .fresh_hz = rail->fresh_mhz * 1e-3 };
	double cycle_ns = chip && chip->refresh_mhz ? 1e12 / chip->refresh_mhz : 0;
	struct jetwatt_chip is;

	/* Read at any time between two refreshes. */
	s.age_ns = 0.5 * cycle_ns;
	if (!chip)
		return s;
	is = *chip;
	complete(&is, rail, bus_uv);
	if (!is.averages)
		return s;
	/* The mean over a conversion is of its middle. */
	s.age_ns += 500.0 * is.shunt_us;
	/* The filter is out += (new - out) / N at every refresh; a mean of N conversions,
	 * which all fall into one refresh, is of the middle between the first and the last. */
	if (is.filter)
		s.lag_ns = (is.averages - 1.0) * cycle_ns;
	else
		s.age_ns += 0.5 * cycle_ns * (is.averages - 1) / is.averages;
	s.quantum_uw = power_uw(rail, fmax(is.step_pv, SAMPLE_STEP_PV), bus_uv);
	return s;
}
