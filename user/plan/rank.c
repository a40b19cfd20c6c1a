// SPDX-License-Identifier: GPL-2.0-only
#include "search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative error of a reading that comes without one. */
#define UNKNOWN	0.01

struct entry {
	size_t index;
	int measured, doubtful;
	double key;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->doubtful != y->doubtful)
		return x->doubtful - y->doubtful;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void weigh(double v, double sd, double *sum, double *weight)
{
	double w = sd > 0 ? 1 / (sd * sd) : 1 / (UNKNOWN * UNKNOWN);

	*sum += w * v;
	*weight += w;
}

size_t jetwatt_plan_reading(const struct jetwatt_mode *mode, const struct jetwatt_row *row,
			    size_t rows, struct jetwatt_row *mean)
{
	double t = 0, tw = 0, p = 0, pw = 0;
	size_t n = 0;

	for (size_t j = 0; j < rows; j++) {
		if (!jetwatt_same_mode(mode, &row[j].mode))
			continue;
		weigh(row[j].time_ms, row[j].time_sd, &t, &tw);
		weigh(row[j].power_w, row[j].power_sd, &p, &pw);
		n++;
	}
	if (n)
		*mean = (struct jetwatt_row){ *mode, t / tw, p / pw, sqrt(1 / tw), sqrt(1 / pw) };
	return n;
}

/* The z that a normal variable exceeds with probability risk, by bisection. */
static double quantile(double risk)
{
	double lo = -8, hi = 8;

	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (0.5 * erfc(mid * M_SQRT1_2) > risk)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int jetwatt_plan_rank(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		      const struct jetwatt_row *row, size_t rows, double budget_w, double risk,
		      struct jetwatt_plan_choice *out, int max)
{
	struct entry *e = malloc((n ? n : 1) * sizeof(*e));
	double z = quantile(risk), least = INFINITY;
	size_t k = 0, closest = 0;
	int closest_measured = 0;

	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_row mean;
		size_t times = jetwatt_plan_reading(&mode[i], row, rows, &mean);
		double w = times ? mean.power_w : p[i].power_w;

		if (w < least) {
			least = w;
			closest = i;
			closest_measured = times > 0;
		}
		if ((times ? w : w * exp(z * p[i].power_sd)) > budget_w)
			continue;
		e[k].doubtful = times && !jetwatt_answer_ok(w, times, &p[i], budget_w);
		/* The fastest of many predictions is the luckiest one: an
		 * unmeasured mode must beat its own uncertainty. */
		e[k].key = log(p[i].time_ms) + (times ? 0 : p[i].time_sd / 2);
		e[k].measured = times > 0;
		e[k++].index = i;
	}
	qsort(e, k, sizeof(*e), by_key);
	if (!k && n && max > 0)
		out[0] = (struct jetwatt_plan_choice){ closest, closest_measured, p[closest] };
	if (max < 0)
		max = 0;
	for (size_t i = 0; i < k && i < (size_t)max; i++)
		out[i] = (struct jetwatt_plan_choice){ e[i].index, e[i].measured, p[e[i].index] };
	free(e);
	return k < (size_t)max ? (int)k : max;
}
