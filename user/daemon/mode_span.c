// SPDX-License-Identifier: GPL-2.0-only
/* Computes the level of a mode, which says how high its knobs are within their ranges. */
#include "daemon/mode_span.h"

#include <math.h>

void jetwattd_span_of(struct jetwattd_span *s, const struct jetwatt_mode *mode, size_t n)
{
	s->lowest = s->highest = mode[0];
	for (size_t i = 1; i < n; i++) {
		jetwatt_mode_raise(&s->highest, &mode[i]);
		jetwatt_mode_lower(&s->lowest, &mode[i]);
	}
}

static double position(double v, double lo, double hi)
{
	return log(v / lo) / log(hi / lo);
}

int jetwattd_span_parts(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			double p[JETWATT_KNOBS])
{
	int n = 0;

	jetwatt_each_knob(k) {
		uint64_t lo = jetwatt_mode_get(&s->lowest, k), hi = jetwatt_mode_get(&s->highest, k);

		if (!jetwatt_knob_row(k)->optional && hi > lo)
			p[n++] = position(jetwatt_mode_get(m, k), lo, hi);
	}
	return n;
}

double jetwattd_span_level(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			   double *least)
{
	double p[JETWATT_KNOBS], sum = 0;
	int n = jetwattd_span_parts(s, m, p);

	*least = n ? INFINITY : 0;
	for (int i = 0; i < n; i++) {
		*least = fmin(*least, p[i]);
		sum += p[i];
	}
	return n ? sum / n : 0;
}
