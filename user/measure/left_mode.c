// SPDX-License-Identifier: GPL-2.0-only
/* Time of a minibatch in a mode that was left before its measurement was complete. */
#include "measure/left_mode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "measure/mode.h"
#include "minibatch/minibatch.h"

/* Minimum relative error of the time, and of that of fewer than FEW minibatches: the first ones after a
 * change of mode may be slower. */
#define TIME_SD		0.02
#define FEW		3
#define FEW_SD		0.05

int jetwatt_left_mode_time(const struct jetwatt_session *w, uint64_t since_ns, uint64_t until_ns,
			   struct jetwatt_measure *m)
{
	struct jetwatt_batch_bound *bound;
	struct jetwatt_batch_info info;
	size_t first = w->nr_sync, before;
	double sum = 0, squares = 0;
	unsigned int n = 0;
	uint32_t tgid;
	int bounds;

	while (first && w->sync[first - 1].exit_ns > since_ns)
		first--;
	before = first < JETWATT_MEASURE_WAITS_BEFORE ? first : JETWATT_MEASURE_WAITS_BEFORE;
	first -= before;
	bound = malloc((2 * (w->nr_sync - first) + 1) * sizeof(*bound));
	if (!bound)
		return -ENOMEM;
	bounds = jetwatt_batch_segment(w->sync + first, w->nr_sync - first, bound, &info);
	tgid = bounds > 0 ? jetwatt_measure_process(bound, bounds, since_ns) : 0;
	for (int i = 0; i < bounds; i++) {
		double ms = (bound[i].end_ns - bound[i].start_ns) * 1e-6;

		if (bound[i].start_ns < since_ns || bound[i].end_ns > until_ns ||
		    bound[i].kind != JETWATT_BATCH_TRAIN || bound[i].tgid != tgid ||
		    bound[i].flags & JETWATT_BATCH_INFERRED)
			continue;
		sum += ms;
		squares += ms * ms;
		n++;
	}
	free(bound);
	if (!n)
		return -ENODATA;
	m->row.time_ms = sum / n;
	m->row.time_sd = sqrt(fmax(0, squares / n - m->row.time_ms * m->row.time_ms) / n) / m->row.time_ms;
	m->row.time_sd = fmax(m->row.time_sd, n < FEW ? FEW_SD : TIME_SD);
	m->batches = n;
	m->span_s = sum * 1e-3;
	return 0;
}
