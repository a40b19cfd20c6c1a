// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranks modes for a query by measurements and predictions.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/improvement.h"

/* Relative standard error assumed for a measurement whose standard error is unknown. */
#define UNKNOWN_SD	0.01

struct rank_entry {
	size_t index;
	int measured, doubtful;
	double key;
};

/* Sort candidates: modes with implausible readings last, then by key, then by index. */
static int rank_by_key(const void *a, const void *b)
{
	const struct rank_entry *x = a, *y = b;

	if (x->doubtful != y->doubtful)
		return x->doubtful - y->doubtful;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Add a value to a mean that is weighted by inverse variances. */
static void rank_add_weighted(double v, double sd, double *sum, double *weight)
{
	double w = sd > 0 ? 1 / (sd * sd) : 1 / (UNKNOWN_SD * UNKNOWN_SD);

	*sum += w * v;
	*weight += w;
}

size_t jetwatt_plan_reading(const struct jetwatt_mode *mode, const struct jetwatt_row *row,
			    size_t rows, struct jetwatt_row *mean)
{
	double t = 0, tw = 0, p = 0, pw = 0;
	size_t n = 0;

	for (size_t j = 0; j < rows; j++) {
		if (!jetwatt_mode_same(mode, &row[j].mode))
			continue;
		rank_add_weighted(row[j].time_ms, row[j].time_sd, &t, &tw);
		rank_add_weighted(row[j].power_w, row[j].power_sd, &p, &pw);
		n++;
	}
	if (n)
		*mean = (struct jetwatt_row){ *mode, t / tw, p / pw, sqrt(1 / tw), sqrt(1 / pw), 0 };
	return n;
}

/* Computed by bisection. */
double jetwatt_plan_quantile(double risk)
{
	double lo = -8, hi = 8;

	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (jetwatt_normal_cdf(-mid) > risk)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/**
 * struct rank_known - time and power of a mode, measured or else predicted
 * @time: time of a minibatch, in milliseconds
 * @power: power, in watts
 * @time_max: upper bound of @time at the accepted risk; equal to @time if the mode is measured
 * @power_max: upper bound of @power at the accepted risk; equal to @power if the mode is measured
 * @times: number of measurements
 */
struct rank_known {
	double time, power, time_max, power_max;
	size_t times;
};

static void rank_lookup(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p,
			const struct jetwatt_row *row, size_t rows, double z, struct rank_known *k)
{
	struct jetwatt_row mean;

	k->times = jetwatt_plan_reading(mode, row, rows, &mean);
	k->time = k->time_max = k->times ? mean.time_ms : p->time_ms;
	k->power = k->power_max = k->times ? mean.power_w : p->power_w;
	if (!k->times) {
		k->time_max *= exp(z * p->time_sd);
		k->power_max *= exp(z * p->power_sd);
	}
}

/* Return: log of the quantity to minimise. The best of many predictions is likely too optimistic,
 * so half a standard deviation is added to the prediction of an unmeasured mode. */
static double rank_key(const struct rank_known *k, const struct jetwatt_prediction *p,
		       const struct jetwatt_plan_objective *q)
{
	double v = 0, var = 0;

	if (q->minimise != JETWATT_MIN_POWER) {
		v += log(k->time);
		var += p->time_sd * p->time_sd;
	}
	if (q->minimise != JETWATT_MIN_TIME) {
		v += log(k->power);
		var += p->power_sd * p->power_sd;
	}
	return k->times ? v : v + sqrt(var) / 2;
}

/* Return: logarithm of the ratio of a mode's value to its limit, for the limit that is exceeded
 * most. */
static double rank_excess(const struct rank_known *k, const struct jetwatt_plan_objective *q)
{
	double power = q->power_w > 0 ? log(k->power / q->power_w) : -INFINITY;
	double time = q->time_ms > 0 ? log(k->time / q->time_ms) : -INFINITY;

	return fmax(power, time);
}

/* Return: the quantile for @q's risk; with two limits each gets half of the risk. */
static double rank_quantile(const struct jetwatt_plan_objective *q)
{
	return jetwatt_plan_quantile(q->power_w > 0 && q->time_ms > 0 ? q->risk / 2 : q->risk);
}

int jetwatt_plan_candidates(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		     const struct jetwatt_row *row, size_t rows,
		     const struct jetwatt_plan_objective *q, struct jetwatt_plan_choice *out,
		     int max)
{
	struct rank_entry *e = malloc((n ? n : 1) * sizeof(*e));
	double z = rank_quantile(q), least = INFINITY;
	size_t k = 0, closest = 0;
	int closest_measured = 0;

	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct rank_known v;

		rank_lookup(&mode[i], &p[i], row, rows, z, &v);
		if (rank_excess(&v, q) < least) {
			least = rank_excess(&v, q);
			closest = i;
			closest_measured = v.times > 0;
		}
		if ((q->power_w > 0 && v.power_max > q->power_w) ||
		    (q->time_ms > 0 && v.time_max > q->time_ms))
			continue;
		e[k].doubtful = v.times && q->power_w > 0 &&
				!jetwatt_reading_plausible(v.power, v.times, &p[i], q->power_w);
		e[k].key = rank_key(&v, &p[i], q);
		e[k].measured = v.times > 0;
		e[k++].index = i;
	}
	qsort(e, k, sizeof(*e), rank_by_key);
	if (!k && n && max > 0)
		out[0] = (struct jetwatt_plan_choice){ closest, closest_measured, p[closest] };
	if (max < 0)
		max = 0;
	for (size_t i = 0; i < k && i < (size_t)max; i++)
		out[i] = (struct jetwatt_plan_choice){ e[i].index, e[i].measured, p[e[i].index] };
	free(e);
	return k < (size_t)max ? (int)k : max;
}

int jetwatt_plan_rank(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		      const struct jetwatt_row *row, size_t rows, double budget_w, double risk,
		      struct jetwatt_plan_choice *out, int max)
{
	const struct jetwatt_plan_objective q = { JETWATT_MIN_TIME, budget_w, 0, risk };

	return jetwatt_plan_candidates(mode, p, n, row, rows, &q, out, max);
}

void jetwatt_plan_required_limits(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p,
		       size_t n, const struct jetwatt_row *row, size_t rows,
		       const struct jetwatt_plan_objective *q, double *power_w, double *time_ms)
{
	double z = rank_quantile(q);

	*power_w = *time_ms = INFINITY;
	for (size_t i = 0; i < n; i++) {
		struct rank_known v;

		rank_lookup(&mode[i], &p[i], row, rows, z, &v);
		if (!(q->time_ms > 0 && v.time_max > q->time_ms))
			*power_w = fmin(*power_w, v.power_max);
		if (!(q->power_w > 0 && v.power_max > q->power_w))
			*time_ms = fmin(*time_ms, v.time_max);
	}
}
