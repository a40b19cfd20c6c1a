/* SPDX-License-Identifier: GPL-2.0-only */
/* Level of a mode, from 0 to 1: how high its knobs, except optional ones, are within the ranges of
 * all candidates. */
#ifndef JETWATT_DAEMON_MODE_SPAN_H
#define JETWATT_DAEMON_MODE_SPAN_H

#include <stddef.h>

#include "jetwatt.h"

/**
 * struct jetwattd_span - range of each knob among the candidates
 * @lowest: lowest value of each knob
 * @highest: highest value of each knob
 */
struct jetwattd_span {
	struct jetwatt_mode lowest, highest;
};

/* Compute the range of each knob among @n modes, at least one. */
void jetwattd_span_of(struct jetwattd_span *s, const struct jetwatt_mode *mode, size_t n);

/* For each knob that is not optional and has several levels, compute the position of its value in mode @m
 * within the range of the knob, from 0 to 1 on a logarithmic scale. @p: set to the positions. Return: number
 * of positions. */
int jetwattd_span_parts(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			double p[JETWATT_KNOBS]);

/* Return the level of a mode: the mean of the positions of jetwattd_span_parts(). @least: set to
 * the lowest of them. Both are 0 if there is no position. */
double jetwattd_span_level(const struct jetwattd_span *s, const struct jetwatt_mode *m,
			   double *least);

/* Return: 1 if mode @a is at least as high as @b in all knobs. */
static inline int jetwattd_dominates(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(a, k) < jetwatt_mode_get(b, k))
			return 0;
	return 1;
}

#endif
