/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The two parts of the join: power.c converts samples to power, join.c merges two streams in order
 * of time. Both parts are deterministic: they use only the times of the records, and no clock.
 */
#ifndef JETWATT_LIB_JOIN_H
#define JETWATT_LIB_JOIN_H

#include <stdint.h>
#include "jetwatt.h"
#include "lib/parse.h"

/**
 * struct jetwatt_power_state - the last value of each series
 * @rail: rails in the order of jetwatt_rails()
 * @nr_rails: number of rails
 * @bus_uv: last bus voltage of each rail, uV
 * @shunt_uv: last shunt voltage of each rail, uV
 * @bus_known: bit r is set if the bus voltage of rail r has been read
 * @shunt_known: bit r is set if the shunt voltage of rail r has been read
 * @skipped: number of samples that were not delivered because the voltages of a rail were
 *	not known yet; SKIP_MAX (power.c): no further sample is skipped
 * @gap: 1: samples are missing before the next sample
 * @clock: last clocks and last number of online cores
 * @temp_mc: last temperature of the hottest zone, millidegrees Celsius
 * @telemetry: last value of each telemetry slot
 * @read_ns: time at which the value of each slot was read, ns
 * @shown: @telemetry without the values that are too old at the times from @shown_ns to @until_ns
 * @changed: 1: @telemetry has changed since @shown was computed
 * @used: series of the present batch that have a value in it, each with the index of its rail, or 0
 * @nr_used: number of entries of @used
 */
struct jetwatt_power_state {
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails;
	int64_t bus_uv[JETWATT_RAILS_MAX], shunt_uv[JETWATT_RAILS_MAX];
	uint32_t bus_known, shunt_known, skipped;
	int gap;
	struct jetwatt_mode clock;
	int32_t temp_mc;
	struct jetwatt_telemetry telemetry;
	uint64_t read_ns[JETWATT_TELEMETRY_SLOTS];
	struct jetwatt_telemetry shown;
	uint64_t shown_ns, until_ns;
	int changed;
	struct {
		const struct jetwatt_series_view *series;
		int rail;
	} used[JETWATT_PARSE_SERIES];
	uint32_t nr_used;
};

/* Initialise the state with a copy of @nr rails (at most JETWATT_RAILS_MAX are used). */
void jetwatt_power_init(struct jetwatt_power_state *st, const struct jetwatt_rail *rail, int nr);

/**
 * jetwatt_power_sample() - convert a sample to power
 * @st: the state
 * @s: the batch
 * @i: index of the sample in the batch; the samples of a batch are converted in order, from 0
 * @p: receives the power
 *
 * Return: 1 if @p was filled in; 0 if an enabled rail has not been read yet, so its power is
 * unknown. After SKIP_MAX (power.c) such samples, 1 is returned all the same.
 */
int jetwatt_power_sample(struct jetwatt_power_state *st, const struct jetwatt_samples *s,
			 uint32_t i, struct jetwatt_power *p);

/* Store a reading of sysfs; it applies to samples that are converted later. */
void jetwatt_power_reading(struct jetwatt_power_state *st, const struct jetwatt_reading *r);

#endif
