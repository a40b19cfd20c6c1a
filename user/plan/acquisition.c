// SPDX-License-Identifier: GPL-2.0-only
/*
 * Constrained expected improvement (Jones, Schonlau and Welch 1998) for each kind of plan. Times
 * and powers are taken as independent of each other.
 */
#include "plan/acquisition.h"

#include <math.h>

/* Predicted powers must stay below this share of the power budget, because the sensor has an error
 * too. */
#define MARGIN	0.99
/* Constants added in quadrature to the standard deviations of log power and log time of an
 * unmeasured cell: response surfaces have kinks that few rows show. */
#define POWER_DOUBT	0.01
#define TIME_DOUBT	0.04
/* Improvement credited to the first plan with inference that meets the limits, as a share of @best
 * of struct jetwatt_incumbent. */
#define FIRST	0.05

static double ei_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Return: P(v <= limit); a measured value (@sd 0) is taken as exact. */
static double ei_below(double v, double sd, double limit)
{
	if (!(sd > 0))
		return v <= limit;
	return limit > 0 ? ei_cdf(log(limit / v) / sd) : 0;
}

/* Return: E[max(0, z)] for z ~ N(mean, sd). */
static double ei_gain(double mean, double sd)
{
	double z = mean / sd;

	return mean * ei_cdf(z) + sd * exp(-z * z / 2) * 0.3989422804014327;
}

/* Return: standard deviation of an unmeasured cell, with the constant @least added in quadrature, times
 * @sd_factor of @inc; 0 for a measured cell, whose @sd is 0. */
static double ei_sd(const struct jetwatt_incumbent *inc, double sd, double least)
{
	return sd > 0 ? inc->sd_factor * hypot(sd, least) : 0;
}

/* Return: probability of meeting the power budget. */
static double ei_feasible(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *g)
{
	if (!(g->power_sd > 0))
		return g->power_w <= inc->q->power_w;
	return ei_below(g->power_w, ei_sd(inc, g->power_sd, POWER_DOUBT), MARGIN * inc->q->power_w);
}

/* Return: expected improvement of the latency @window + @time (@window: time until a minibatch is
 * full), as a share of @best, where a @time above @most counts as no improvement. If @none of @inc
 * is set, FIRST times the probability that @time is at most @most is added. @ok: multiplied by this
 * probability. */
static double ei_latency(const struct jetwatt_incumbent *inc, double window, double time, double sd,
			 double most, double *ok)
{
	double edge = fmin(most, inc->best - window);
	double in = ei_below(time, sd, most), s = fmax(time * sd, 1e-9 * time), e;

	*ok *= in;
	if (edge <= 0)
		return inc->none ? FIRST * in : 0;
	e = ei_gain(edge - time, s);
	if (edge < inc->best - window)
		e += (inc->best - window - edge) * ei_below(time, sd, edge);
	return e / inc->best + (inc->none ? FIRST * in : 0);
}

/* Return: expected improvement of training throughput beside inference, as a share of @best. The
 * improvement is a step function of the times, so it is integrated by Gauss-Hermite quadrature.
 * FIRST and @ok: as in ei_latency(). */
static double ei_throughput(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *t,
			    const struct jetwatt_estimate *f, double window, double *ok)
{
	static const double at[5] = { 0, -1.355626, 1.355626, -2.856970, 2.856970 };
	static const double weight[5] = { 0.533333, 0.222076, 0.222076, 0.011257, 0.011257 };
	double most = fmin(inc->q->latency_ms - window, window), sum = 0, in;
	double st = ei_sd(inc, t->time_sd, TIME_DOUBT), sf = ei_sd(inc, f->time_sd, TIME_DOUBT);
	double base = inc->any ? inc->best : 0;

	in = ei_below(f->time_ms, sf, most);
	*ok *= in;
	if (in < 1e-4)
		return 0;
	for (int j = 0; j < (sf > 0 ? 5 : 1); j++) {
		double wait = f->time_ms * exp(sf * at[j]), wj = sf > 0 ? weight[j] : 1;

		if (wait > most)
			continue;
		for (int i = 0; i < (st > 0 ? 5 : 1); i++) {
			double step = t->time_ms * exp(st * at[i]);
			double rate = 1e3 * jetwatt_slice_tau(window, wait, step) / window;

			if (rate > base)
				sum += (st > 0 ? weight[i] : 1) * wj * (rate - base);
		}
	}
	return sum / inc->best + (inc->none ? FIRST * in : 0);
}

double jetwatt_acquisition_of(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *g,
		       const uint32_t *size, double *ok)
{
	double window[JETWATT_OBSERVED_WORKS] = { 0 }, both, slow, sd, e = 0;
	size_t works = jetwatt_slice_works(inc->kind);

	*ok = 1;
	for (size_t w = 0; w < works; w++) {
		*ok *= ei_feasible(inc, &g[w]);
		if (inc->kind != JETWATT_SLICE_TRAIN)
			window[w] = 1e3 * size[w] / inc->q->arrival_hz;
	}
	if (*ok < 1e-6)
		return 0;
	*ok = pow(*ok, inc->caution);
	both = *ok;
	switch (inc->kind) {
	case JETWATT_SLICE_TRAIN:
		e = ei_gain(log(inc->best / g->time_ms),
			    fmax(ei_sd(inc, g->time_sd, TIME_DOUBT), 1e-9));
		break;
	case JETWATT_SLICE_INFER:
		e = ei_latency(inc, *window, g->time_ms, ei_sd(inc, g->time_sd, TIME_DOUBT),
			       fmin(inc->q->latency_ms - *window, *window), ok);
		break;
	case JETWATT_SLICE_TRAIN_AND_INFER:
		e = ei_throughput(inc, &g[0], &g[1], window[1], ok);
		break;
	case JETWATT_SLICE_TWO_INFER:
		slow = fmax(window[0], window[1]);
		sd = hypot(g[0].time_ms * ei_sd(inc, g[0].time_sd, TIME_DOUBT),
			   g[1].time_ms * ei_sd(inc, g[1].time_sd, TIME_DOUBT)) /
		     (g[0].time_ms + g[1].time_ms);
		e = ei_latency(inc, slow, g[0].time_ms + g[1].time_ms, sd,
			       fmin(inc->q->latency_ms - slow, fmin(window[0], window[1])), ok);
		break;
	}
	return both * e;
}
