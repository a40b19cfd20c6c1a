/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expected improvement (Jones, Schonlau and Welch, Journal of Global Optimization 13, 1998, section 4.1), and
 * the constants that all searches use with it.
 */
#ifndef JETWATT_IMPROVEMENT_H
#define JETWATT_IMPROVEMENT_H

#include <math.h>

/* Predicted powers must stay below this share of the power budget, because the sensor has an error
 * too. */
#define JETWATT_PLAN_MARGIN		0.99
/* Constants added in quadrature to the standard deviations of log time and log power of an unmeasured mode:
 * response surfaces have kinks that few rows show (rounds of a loader, steps of the memory clock). */
#define JETWATT_PLAN_TIME_DOUBT		0.04
#define JETWATT_PLAN_POWER_DOUBT	0.01

/* Return: P(x <= z) for x ~ N(0, 1). */
static inline double jetwatt_normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Return: E[max(0, x)] for x ~ N(mean, sd); @sd > 0. */
static inline double jetwatt_expected_improvement(double mean, double sd)
{
	double z = mean / sd;

	return mean * jetwatt_normal_cdf(z) + sd * exp(-z * z / 2) * 0.3989422804014327;
}

/*
 * Return: the factor on the predicted standard deviations in the expected improvement of an unmeasured
 * mode, if @left modes may still be measured, this one included. Expected improvement prefers modes about
 * which little is known. That pays only if enough modes can be measured later to use what was learned.
 */
static inline double jetwatt_plan_sd_factor(size_t left)
{
	return left < 10 ? 0.4 + 0.06 * (double)left : 1;
}

#endif
