/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests whether a quantity has changed between two runs, and estimates the change. The functions
 * are pure: they read arrays and return numbers. For jetwatt compare.
 */
#ifndef JETWATT_CMD_COMPARE_EFFECT_SIZE_H
#define JETWATT_CMD_COMPARE_EFFECT_SIZE_H

#include <stddef.h>

/**
 * struct jetwatt_effect - difference of a quantity between two runs a and b
 * @mean: mean of the quantity in run a and in run b
 * @change: relative change of the mean: (b - a) / |a|; NAN: a is 0, and b is not
 * @lo, @hi: 95 % interval of @change; if @confidence is unknown, @change, or NAN for single values;
 *	NAN if @change is NAN
 * @delta: Cliff's delta, -1 to 1: the probability that a value of b is above a value of run a,
 *	minus the probability that it is below
 * @confidence: | share of resamples in which the mean rises - share of resamples in which the mean
 *	falls |, 0 to 1; negative: unknown, because a run has too few values, the mean of run a is 0, or
 *	a standard error is NAN
 *
 * For single values with standard errors, @delta is NAN, and @lo, @hi and @confidence assume normal
 * errors.
 */
struct jetwatt_effect {
	double mean[2], change, lo, hi, delta, confidence;
};

/**
 * jetwatt_effect() - compare two series of values
 * @a, @na, @b, @nb: the values in order of time, and their numbers
 * @e: the result
 *
 * Neighbouring values are correlated, so the bootstrap resamples means of whole blocks of values.
 * Every call uses the same random numbers. Cliff's delta: Psychological Bulletin 114 (1993),
 * 494.
 * Return: 0; -ENOMEM.
 */
int jetwatt_effect(const double *a, size_t na, const double *b, size_t nb, struct jetwatt_effect *e);

/* Compare two positive values @mean[0] and @mean[1] with the relative standard errors @sd. A standard error
 * of NAN is unknown, and so is @confidence then. */
void jetwatt_effect_single(const double mean[2], const double sd[2], struct jetwatt_effect *e);

/* Return: the size of the effect as "none", "small", "medium" or "large", by the thresholds
 * of Romano et al. (2006) for Cliff's delta; "-": @delta is NAN. */
const char *jetwatt_effect_size(const struct jetwatt_effect *e);

/* Return: 1 if the change is significant (confidence >= 99 %) and, unless @delta is NAN, at least
 * "small"; else 0. */
int jetwatt_effect_moved(const struct jetwatt_effect *e);

#endif
