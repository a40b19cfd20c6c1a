// SPDX-License-Identifier: GPL-2.0-only
/* What a rail's readings are worth, from what the module says of its chip. */
#include "../kmod/sensors/adc.h"
#include "energy/energy.h"

/* Power of one step of the shunt's reading in uW, 0 without a shunt's resistance. */
static double quantum_uw(const struct jetwatt_rail *rail, const struct jetwatt_adc *adc,
			 double bus_uv)
{
	double nw_per_nv = rail->shunt_uohm ? bus_uv / rail->shunt_uohm : 0;
	double wide_uw = 1e-3 * adc->step_nv * nw_per_nv, fine_uw = 1e-3 * adc->fine_step_nv * nw_per_nv;

	/* The range is not in the register that the module reports, but its step is. */
	return fine_uw && rail->step_uw && rail->step_uw < (wide_uw + fine_uw) / 2 ? fine_uw : wide_uw;
}

struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv)
{
	const struct jetwatt_adc *adc = chip ? jetwatt_adc_find(chip->model) : NULL;
	struct jetwatt_batch_sensor s = { .idle_uw = -1, .fresh_hz = rail->fresh_mhz * 1e-3 };
	double cycle_ns = chip && chip->refresh_mhz ? 1e12 / chip->refresh_mhz : 0, averages;

	/* Read at any time between two refreshes. */
	s.age_ns = 0.5 * cycle_ns;
	if (!adc)
		return s;
	/* The mean over a conversion is of its middle. */
	s.age_ns += 500.0 * adc->conversion_us[chip->config >> adc->shunt_ct & 7];
	averages = adc->conversions[chip->config >> adc->averaging & 7];
	/* The filter is out += (new - out) / N at every refresh; a mean of N conversions,
	 * which all fall into one refresh, is of the middle between the first and the last. */
	if (adc->filter)
		s.lag_ns = (averages - 1) * cycle_ns;
	else
		s.age_ns += 0.5 * cycle_ns * (averages - 1) / averages;
	s.quantum_uw = quantum_uw(rail, adc, bus_uv);
	return s;
}
