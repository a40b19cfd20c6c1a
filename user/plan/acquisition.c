// SPDX-License-Identifier: GPL-2.0-only
/*
 * Constrained expected improvement (Jones, Schonlau and Welch 1998) for each kind of plan. Times
 * and powers are taken as independent of each other.
 */
#include "plan/acquisition.h"

#include <math.h>

#include "plan/improvement.h"

/* Improvement credited to the first plan with inference that meets the limits, as a share of @best
 * of struct jetwatt_incumbent. */
#define FIRST	0.05

/* Return: P(v <= limit); a measured value (@sd 0) is taken as exact. */
static double ei_below(double v, double sd, double limit)
{
	if (!(sd > 0))
		return v <= limit;
	return limit > 0 ? jetwatt_normal_cdf(log(limit / v) / sd) : 0;
}

/* Return: standard deviation @sd of an unmeasured cell, with the constant @least added in quadrature, times
 * @sd_factor of @inc; 0 for a measured cell, whose @sd is 0. */
static double ei_sd(const struct jetwatt_incumbent *inc, double sd, double least)
{
	return sd > 0 ? inc->sd_factor * hypot(sd, least) : 0;
}

static double ei_time_sd(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *g)
{
	return ei_sd(inc, g->time_sd, JETWATT_PLAN_TIME_DOUBT);
}

/* Return: probability of meeting the power budget. */
static double ei_feasible(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *g)
{
	if (!(g->power_sd > 0))
		return g->power_w <= inc->q->power_w;
	return ei_below(g->power_w, ei_sd(inc, g->power_sd, JETWATT_PLAN_POWER_DOUBT),
			JETWATT_PLAN_MARGIN * inc->q->power_w);
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
	e = jetwatt_expected_improvement(edge - time, s);
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
	double st = ei_time_sd(inc, t), sf = ei_time_sd(inc, f);
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
		e = jetwatt_expected_improvement(log(inc->best / g->time_ms), fmax(ei_time_sd(inc, g), 1e-9));
		break;
	case JETWATT_SLICE_INFER:
		e = ei_latency(inc, *window, g->time_ms, ei_time_sd(inc, g),
			       fmin(inc->q->latency_ms - *window, *window), ok);
		break;
	case JETWATT_SLICE_TRAIN_AND_INFER:
		e = ei_throughput(inc, &g[0], &g[1], window[1], ok);
		break;
	case JETWATT_SLICE_TWO_INFER:
		slow = fmax(window[0], window[1]);
		sd = hypot(g[0].time_ms * ei_time_sd(inc, &g[0]), g[1].time_ms * ei_time_sd(inc, &g[1])) /
		     (g[0].time_ms + g[1].time_ms);
		e = ei_latency(inc, slow, g[0].time_ms + g[1].time_ms, sd,
			       fmin(inc->q->latency_ms - slow, fmin(window[0], window[1])), ok);
		break;
	}
	return both * e;
}
