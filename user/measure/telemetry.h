/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telemetry of a run: mean, maximum and increase of each telemetry slot (a value such as the GPU
 * load or one zone's temperature), for runs of any length.
 */
#ifndef JETWATT_MEASURE_TELEMETRY_H
#define JETWATT_MEASURE_TELEMETRY_H

#include <stdio.h>

#include "jetwatt.h"
#include "out/json.h"

/**
 * struct jetwatt_telemetry_sums - sums over the samples in which a slot had a value
 * @slot: per slot, in the unit of its row:
 *	n: number of samples in which the slot had a value; 0: the other members are undefined
 *	last: last value
 *	max: maximum
 *	counted: increase of a counter since its first value; a value below the last one means that
 *		the counter has restarted from 0
 *	sum: sum of the values
 */
struct jetwatt_telemetry_sums {
	struct {
		uint64_t n;
		int64_t last, max, counted;
		double sum;
	} slot[JETWATT_TELEMETRY_SLOTS];
};

/* Add the telemetry values of one sample to the sums. */
void jetwatt_telemetry_add(struct jetwatt_telemetry_sums *t, const struct jetwatt_telemetry *now);

/* Print a line for each telemetry slot that had a value, in base units such as W or Hz. */
void jetwatt_telemetry_print(const struct jetwatt_telemetry_sums *t, FILE *f);

/* Add the object "telemetry" with values in the units of the rows; it may be empty. */
void jetwatt_telemetry_json(const struct jetwatt_telemetry_sums *t, struct jetwatt_json *j);

#endif
