// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mean uncertainty of predictions, over all modes or near a budget.
 */
#include "plan/plan.h"

#include <math.h>

/* Half width of a 95 % interval, in standard deviations. */
#define Z95	1.96
/* A mode could be the answer if its power is below NEAR_POWER times the budget and its time is
 * below NEAR_TIME times the predicted shortest time within the budget. */
#define NEAR_POWER	1.1
#define NEAR_TIME	1.2

double jetwatt_plan_uncertainty(const struct jetwatt_prediction *p, size_t n, double budget_w)
{
	double best = INFINITY, sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i].power_w <= budget_w)
			best = fmin(best, p[i].time_ms);
	for (size_t i = 0; i < n; i++) {
		if (isfinite(best) && (p[i].power_w > NEAR_POWER * budget_w ||
				       p[i].time_ms > NEAR_TIME * best))
			continue;
		sum += fmax(p[i].time_sd, p[i].power_sd);
		k++;
	}
	return k ? Z95 * sum / k : 0;
}
