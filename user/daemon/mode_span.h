/* SPDX-License-Identifier: GPL-2.0-only */
/* How high a mode is among the candidates, over all of its knobs. */
#ifndef JETWATT_DAEMON_MODE_SPAN_H
#define JETWATT_DAEMON_MODE_SPAN_H

#include <stddef.h>

#include "jetwatt.h"

/**
 * struct jetwattd_span - the range of each knob among the candidates
 * @lowest, @highest: step of each knob
 */
struct jetwattd_span {
	struct jetwatt_mode lowest, highest;
};

/* The range of @n >= 1 modes. */
void jetwattd_span_of(struct jetwattd_span *s, const struct jetwatt_mode *mode, size_t n);

/* Place of each knob that every mode sets in its range, from 0 to 1, on a logarithmic scale.
 * Return: number of those knobs. */
int jetwattd_span_parts(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			double p[JETWATT_KNOBS]);

/* Mean of these. @least: the lowest of them. */
double jetwattd_span_level(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			   double *least);

/* Is a mode at least as high as another one in all knobs? */
static inline int jetwattd_reaches(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(a, k) < jetwatt_mode_get(b, k))
			return 0;
	return 1;
}

#endif
