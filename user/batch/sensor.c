// SPDX-License-Identifier: GPL-2.0-only
/* What a rail's readings are worth, from what the module says of its chip. */
#include "batch/batch.h"

#include <string.h>

/* INA3221 data sheet (SBOS576B), table 6: one step of the shunt's voltage, the
 * times of a conversion and the averages that CONFIG names. */
#define INA3221_STEP_UV		40.0
static const double ina3221_ct_us[] = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 };
static const double ina3221_avg[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };

struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv)
{
	struct jetwatt_batch_sensor s = { .idle_uw = -1, .fresh_hz = rail->fresh_mhz * 1e-3 };
	double cycle_ns = chip && chip->refresh_mhz ? 1e12 / chip->refresh_mhz : 0;

	/* Read at any time between two refreshes. */
	s.age_ns = 0.5 * cycle_ns;
	if (!chip || strcmp(chip->model, "ina3221"))
		return s;
	/* The mean over a conversion is of its middle; averaging is the filter
	 * out += (new - out) / N at every refresh. */
	s.age_ns += 500 * ina3221_ct_us[chip->config >> 3 & 7];
	s.lag_ns = (ina3221_avg[chip->config >> 9 & 7] - 1) * cycle_ns;
	if (rail->shunt_uohm)
		s.quantum_uw = INA3221_STEP_UV * bus_uv / rail->shunt_uohm;
	return s;
}
