// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Pareto front of time and power, without allocating memory.
 */
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>

/* Sorts indices in the caller's array by (time, power, index) with a heap, then keeps in one sweep
 * the modes that draw less power than all faster modes. */
struct front_order {
	const double *time, *power;
};

/* Return: 1 if entry @a sorts after entry @b. */
static int front_after(const struct front_order *o, size_t a, size_t b)
{
	if (o->time[a] != o->time[b])
		return o->time[a] > o->time[b];
	if (o->power[a] != o->power[b])
		return o->power[a] > o->power[b];
	return a > b;
}

/* Restore the heap below entry @at. */
static void front_sift(const struct front_order *o, size_t *v, size_t at, size_t n)
{
	for (size_t kid; (kid = 2 * at + 1) < n; at = kid) {
		size_t t = v[at];

		if (kid + 1 < n && front_after(o, v[kid + 1], v[kid]))
			kid++;
		if (!front_after(o, v[kid], t))
			break;
		v[at] = v[kid];
		v[kid] = t;
	}
}

int jetwatt_plan_front(const double *time, const double *power, size_t n, size_t *out)
{
	struct front_order o = { time, power };
	size_t k = 0, kept = 0;
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (isfinite(time[i]) && isfinite(power[i]))
			out[k++] = i;
	for (size_t i = k / 2; i-- > 0;)
		front_sift(&o, out, i, k);
	for (size_t end = k; end > 1;) {
		size_t t = out[0];

		out[0] = out[--end];
		out[end] = t;
		front_sift(&o, out, 0, end);
	}
	for (size_t i = 0; i < k; i++)
		if (power[out[i]] < least) {
			least = power[out[i]];
			out[kept++] = out[i];
		}
	return kept;
}
