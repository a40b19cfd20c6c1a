// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the increases of a counter, and estimates the error of the sum. */
#include "measure/unit_count.h"

#include <math.h>

/* Rates between readings closer than this, ns, are not compared: one unit more would change such a
 * rate by too much. */
#define RATE_NS		500000000ull
/* Minimum number of rates from which the step of a counter is estimated. */
#define RATES_MIN	3

static void add_rate(struct jetwatt_unit_count *c, uint64_t ns, double units)
{
	double rate = units / (ns * 1e-9);

	if (ns < RATE_NS)
		return;
	if (c->rates)
		c->change2_sum += (rate - c->rate) * (rate - c->rate);
	c->rate = rate;
	c->rate_sum += rate;
	c->rate_ns += ns;
	c->rates++;
}

int jetwatt_unit_count_add(struct jetwatt_unit_count *c, uint64_t time_ns, uint64_t half_ns,
			   double value)
{
	int reset = c->readings && value < c->value;
	double units = reset ? value : value - c->value;

	c->fraction |= value != floor(value);
	if (c->readings++) {
		add_rate(c, time_ns - c->last_ns, units);
		c->units += units;
		c->resets += reset;
	} else {
		c->first_ns = time_ns;
		c->first_half_ns = half_ns;
	}
	c->last_ns = time_ns;
	c->last_half_ns = half_ns;
	c->value = value;
	return reset;
}

/*
 * Estimate the size s of a step, in units, from the differences between the rates of successive
 * seconds. Regular steps at most one second apart: the number of steps in a second varies by about
 * one, so the root mean square of the differences is about s; it is more if steps come at random
 * times. Rare steps, which occur in a share l of the seconds: the mean square of the differences is
 * 2 l s^2 and the mean number of units is l s, so s is the mean square divided by twice the mean.
 */
double jetwatt_unit_count_step(const struct jetwatt_unit_count *c)
{
	double least = c->fraction ? 0 : 1, s, mean, square;

	if (c->rates < RATES_MIN || c->rate_sum <= 0)
		return least;
	s = c->rate_ns * 1e-9 / c->rates;
	mean = c->rate_sum / c->rates * s;
	square = c->change2_sum / (c->rates - 1) * s * s;
	return fmax(least, fmin(fmax(sqrt(square), square / (2 * mean)), c->units));
}

double jetwatt_unit_count_variation(const struct jetwatt_unit_count *c)
{
	double mean = c->rates ? c->rate_sum / c->rates : 0;

	/* Half of the mean square of the differences is the variance of one rate. */
	return c->rates < RATES_MIN || !(mean > 0) ? NAN :
	       sqrt(c->change2_sum / (2 * (c->rates - 1)) / c->rates) / mean;
}

double jetwatt_unit_count_sd(const struct jetwatt_unit_count *c)
{
	double s = (c->last_ns - c->first_ns) * 1e-9, step = jetwatt_unit_count_step(c);
	double rate = s > 0 ? c->units / s : 0;
	double first = rate * c->first_half_ns * 1e-9, last = rate * c->last_half_ns * 1e-9;

	return sqrt((first * first + last * last) / 3 + (c->exact_start ? 1 : 2) * step * step / 12);
}
