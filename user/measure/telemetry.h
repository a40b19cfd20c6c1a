/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telemetry of a run: each slot of the table of series, of any length of run.
 */
#ifndef JETWATT_MEASURE_TELEMETRY_H
#define JETWATT_MEASURE_TELEMETRY_H

#include <stdio.h>

#include "jetwatt.h"
#include "out/json.h"

/**
 * struct jetwatt_telemetry_sums - of the samples of a run in which a slot was known
 * @n: how many these are; 0: the others mean nothing
 * @last, @max, @sum: in the unit of its row
 * @counted: by how much a counter has grown. Where it begins anew, it counts on from there
 */
struct jetwatt_telemetry_sums {
	struct {
		uint64_t n;
		int64_t last, max, counted;
		double sum;
	} slot[JETWATT_TELEMETRY_SLOTS];
};

void jetwatt_telemetry_add(struct jetwatt_telemetry_sums *t, const struct jetwatt_telemetry *now);

/* In base units, a line for each slot that was known. */
void jetwatt_telemetry_print(const struct jetwatt_telemetry_sums *t, FILE *f);

/* An object "telemetry", which is there even if nothing was known: in the rows' units. */
void jetwatt_telemetry_json(const struct jetwatt_telemetry_sums *t, struct jetwatt_json *j);

#endif
