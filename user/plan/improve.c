// SPDX-License-Identifier: GPL-2.0-only
/*
 * Constrained expected improvement for minimum time within a power budget (see plan.h).
 */
#include "plan/search.h"

#include <math.h>

#include "plan/improvement.h"

/* If no measured mode is within the budget, and every unmeasured mode has less than this
 * probability of being within it, the query is taken as infeasible. */
#define HOPELESS	1e-3
/* Values for a prior with rows of the same workload from other devices: the constant in place of
 * JETWATT_PLAN_TIME_DOUBT, and a factor on the exponent of the probability of meeting the budget, because
 * few measurements should suffice. */
#define REFERENCE_DOUBT		0.02
#define REFERENCE_CAUTION	2.0
/* Growth of the exponent of the probability of meeting the budget, for each consecutive measurement
 * over the budget after the first: in these measurements a large predicted improvement had outweighed
 * a low probability. */
#define CAUTION		0.5

/* Return: time of a minibatch of the incumbent, in milliseconds; INFINITY if no measured mode is
 * within the budget. @drawn: lowered to the lowest mean power of a measured mode, in watts. A mode
 * whose power plus its standard error exceeds the budget does not count: its verification may fail,
 * and then the next best mode should be close. */
static double improve_incumbent(const struct jetwatt_search *s, double *drawn)
{
	double best = INFINITY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;

		if (s->seen[i] != JETWATT_MEASURED)
			continue;
		jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean);
		*drawn = fmin(*drawn, mean.power_w);
		if (mean.power_w * (1 + mean.power_sd) <= s->budget_w)
			best = fmin(best, mean.time_ms);
	}
	return best;
}

/* Return: exponent of the probability of meeting the budget, from the number of consecutive latest
 * measurements over the budget; the initial design does not count. */
static double improve_caution(const struct jetwatt_search *s)
{
	size_t over = 0;

	while (s->rows - over > s->design &&
	       s->row[s->rows - 1 - over].power_w > s->budget_w)
		over++;
	return over > 1 ? 1 + CAUTION * (over - 1) : 1;
}

int jetwatt_remeasure_best(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double sure = INFINITY, doubtful = INFINITY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;
		size_t times;

		if (s->seen[i] != JETWATT_MEASURED)
			continue;
		times = jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean);
		if (mean.power_w > s->budget_w)
			continue;
		if (jetwatt_reading_plausible(mean.power_w, times, &s->p[i], s->budget_w)) {
			sure = fmin(sure, mean.time_ms);
		} else if (mean.time_ms < doubtful) {
			doubtful = mean.time_ms;
			next->index = i;
		}
	}
	next->why = "again: implausibly low";
	return doubtful < sure ? 0 : 1;
}

int jetwatt_improve_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double best, top = -1, slow = 0, least = INFINITY, drawn = INFINITY, feasible = 0;
	double limit = log(s->budget_w * JETWATT_PLAN_MARGIN),
	       weight = improve_caution(s) * (s->cross_device ? REFERENCE_CAUTION : 1),
	       doubt = s->cross_device ? REFERENCE_DOUBT : JETWATT_PLAN_TIME_DOUBT,
	       factor = jetwatt_plan_sd_factor(s->left);
	size_t low = 0;

	best = improve_incumbent(s, &drawn);
	for (size_t i = 0; i < s->n; i++)
		slow = fmax(slow, s->p[i].time_ms);
	next->why = isfinite(best) ? "expected improvement" : "likely under budget";
	for (size_t i = 0; i < s->n; i++) {
		const struct jetwatt_prediction *p = &s->p[i];
		double ok, score;

		if (s->seen[i])
			continue;
		if (p->power_w < least) {
			least = p->power_w;
			low = i;
		}
		ok = jetwatt_normal_cdf((limit - log(p->power_w)) /
					(factor * hypot(p->power_sd, JETWATT_PLAN_POWER_DOUBT)));
		feasible = fmax(feasible, ok);
		score = pow(ok, weight) *
			jetwatt_expected_improvement(log((isfinite(best) ? best : slow) / p->time_ms),
				     factor * hypot(p->time_sd, doubt));
		if (score > top) {
			top = score;
			next->index = i;
		}
	}
	if (top < 0)
		return 1;
	if (!isfinite(best) && feasible < HOPELESS) {
		/* If the query is infeasible, measure the mode with the lowest predicted power,
		 * unless a measured mode draws as little. */
		next->index = low;
		next->why = "closest to the budget";
		return least >= drawn;
	}
	return top < JETWATT_PLAN_MIN_GAIN && s->rows >= JETWATT_PLAN_MIN_ROWS;
}
