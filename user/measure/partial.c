// SPDX-License-Identifier: GPL-2.0-only
/* Time and power of the minibatch during which the mode was changed. */
#include "measure/partial.h"

#include <errno.h>
#include <math.h>

/* Minimum length of the part in the new mode. */
#define LENGTH_MIN_NS	500000000ull
/* Maximum progress of the minibatch at the change of mode. */
#define PROGRESS_MAX	0.2
/* Relative standard error of that progress, and minimum relative error of the time: a single minibatch may
 * contain a pause. */
#define PROGRESS_SD	0.3
#define TIME_SD_MIN	0.025
/* Minimum number of samples in the rest of the minibatch, and maximum fraction of that part before
 * power has settled. */
#define SAMPLES_MIN	8
#define MISSING_MAX	0.5
/* Maximum gap between samples, as a fraction of the part after power has settled. */
#define GAP_MAX		0.1

int jetwatt_partial_time(const struct jetwatt_batch_bound *b, uint64_t since_ns,
			 const struct jetwatt_measure_limits *limits, struct jetwatt_row *row)
{
	double progress;

	if (b->kind != JETWATT_BATCH_TRAIN || b->flags & JETWATT_BATCH_INFERRED || b->start_ns > since_ns ||
	    b->end_ns < since_ns + LENGTH_MIN_NS || b->start_ns < limits->before_ns || !(limits->before_ms > 0))
		return -ENODATA;
	progress = (since_ns - b->start_ns) * 1e-6 / limits->before_ms;
	if (progress > PROGRESS_MAX)
		return -ENODATA;
	row->time_ms = (b->end_ns - since_ns) * 1e-6 / (1 - progress);
	row->time_sd = hypot(TIME_SD_MIN, PROGRESS_SD * progress / (1 - progress));
	return 0;
}

int jetwatt_partial_power(const struct jetwatt_settle *s, uint64_t from_ns, uint64_t end_ns,
			  struct jetwatt_row *row)
{
	double sum = 0, squares = 0, missing, mean;
	uint64_t last_ns = from_ns, gap_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->t[i] >= from_ns && s->t[i] <= end_ns) {
			sum += s->w[i];
			squares += s->w[i] * s->w[i];
			gap_ns = s->t[i] - last_ns > gap_ns ? s->t[i] - last_ns : gap_ns;
			last_ns = s->t[i];
			n++;
		}
	gap_ns = end_ns - last_ns > gap_ns ? end_ns - last_ns : gap_ns;
	missing = from_ns > s->since_ns ? (double)(from_ns - s->since_ns) / (end_ns - s->since_ns) : 0;
	if (n < SAMPLES_MIN || missing > MISSING_MAX || gap_ns > GAP_MAX * (end_ns - from_ns))
		return -ENODATA;
	mean = sum / n;
	row->power_w = mean;
	row->power_sd = missing * sqrt(fmax(0, squares / n - mean * mean)) / mean;
	return 0;
}
