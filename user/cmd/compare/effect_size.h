/* SPDX-License-Identifier: GPL-2.0-only */
/* Has a quantity moved between two runs? Pure: arrays in, figures out. */
#ifndef JETWATT_CMD_COMPARE_EFFECT_SIZE_H
#define JETWATT_CMD_COMPARE_EFFECT_SIZE_H

#include <stddef.h>

/**
 * struct jetwatt_effect - what became of it
 * @mean: in a and in b
 * @change, @lo, @hi: relative change of the mean, and where 95 % of resamples lie
 * @delta: Cliff's: how much more often a value of b is above one of a than below
 *	it, -1..1
 * @confidence: share of resamples in which the mean has moved the same way, from
 *	0 (as many one way as the other) to 1; negative: too few values to tell
 */
struct jetwatt_effect {
	double mean[2], change, lo, hi, delta, confidence;
};

/**
 * jetwatt_effect() - compare two series of values
 * @a, @na, @b, @nb: values in order of time
 *
 * Values next to each other are alike: whole stretches of them are resampled,
 * the same way for the same numbers of values. Cliff's delta: Psychological
 * Bulletin 114 (1993), 494.
 * Return: 0; -ENOMEM.
 */
int jetwatt_effect(const double *a, size_t na, const double *b, size_t nb, struct jetwatt_effect *e);

/* "none", "small", "medium" or "large": bounds as of Romano and others (2006). */
const char *jetwatt_effect_size(const struct jetwatt_effect *e);

/* It has, and so that it matters: confidence 99 % and no less than small. */
int jetwatt_effect_moved(const struct jetwatt_effect *e);

#endif
