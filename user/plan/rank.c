// SPDX-License-Identifier: GPL-2.0-only
#include "search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What measurements say of one mode. */
struct seen {
	size_t rows, over;
	double power_w;
};

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

static struct seen seen_of(const struct jetwatt_mode *mode, const struct jetwatt_row *row,
			   size_t rows, double budget)
{
	struct seen s = { 0 };

	for (size_t j = 0; j < rows; j++) {
		if (!jetwatt_same_mode(mode, &row[j].mode))
			continue;
		s.power_w = (s.power_w * s.rows + row[j].power_w) / (s.rows + 1);
		s.rows++;
		s.over += row[j].power_w > budget;
	}
	return s;
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
		struct seen s = seen_of(&mode[i], row, rows, budget_w);
		double w = s.rows ? s.power_w : p[i].power_w;

		if (w < least) {
			least = w;
			closest = i;
			closest_measured = s.rows > 0;
		}
		if (s.over || (!s.rows && p[i].power_w * exp(z * p[i].power_sd) > budget_w))
			continue;
		e[k].doubtful = s.rows && !jetwatt_answer_ok(s.power_w, s.rows, &p[i], budget_w);
		/* The fastest of many predictions is the luckiest one: an
		 * unmeasured mode must beat its own uncertainty. */
		e[k].key = log(p[i].time_ms) + (s.rows ? 0 : p[i].time_sd / 2);
		e[k].measured = s.rows > 0;
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
