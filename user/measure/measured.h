/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of measuring one mode. */
#ifndef JETWATT_MEASURE_MEASURED_H
#define JETWATT_MEASURE_MEASURED_H

#include "model/model.h"

/* Relative standard error of power that a measurement must reach if the choice of a mode depends
 * on that power. */
#define JETWATT_POWER_ERROR_DECISIVE	0.006

/**
 * struct jetwatt_measure - measured time and power of one mode
 * @row: mean time and mean power, with relative standard errors; the caller sets the mode in it
 * @batches: number of minibatches from which the means in @row are computed
 * @span_s: duration of these minibatches, s
 * @settle_s: time from the change of mode until power had settled or was predicted, s; if neither,
 *	half of the time limit or, in a slow mode, 0
 * @dwell_s: total time in the mode, s
 * @settled: 1: power had settled; 0: its settled level was predicted, or power had not settled and
 *	is the mean since the middle of the time limit or, in a slow mode, since the change of mode
 */
struct jetwatt_measure {
	struct jetwatt_row row;
	unsigned int batches;
	double span_s, settle_s, dwell_s;
	int settled;
};

#endif
