/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has a quantity changed between two runs, and how much? Pure: arrays in, numbers out. For jetwatt
 * compare.
 */
#ifndef JETWATT_CMD_COMPARE_EFFECT_SIZE_H
#define JETWATT_CMD_COMPARE_EFFECT_SIZE_H

#include <stddef.h>

/**
 * struct jetwatt_effect - difference of a quantity between two runs a and b
 * @mean: means of a and of b
 * @change: relative change of the mean: b / a - 1
 * @lo, @hi: 95 % interval of @change
 * @delta: Cliff's delta, -1 to 1: the probability that a value of b is above one of a, minus the
 *	probability that it is below
 * @confidence: | share of resamples in which the mean rises - share in which it falls |, 0 to 1;
 *	negative: too few values
 */
struct jetwatt_effect {
	double mean[2], change, lo, hi, delta, confidence;
};

/**
 * jetwatt_effect() - compare two series of values
 * @a, @na, @b, @nb: the values in order of time, and their numbers
 * @e: the result
 *
 * Neighbouring values are correlated, so means of whole blocks are resampled. The random numbers
 * are the same in every call. Cliff's delta: Psychological Bulletin 114 (1993), 494.
 * Return: 0; -ENOMEM.
 */
int jetwatt_effect(const double *a, size_t na, const double *b, size_t nb, struct jetwatt_effect *e);

/* Return: "none", "small", "medium" or "large", by the thresholds of Romano et al. (2006) for
 * Cliff's delta. */
const char *jetwatt_effect_size(const struct jetwatt_effect *e);

/* Return: 1 if the change is significant (confidence >= 99 %) and at least "small", else 0. */
int jetwatt_effect_moved(const struct jetwatt_effect *e);

#endif
