/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Number of work units between the first and the last reading of a counter, with its standard error.
 * Pure: uses no clock and no descriptor.
 */
#ifndef JETWATT_MEASURE_UNIT_COUNT_H
#define JETWATT_MEASURE_UNIT_COUNT_H

#include <stdint.h>

/**
 * struct jetwatt_unit_count - a counter along a run; all 0 before the first reading
 * @readings: number of readings so far
 * @resets: number of readings that were lower than the reading before: the program has restarted
 * @first_ns, @last_ns: time of the first and of the last reading
 * @first_half_ns, @last_half_ns: half of the duration of the first and of the last reading
 * @value: last reading
 * @units: units counted between the first and the last reading
 * @exact_start: 1: the first reading is at the start of the program, when the count is 0
 * @fraction: 1: the counter has had a value that is not an integer
 * @rates, @rate, @rate_sum, @change2_sum: rates between successive readings at least half a second
 *	apart: number of these rates; the last one; their sum; sum of the squared differences of
 *	successive rates
 * @rate_ns: total time over which these rates were measured
 */
struct jetwatt_unit_count {
	unsigned int readings, resets;
	uint64_t first_ns, last_ns, first_half_ns, last_half_ns;
	double value, units;
	int exact_start, fraction;
	unsigned int rates;
	double rate, rate_sum, change2_sum;
	uint64_t rate_ns;
};

/*
 * Add a reading. @half_ns: half of the time that the reading took. If @value is lower than the
 * reading before, the counter has restarted at 0 and @value units were counted since, as in
 * Prometheus' rate(). Return: 1: the counter has restarted; 0: it has not.
 */
int jetwatt_unit_count_add(struct jetwatt_unit_count *c, uint64_t time_ns, uint64_t half_ns,
			   double value);

/* Return: estimated step of the counter: the number of units by which it increases at once; at
 * least 1 for a counter of whole numbers. */
double jetwatt_unit_count_step(const struct jetwatt_unit_count *c);

/* Return: relative standard error of the mean rate that is caused by the variation of the rate from one
 * reading to the next; NAN: too few readings, or no units. A counter that increases in large steps
 * varies more than the work of the program, so the error is then overestimated. */
double jetwatt_unit_count_variation(const struct jetwatt_unit_count *c);

/**
 * jetwatt_unit_count_sd() - compute the standard error of the number of units
 *
 * The counter may have had the value of a reading at any time while the reading took place, with
 * equal probability, so the count at each end of the interval is wrong by up to the rate times half
 * of the reading's duration. In addition, an unknown part of the units of a step may belong to the
 * time before or after the end, for example of a request whose units are all counted when it ends.
 * The standard deviation of a uniform distribution is its width divided by sqrt(12).
 *
 * Return: standard error, in units.
 */
double jetwatt_unit_count_sd(const struct jetwatt_unit_count *c);

#endif
