// SPDX-License-Identifier: GPL-2.0-only
/*
 * Constrained expected improvement (Jones, Schonlau and Welch 1998) for each kind of plan. Times
 * and powers are log-normal and independent of each other.
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
/* Value of the first plan that meets the limits, as a share of the scale @best of the
 * improvement. */
#define FIRST	0.05

static double hope_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Return: P(v <= limit); a measured value (@sd 0) is taken as exact. */
static double hope_below(double v, double sd, double limit)
{
	if (!(sd > 0))
		return v <= limit;
	return limit > 0 ? hope_cdf(log(limit / v) / sd) : 0;
}

/* Return: E[max(0, z)] for z ~ N(mean, sd). */
static double hope_gain(double mean, double sd)
{
	double z = mean / sd;

	return mean * hope_cdf(z) + sd * exp(-z * z / 2) * 0.3989422804014327;
}

/* Return: standard deviation with the constant that is added for unmeasured cells; 0 stays 0, as
 * that of a measured cell. */
static double hope_sd(double sd, double least)
{
	return sd > 0 ? hypot(sd, least) : 0;
}

/* Return: probability of meeting the power budget. */
static double hope_feasible(const struct jetwatt_incumbent *goal, const struct jetwatt_estimate *g)
{
	if (!(g->power_sd > 0))
		return g->power_w <= goal->q->power_w;
	return hope_below(g->power_w, hope_sd(g->power_sd, POWER_DOUBT), MARGIN * goal->q->power_w);
}

/* Return: expected improvement of the latency @window + @time, as a share of @best, provided that
 * @time is at most @most. @ok: multiplied by the probability that it is. */
static double hope_latency(const struct jetwatt_incumbent *goal, double window, double time, double sd,
			   double most, double *ok)
{
	double edge = fmin(most, goal->best - window);
	double in = hope_below(time, sd, most), s = fmax(time * sd, 1e-9 * time), e;

	*ok *= in;
	if (edge <= 0)
		return goal->none ? FIRST * in : 0;
	e = hope_gain(edge - time, s);
	if (edge < goal->best - window)
		e += (goal->best - window - edge) * hope_below(time, sd, edge);
	return e / goal->best + (goal->none ? FIRST * in : 0);
}

/* Return: expected improvement of training throughput beside inference. The improvement is a step
 * function of the times, so it is integrated by Gauss-Hermite quadrature. @ok: as in
 * hope_latency(). */
static double hope_throughput(const struct jetwatt_incumbent *goal, const struct jetwatt_estimate *t,
			      const struct jetwatt_estimate *f, double window, double *ok)
{
	static const double at[5] = { 0, -1.355626, 1.355626, -2.856970, 2.856970 };
	static const double weight[5] = { 0.533333, 0.222076, 0.222076, 0.011257, 0.011257 };
	double most = fmin(goal->q->latency_ms - window, window), sum = 0, in;
	double st = hope_sd(t->time_sd, TIME_DOUBT), sf = hope_sd(f->time_sd, TIME_DOUBT);
	double base = goal->any ? goal->best : 0;

	in = hope_below(f->time_ms, sf, most);
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
	return sum / goal->best + (goal->none ? FIRST * in : 0);
}

double jetwatt_acquisition_of(const struct jetwatt_incumbent *goal, const struct jetwatt_estimate *g,
		       const uint32_t *size, double *ok)
{
	double window[JETWATT_KNOWN_WORKS] = { 0 }, both, slow, sd, e = 0;
	size_t works = jetwatt_slice_works(goal->kind);

	*ok = 1;
	for (size_t w = 0; w < works; w++) {
		*ok *= hope_feasible(goal, &g[w]);
		if (goal->kind != JETWATT_SLICE_TRAIN)
			window[w] = 1e3 * size[w] / goal->q->arrival_hz;
	}
	if (*ok < 1e-6)
		return 0;
	*ok = pow(*ok, goal->caution);
	both = *ok;
	switch (goal->kind) {
	case JETWATT_SLICE_TRAIN:
		e = hope_gain(log(goal->best / g->time_ms),
			      fmax(hope_sd(g->time_sd, TIME_DOUBT), 1e-9));
		break;
	case JETWATT_SLICE_INFER:
		e = hope_latency(goal, *window, g->time_ms, hope_sd(g->time_sd, TIME_DOUBT),
				 fmin(goal->q->latency_ms - *window, *window), ok);
		break;
	case JETWATT_SLICE_TRAIN_AND_INFER:
		e = hope_throughput(goal, &g[0], &g[1], window[1], ok);
		break;
	case JETWATT_SLICE_TWO_INFER:
		slow = fmax(window[0], window[1]);
		sd = hypot(g[0].time_ms * hope_sd(g[0].time_sd, TIME_DOUBT),
			   g[1].time_ms * hope_sd(g[1].time_sd, TIME_DOUBT)) /
		     (g[0].time_ms + g[1].time_ms);
		e = hope_latency(goal, slow, g[0].time_ms + g[1].time_ms, sd,
				 fmin(goal->q->latency_ms - slow, fmin(window[0], window[1])), ok);
		break;
	}
	return both * e;
}
