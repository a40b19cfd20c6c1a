/* SPDX-License-Identifier: GPL-2.0-only */
/* What a measurement of one mode has found. */
#ifndef JETWATT_MEASURE_MEASURED_H
#define JETWATT_MEASURE_MEASURED_H

#include "model/model.h"

/* Relative error of a power on which it hangs whether a mode is chosen. */
#define JETWATT_STEP_GOOD	0.006

/**
 * struct jetwatt_measure - what was found
 * @row: with relative standard errors; its mode is the caller's
 * @batches: minibatches that it rests on, @span_s: their time
 * @settle_s: from the switch until power had settled, @dwell_s: in all
 * @settled: 0: power had not settled in time, or was foretold; the errors show it
 */
struct jetwatt_measure {
	struct jetwatt_row row;
	unsigned int batches;
	double span_s, settle_s, dwell_s;
	int settled;
};

#endif
